package fleet_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
)

// The fleet of the benchmarks: 50,000 volumes of which 5,000 are gp2, 2,000 instances, a cluster with 10,000 claims, and
// 14 days of metrics by 5 minutes.
const (
	manyVolumes = 50_000
	manyGP2     = 5_000
	manyClaims  = 10_000
	fortnight   = 14 * 24 * 12
)

func large() fleet.Snapshot {
	s := inSeoul(fortnight)
	r := &s.Regions[0]
	r.Instances = nil
	for i := range 2_000 {
		r.Instances = append(r.Instances, fleet.Instance{ID: fleet.InstanceID(fmt.Sprintf("i-%017x", i)), Type: "m5.xlarge", State: "running"})
	}
	c := east()
	for i := range manyVolumes {
		id := fleet.VolumeID(fmt.Sprintf("vol-%017x", i))
		v := gp3(id, 100, 3000, 125)
		if i < manyGP2 {
			v = gp2(id, int64(20+i%900))
		}
		v.Attachments = []fleet.Attachment{{Instance: r.Instances[i%2_000].ID, State: "attached"}}
		v.Tags = map[string]string{"Name": string(id), "team": "shop", "kubernetes.io/created-for/pvc/namespace": "prod"}
		r.Volumes = append(r.Volumes, v)
		if i < manyClaims {
			name := fmt.Sprintf("data-db-%d", i)
			claimed(&c, "prod", name, csi(id))
			c.Pods = append(c.Pods, fleet.Pod{UID: fleet.UID("pod-" + name), Namespace: "prod", Name: "db-" + name, Node: "node-1", Claims: []string{name}})
		}
	}
	s.Clusters = []fleet.Cluster{c}
	return s
}

// busy fills metrics with random figures, which pack worse than real ones.
func busy(m *fleet.Metrics, random *rand.Rand) {
	if m.ReadOps == nil {
		for _, s := range []*fleet.Series{&m.ReadOps, &m.WriteOps, &m.ReadBytes, &m.WriteBytes, &m.BurstBalance} {
			*s = fleet.NewSeries(fortnight)
		}
	}
	for i := range fortnight {
		m.ReadOps[i], m.WriteOps[i] = float64(random.IntN(200_000)), float64(random.IntN(200_000))
		m.ReadBytes[i], m.WriteBytes[i] = m.ReadOps[i]*4096, m.WriteOps[i]*16384
		m.BurstBalance[i] = float64(random.IntN(10_000)) / 100
	}
}

func BenchmarkScan(b *testing.B) {
	s := large()
	random := rand.New(rand.NewPCG(1, 2))
	var m fleet.Metrics
	busy(&m, random)
	for b.Loop() {
		began := time.Now()
		inventory := fleet.Join(s)
		joined := time.Now()
		scan := fleet.NewScan(inventory, fleet.Options{Catalog: ebs.Embedded()})
		for i := range manyGP2 {
			m.Volume = s.Regions[0].Volumes[i].ID
			scan.Add(m)
		}
		observed := time.Now()
		d := scan.Document(nil)
		described := time.Now()
		d.Select(fleet.Filter{Types: []ebs.Type{ebs.GP2}}, fleet.BySaving)
		if d.Totals.Volumes != manyVolumes {
			b.Fatal(d.Totals)
		}
		b.ReportMetric(joined.Sub(began).Seconds(), "join-s")
		b.ReportMetric(observed.Sub(joined).Seconds(), "observe-s")
		b.ReportMetric(described.Sub(observed).Seconds(), "describe-s")
	}
	heap(b)
}

// heap reports what is in use at the end.
func heap(b *testing.B) {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	b.ReportMetric(float64(stats.HeapInuse)/(1<<20), "heap-MiB")
	b.ReportMetric(float64(stats.Sys)/(1<<20), "sys-MiB")
}

func BenchmarkSave(b *testing.B) {
	s := large()
	random := rand.New(rand.NewPCG(1, 2))
	var m fleet.Metrics
	for b.Loop() {
		n := &counter{}
		w, err := fleet.NewWriter(n, s)
		if err != nil {
			b.Fatal(err)
		}
		for i := range manyGP2 {
			busy(&m, random)
			m.Volume = s.Regions[0].Volumes[i].ID
			if err := w.Metrics(m); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Close(nil); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(n.bytes)/(1<<20), "MiB")
	}
	heap(b)
}

type counter struct{ bytes int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.bytes += int64(len(p))
	return len(p), nil
}

// BenchmarkLoad reads a tenth of the metrics, over and over.
func BenchmarkLoad(b *testing.B) {
	s := large()
	random := rand.New(rand.NewPCG(1, 2))
	metrics := make([]fleet.Metrics, manyGP2/10)
	for i := range metrics {
		busy(&metrics[i], random)
		metrics[i].Volume = s.Regions[0].Volumes[i].ID
	}
	file := save(b, s, metrics)
	metrics = nil
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		r, err := fleet.Open(io.Reader(bytes.NewReader(file)))
		if err != nil {
			b.Fatal(err)
		}
		scan := fleet.NewScan(fleet.Join(r.Snapshot()), fleet.Options{Catalog: ebs.Embedded()})
		if err := r.Metrics(func(m fleet.Metrics) error { scan.Add(m); return nil }); err != nil {
			b.Fatal(err)
		}
		if d := scan.Document(nil); d.Totals.Volumes != manyVolumes {
			b.Fatal(d.Totals)
		}
	}
	heap(b)
}

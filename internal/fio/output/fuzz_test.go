package output_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ebscope/internal/fio/output"
)

func FuzzJSON(f *testing.F) {
	for _, seed := range []string{reads, "fio: x\n" + reads + "y", reads[:300], `{"jobs":[{}]}`, `{"client_stats":[{"jobname":"All clients"}]}`,
		`{"jobs":[{"read":{"total_ios":1,"iops":1e308,"lat_ns":{"percentile":{"50":1},"bins":{"1":1}}}}]}`, `{"`, ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		document, err := output.ReadDocument("fio.json", strings.NewReader(text))
		if err != nil {
			return
		}
		_ = document.Err()
		m, err := document.Measurement()
		if err != nil {
			return
		}
		l := m.Total.Latency
		for i := 1; i < len(l.Bins); i++ {
			if l.Bins[i].At <= l.Bins[i-1].At {
				t.Errorf("bins are not in ascending order: %v", l.Bins)
			}
		}
		if m.Total.IOs < 0 || l.Mean < 0 || l.Min < 0 {
			t.Errorf("a negative figure: %+v", m.Total)
		}
	})
}

func FuzzLog(f *testing.F) {
	for _, seed := range []string{"1000, 300, 0, 0, 0\n1000, 100, 1, 0, 0\n", "1000, 300, 0, 0\n4000, 1, 0, 0\n1000, 1, 0, 0\n",
		"144, 3020, 0, 0, 0\n245, 3010, 0, 0, 0\n", "0, 0, 0, 0\n0, 0, 0, 0", "1,2", ""} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, rates, latencies string) {
		dir := t.TempDir()
		for name, text := range map[string]string{"fio.json": reads, "phase_iops.log": rates, "phase_lat.log": latencies} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		m, err := output.ReadPhase(dir)
		if err != nil {
			return
		}
		for i := 1; i < len(m.IOPS); i++ {
			if m.IOPS[i].End <= m.IOPS[i-1].End {
				t.Errorf("the series goes back in time: %v", m.IOPS)
			}
		}
		for _, p := range m.IOPS {
			if !(p.Value >= 0) {
				t.Errorf("rate %v at %v", p.Value, p.End)
			}
		}
	})
}

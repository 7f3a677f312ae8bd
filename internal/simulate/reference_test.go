package simulate_test

import (
	"cmp"
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/result"
	"ebscope/internal/simulate"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// reference is the simulation as a textbook would write it: a heap of events, one for each place of an I/O, every
// completion kept, and the figures taken from the sorted list. It knows plain volumes only.
func reference(t testing.TB, profile workload.Profile, compress float64) [][]completion {
	t.Helper()
	catalog := ebs.Embedded()
	var instance *model.Instance
	if profile.Instance != "" {
		limits, err := catalog.Instance(profile.Instance)
		if err != nil {
			t.Fatal(err)
		}
		instance = model.NewInstance(limits, compress)
	}
	volumes := map[string]*model.Volume{}
	for _, v := range profile.Volumes {
		volumes[v.Name] = model.NewVolume(catalog.Performance(v.Config), compress, instance)
		volumes[v.Name].SetCredits(0, v.Balance)
	}
	profile = profile.Compressed(compress)
	random := rand.New(rand.NewPCG(1, 2))
	var clock time.Duration
	var all [][]completion
	for i, p := range profile.Phases {
		if i > 0 {
			clock += profile.Gap
		}
		clock += p.Rest
		v, _ := profile.Volume(p.Volume)
		start, end, deadline := clock, clock+p.Duration, clock+p.Duration
		left := int64(math.MaxInt64)
		if p.Duration == 0 {
			left, deadline = int64((profile.FileSize+p.BlockSize-1)/p.BlockSize), math.MaxInt64
		}
		events := &events{}
		for range p.Outstanding() {
			heap.Push(events, start)
		}
		var done []completion
		for events.Len() > 0 {
			at := heap.Pop(events).(time.Duration)
			if p.RateIOPS > 0 {
				at = max(at, start+time.Duration(float64(len(done))*1e9/float64(p.RateIOPS)))
			}
			if left == 0 || at >= deadline {
				continue
			}
			left--
			admit := volumes[p.Volume].Admit
			if !p.Pattern.Random() {
				admit = volumes[p.Volume].AdmitSequential
			}
			read := !p.Pattern.Mixed() || random.IntN(100) < p.ReadPercent // first: a write may take another time than a read
			service := v.Service().Of(p.Pattern.WritesOnly() || !read, p.BlockSize)
			completed := max(admit(at, p.BlockSize).At, at+service.Quantile(random.Float64()))
			done = append(done, completion{at: completed - start, latency: completed - at, read: read})
			end = max(end, completed)
			heap.Push(events, completed+p.ThinkTime)
		}
		all = append(all, done)
		clock = end
	}
	return all
}

// completion is an I/O that is done, at a time since its phase began.
type completion struct {
	at, latency time.Duration
	read        bool
}

type events []time.Duration

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i] < e[j] }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(time.Duration)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// held compares what the fast simulation says of a phase with every completion of the reference.
func held(t *testing.T, name string, want []completion, got simulate.Phase) {
	t.Helper()
	m := got.Measurement
	perWindow := make([]float64, len(m.IOPS))
	mean := make([]time.Duration, len(m.IOPS))
	var reads int64
	for _, c := range want {
		if i := int(max(0, c.at-1) / m.Window); i < len(perWindow) {
			perWindow[i]++
			mean[i] += c.latency
		}
		if c.read {
			reads++
		}
	}
	var latency result.Series
	counts := []float64{}
	for i, p := range m.IOPS {
		counts = append(counts, math.Round(p.Value*m.Window.Seconds()))
		if perWindow[i] > 0 {
			latency = append(latency, result.Point{End: p.End, Value: float64(mean[i]) / perWindow[i] / float64(time.Millisecond)})
		}
	}
	if diff := gocmp.Diff(perWindow, counts); diff != "" {
		t.Errorf("%s: I/Os in each window:\n%s", name, diff)
	}
	if diff := gocmp.Diff(latency, m.Latency); diff != "" {
		t.Errorf("%s: latency of each window:\n%s", name, diff)
	}
	direction := func(what string, d result.Direction, keep func(completion) bool) {
		var kept []completion
		var sum float64
		for _, c := range want {
			if keep(c) {
				kept = append(kept, c)
				sum += float64(c.latency)
			}
		}
		slices.SortFunc(kept, func(a, b completion) int { return cmp.Compare(a.latency, b.latency) })
		n := len(kept)
		l := d.Latency
		if d.IOs != int64(n) || l.Samples != int64(n) || l.Min != kept[0].latency || l.Max != kept[n-1].latency || l.Mean != time.Duration(sum/float64(n)) {
			t.Errorf("%s, %s: %d I/Os, latency %v, %v to %v; the heap has %d, %v, %v to %v", name, what,
				d.IOs, l.Mean, l.Min, l.Max, n, time.Duration(sum/float64(n)), kept[0].latency, kept[n-1].latency)
		}
		for _, p := range l.Percentiles {
			exact := kept[int(math.Ceil(p.Percent/100*float64(n)))-1].latency
			// A bin is at most 1/64 of its value wide and stands for its middle, or for the extreme that lies in it.
			if off := (p.Value - exact).Abs(); float64(off) > float64(exact)/64+1 {
				t.Errorf("%s, %s: p%v %v, exactly %v", name, what, p.Percent, p.Value, exact)
			}
		}
	}
	direction("total", m.Total, func(completion) bool { return true })
	if m.Read != nil {
		direction("reads", *m.Read, func(c completion) bool { return c.read })
		direction("writes", *m.Write, func(c completion) bool { return !c.read })
	}
}

func TestAgainstReference(t *testing.T) {
	slow := model.Latency{
		{Share: 0, Within: 100 * time.Microsecond},
		{Share: 0.9, Within: time.Millisecond},
		{Share: 1, Within: 50 * time.Millisecond},
	}
	profiles := map[string]struct {
		profile  workload.Profile
		compress float64
	}{
		"the demonstration": {shipped(t, "gp2-vs-gp3"), 60},
		"quick":             {shipped(t, "quick"), 4},
	}
	gp2 := ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}
	add := func(name, instance string, volume ebs.Volume, latency model.Latency, phase workload.Phase) {
		phase.Name, phase.Jobs, phase.Duration = "measured", max(1, phase.Jobs), 5*time.Second
		p := profileOf(instance, volume, phase)
		p.Volumes[0].Balance, p.Volumes[0].Latency = 0.001, latency
		profiles[name] = struct {
			profile  workload.Profile
			compress float64
		}{p, 1}
	}
	for name, depth := range map[string]int{"depth 1": 1, "depth 7": 7, "depth 32": 32, "depth 300": 300} {
		add(name, "m5.large", gp2, slow, workload.Phase{Pattern: workload.RandRead, BlockSize: 4 * units.KiB, QueueDepth: depth})
	}
	add("large blocks", "m5.large", gp2, slow, workload.Phase{Pattern: workload.Read, BlockSize: units.MiB, QueueDepth: 8})
	add("mixed", "", gp3(6000, 250), nil, workload.Phase{Pattern: workload.RandRW, ReadPercent: 70, BlockSize: 16 * units.KiB, QueueDepth: 4, Jobs: 8})
	add("thinking", "", gp3(3000, 125), slow, workload.Phase{Pattern: workload.RandWrite, BlockSize: 4 * units.KiB, QueueDepth: 1, Jobs: 9, ThinkTime: 3 * time.Millisecond})
	add("at a rate", "", gp2, slow, workload.Phase{Pattern: workload.RandRW, ReadPercent: 50, BlockSize: 4 * units.KiB, QueueDepth: 8, RateIOPS: 700})
	for name, tt := range profiles {
		want := reference(t, tt.profile, tt.compress)
		got, err := simulate.Run(t.Context(), ebs.Embedded(), tt.profile, tt.compress, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range tt.profile.Phases {
			held(t, name+", "+p.ID(), want[i], got[i])
		}
	}
}

// What the fast simulation is held against by make perf and go test -bench.
func BenchmarkReference(b *testing.B) {
	p, err := workload.Shipped(ebs.Embedded(), "gp2-vs-gp3")
	if err != nil {
		b.Fatal(err)
	}
	var ios int64
	for b.Loop() {
		for _, done := range reference(b, p, 10) {
			ios += int64(len(done))
		}
	}
	b.ReportMetric(float64(ios)/b.Elapsed().Seconds()/1e6, "MIO/s")
}

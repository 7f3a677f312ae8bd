package analyze_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/result"
	"ebscope/internal/simulate"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

func TestDocumentIsFiniteWhateverComes(t *testing.T) {
	for name, values := range map[string][]float64{
		"none": nil, "one": {3000}, "two": {3000, 300}, "three": {1, 2, 3}, "zeros": levels(0, 30),
		"NaN": levels(math.NaN(), 30), "infinite": levels(math.Inf(1), 30), "absurd": levels(1e308, 30), "negative": levels(-1, 30),
	} {
		for _, volume := range []ebs.Volume{gp2of100, gp3base} {
			run, measured := handMade(volume, small, "m5.large", time.Second, values...)
			if _, err := json.Marshal(analyze.Run(ebs.Embedded(), run, measured, nil)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			empty := &result.Measurement{}
			if _, err := json.Marshal(analyze.Run(ebs.Embedded(), run, []*result.Measurement{empty}, []simulate.Phase{{}})); err != nil {
				t.Errorf("%s: an empty measurement: %v", name, err)
			}
		}
	}
}

// Whatever is measured: the document is finite, segments follow each other, shares are a whole, a cliff lies inside.
func TestAnyMeasurement(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rate := rapid.OneOf(rapid.SampledFrom([]float64{0, 300, 3000, 6000, math.NaN(), math.Inf(1), -1, 1e308, 1e-300}), rapid.Float64())
		window := time.Duration(rapid.SampledFrom([]int64{0, 1e6, 5e7, 1e9}).Draw(rt, "window"))
		volume := rapid.SampledFrom([]ebs.Volume{gp2of100, gp2of1TB, gp3base}).Draw(rt, "volume")
		run, measured := handMade(volume, rapid.SampledFrom([]workload.Phase{small, large}).Draw(rt, "phase"), "m5.xlarge", window)
		m := measured[0]
		var end time.Duration
		for range rapid.IntRange(0, 60).Draw(rt, "samples") {
			end += time.Duration(rapid.Int64Range(-1e8, 2e9).Draw(rt, "step"))
			m.IOPS = append(m.IOPS, result.Point{End: end, Value: rate.Draw(rt, "value")})
		}
		m.Total = result.Direction{
			IOs: rapid.Int64().Draw(rt, "ios"), Runtime: time.Duration(rapid.Int64().Draw(rt, "runtime")),
			IOPS: units.IOPS(rate.Draw(rt, "iops")), Throughput: units.Throughput(rate.Draw(rt, "throughput")),
			Latency: result.Latency{Samples: rapid.Int64().Draw(rt, "n"), Mean: time.Duration(rapid.Int64().Draw(rt, "mean"))},
		}
		run.Phases[0].Credits = &result.Credits{Start: units.Ops(rate.Draw(rt, "start")), End: units.Ops(rate.Draw(rt, "end"))}
		if rapid.Bool().Draw(rt, "mixed") {
			m.Read = &m.Total
		}
		run.Compress = rapid.SampledFrom([]float64{1, 60}).Draw(rt, "compress")
		d := analyze.Run(ebs.Embedded(), run, measured, []simulate.Phase{{Measurement: *m}})
		if _, err := json.Marshal(d); err != nil {
			rt.Fatal(err)
		}
		p := d.Phases[0]
		last := 0.0
		for _, s := range p.Segments {
			if s.FromS < last || s.ToS <= s.FromS || s.IOPSMin > s.IOPSMean+1e-6*s.IOPSMean+1e-6 || s.IOPSMax < s.IOPSMean-1e-6*s.IOPSMean-1e-6 {
				rt.Fatalf("segments %+v", p.Segments)
			}
			last = s.ToS
		}
		if p.Cliff != nil && (p.Cliff.AtS < 0 || p.Cliff.AtS > last || p.Cliff.AfterIOPS >= p.Cliff.BeforeIOPS) {
			rt.Fatalf("cliff %+v of %v s", *p.Cliff, last)
		}
		var sum float64
		for _, l := range p.LimitedBy {
			sum += l.Share
		}
		if len(p.LimitedBy) > 0 && math.Abs(sum-1) > 1e-9 {
			rt.Fatalf("shares add up to %v", sum)
		}
	})
}

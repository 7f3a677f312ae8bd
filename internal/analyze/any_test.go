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

// Whatever a reading holds: the document is finite, shares are a whole, and the best candidate comes first.
func TestAnyReading(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rate := rapid.OneOf(rapid.SampledFrom([]float64{0, 100, 300, 3000, 16000, math.NaN(), math.Inf(1), -1, 1e308, 1e-300}), rapid.Float64())
		whole := rapid.OneOf(rapid.Int64(), rapid.Int64Range(0, 1e9))
		direction := func(name string) result.Direction {
			return result.Direction{
				IOs: whole.Draw(rt, name+" ios"), Bytes: units.Bytes(whole.Draw(rt, name+" bytes")), Runtime: time.Duration(whole.Draw(rt, name+" runtime")),
				IOPS: units.IOPS(rate.Draw(rt, name+" iops")), Throughput: units.Throughput(rate.Draw(rt, name+" throughput")),
				Latency: result.Latency{
					Samples: whole.Draw(rt, name+" n"), Mean: time.Duration(whole.Draw(rt, name+" mean")),
					Bins: []result.Bin{{At: time.Duration(whole.Draw(rt, "bin")), Count: whole.Draw(rt, "count")}, {At: 1e6, Count: 1000}},
				},
			}
		}
		var all []result.Reading
		for range rapid.IntRange(1, 4).Draw(rt, "readings") {
			r := result.Reading{Source: result.Source{File: "f", Document: rapid.IntRange(0, 1).Draw(rt, "document")}, Job: "j"}
			r.Workload = result.Stated{
				Pattern: rapid.SampledFrom([]string{"", "randread", "write", "x"}).Draw(rt, "rw"), BlockSize: units.Bytes(whole.Draw(rt, "bs")),
				QueueDepth: int(whole.Draw(rt, "depth") % 1e9), Jobs: int(whole.Draw(rt, "jobs") % 1e6), Duration: time.Duration(whole.Draw(rt, "duration")),
				Options: map[string]string{"rate_iops": rapid.SampledFrom([]string{"", "1000", "NaN", "-3"}).Draw(rt, "rate")},
			}
			r.Total = direction("total")
			if rapid.Bool().Draw(rt, "trims") {
				trim := direction("trim")
				r.Trim = &trim
			}
			var end time.Duration
			for range rapid.IntRange(0, 40).Draw(rt, "samples") {
				end += time.Duration(rapid.Int64Range(-1e8, 2e9).Draw(rt, "step"))
				r.IOPS = append(r.IOPS, result.Point{End: end, Value: rate.Draw(rt, "value")})
			}
			r.Disks = []result.Disk{{Name: "md0", Writes: whole.Draw(rt, "writes")}, {Name: "a"}, {Name: "b"}}
			all = append(all, r)
		}
		var given analyze.Given
		if rapid.Bool().Draw(rt, "volume") {
			volume := rapid.SampledFrom([]ebs.Volume{gp2of100, gp3base, {Type: ebs.ST1, Size: units.TiB}}).Draw(rt, "which")
			given.Volume = &volume
		}
		if rapid.Bool().Draw(rt, "instance") {
			i, err := ebs.Embedded().Instance("t3.medium")
			if err != nil {
				rt.Fatal(err)
			}
			given.Instance = &i
		}
		d := analyze.Readings(ebs.Embedded(), all, nil, given)
		if _, err := json.Marshal(d); err != nil {
			rt.Fatal(err)
		}
		for _, p := range d.Phases {
			var sum float64
			for _, l := range p.LimitedBy {
				sum += l.Share
			}
			if len(p.LimitedBy) > 0 && math.Abs(sum-1) > 1e-9 {
				rt.Fatalf("shares add up to %v", sum)
			}
			for i := 1; i < len(p.Candidates); i++ {
				if p.Candidates[i].Fit > p.Candidates[i-1].Fit {
					rt.Fatalf("candidates %+v", p.Candidates)
				}
			}
		}
	})
}

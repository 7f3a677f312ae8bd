package analyze_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// object is a part of the JSON of a phase.
func object(t *testing.T, p analyze.Phase, name string) any {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all[name]
}

// A summary does not say between which rates it lies, nor a log what a summary would be, and neither is made up.
func TestWhatIsNotKnownIsNull(t *testing.T) {
	summary := foreign(3000, time.Minute)
	summary.Total.Latency = result.Latency{Kind: "lat", Samples: 180_000, Mean: 10 * time.Millisecond}
	mixed := summary
	mixed.Read, mixed.Write = &summary.Total, &summary.Total
	log := result.Reading{Source: result.Source{File: "x_iops.1.log"}, Measurement: result.Measurement{Window: time.Second}}
	log.Total.Runtime, log.Total.IOPS, log.Summed = 4*time.Second, 3250, true // (4,000 + 9,000) ÷ 4
	for i, v := range []float64{4000, 2990, 3010, 3000} {                     // the first is left out: (2,990 + 3,010 + 3,000) ÷ 3
		log.IOPS = append(log.IOPS, result.Point{End: time.Duration(i+1) * time.Second, Value: v})
	}
	line := log
	line.IOPS, line.Total.IOPS = log.IOPS[1:2], 2990
	noSeries := map[string]any{"mean": 3000.0, "fio_mean": 3000.0, "min": nil, "max": nil}
	for name, tt := range map[string]struct {
		reading result.Reading
		want    any
	}{
		"a summary":         {summary, noSeries},
		"a log":             {log, map[string]any{"mean": 3000.0, "fio_mean": nil, "min": 2990.0, "max": 3010.0}},
		"a log of one line": {line, map[string]any{"mean": 2990.0, "fio_mean": nil, "min": nil, "max": nil}},
	} {
		d := analyze.Readings(ebs.Embedded(), []result.Reading{tt.reading}, nil, analyze.Given{})
		p := d.Phases[0]
		if diff := cmp.Diff(tt.want, object(t, p, "iops")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if tt.reading.Summed && len(d.Checks) > 0 {
			t.Errorf("%s is held against what was worked out from it: %+v", name, d.Checks)
		}
	}
	p := analyze.Readings(ebs.Embedded(), []result.Reading{mixed}, nil, analyze.Given{}).Phases[0]
	if diff := cmp.Diff(any(noSeries), object(t, p, "read").(map[string]any)["iops"]); diff != "" {
		t.Errorf("reads of a mixed job (-want +got):\n%s", diff)
	}
	want := any(map[string]any{"kind": "lat", "mean": 10.0, "p50": nil, "p95": nil, "p99": nil, "max": nil})
	if diff := cmp.Diff(want, object(t, p, "latency_ms")); diff != "" {
		t.Errorf("latency (-want +got):\n%s", diff)
	}
}

// Averaged logs count no I/Os: rates tell the share of a direction, and what neither logs is null. fio states how many
// flushes there were, and no rate.
func TestDirectionsOfLogs(t *testing.T) {
	part := func(iops, mib float64) *result.Direction {
		return &result.Direction{IOPS: units.IOPS(iops), Throughput: units.Throughput(mib) * units.Throughput(units.MiB), Runtime: 3 * time.Second}
	}
	rates := result.Reading{Summed: true}
	rates.Total, rates.Read, rates.Write, rates.Window = *part(1500, 0), part(1000, 0), part(500, 0), time.Second
	for i := range 3 {
		rates.IOPS = append(rates.IOPS, result.Point{End: time.Duration(i+1) * time.Second, Value: 1500})
	}
	bandwidth := result.Reading{Summed: true}
	bandwidth.Total, bandwidth.Read, bandwidth.Write = *part(0, 6), part(0, 4), part(0, 2)
	flushes := foreign(100, 3*time.Second)
	flushes.Sync = &result.Direction{IOs: 300} // ÷ 3 s
	for name, tt := range map[string]struct {
		reading    result.Reading
		part, want string
	}{
		"reads of rates":      {rates, "read", `{"iops":{"mean":1000,"min":1000,"max":1000,"fio_mean":null},"throughput_mib_s":null,"latency_ms":null}`},
		"writes of rates":     {rates, "write", `{"iops":{"mean":500,"min":500,"max":500,"fio_mean":null},"throughput_mib_s":null,"latency_ms":null}`},
		"writes of bandwidth": {bandwidth, "write", `{"iops":null,"throughput_mib_s":2,"latency_ms":null}`},
		"flushes":             {flushes, "sync", `{"iops":{"mean":100,"min":null,"max":null,"fio_mean":null},"throughput_mib_s":null,"latency_ms":null}`},
	} {
		var want any
		if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
			t.Fatal(err)
		}
		p := analyze.Readings(ebs.Embedded(), []result.Reading{tt.reading}, nil, analyze.Given{}).Phases[0]
		if diff := cmp.Diff(want, object(t, p, tt.part)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

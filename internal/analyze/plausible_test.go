package analyze_test

import (
	"testing"
	"time"

	"ebscope/internal/analyze"
	"ebscope/internal/result"
)

func TestLatenciesThatCannotBe(t *testing.T) {
	const ms = time.Millisecond
	percentiles := func(p50, p95, p99 time.Duration) []result.Percentile {
		return []result.Percentile{{Percent: 50, Value: p50}, {Percent: 95, Value: p95}, {Percent: 99, Value: p99}}
	}
	for name, tt := range map[string]struct {
		latency result.Latency
		why     string // "" where it can be
		mean    time.Duration
	}{
		"as it should be": {result.Latency{Kind: "clat", Samples: 9, Mean: 10 * ms, Min: ms, Max: 90 * ms, Percentiles: percentiles(9*ms, 20*ms, 30*ms), Submitted: 11 * ms}, "", 10 * ms},
		// 99 % within 1 ms and the others at 10 s are 0.99 + 100 = 101 ms: a mean far above p99 can be.
		"a mean above p99": {result.Latency{Kind: "lat", Samples: 9, Mean: 100 * ms, Min: ms, Max: 10 * time.Second, Percentiles: percentiles(ms, ms, ms)}, "", 100 * ms},
		"out of order":     {result.Latency{Kind: "lat", Samples: 9, Mean: 2 * ms, Max: 90 * ms, Percentiles: percentiles(5*ms, ms, ms)}, "p95, 1.0 ms, is below p50, 5.0 ms", 0},
		// fio 3.32 on zoned storage wrote clat of a wrong clock beside a right lat: 6,000 IOPS × 5.33 ms = 32.
		"clat above lat":      {result.Latency{Kind: "clat", Samples: 9, Mean: 100 * time.Second, Min: ms, Max: 190 * time.Second, Submitted: 5330 * time.Microsecond}, "the mean is that of lat, 5.3 ms", 5330 * time.Microsecond},
		"above the highest":   {result.Latency{Kind: "lat", Samples: 9, Mean: 20 * ms, Max: 10 * ms}, "the mean, 20 ms, is above the highest, 10 ms", 0},
		"below the lowest":    {result.Latency{Kind: "lat", Samples: 9, Mean: ms, Min: 2 * ms, Max: 10 * ms}, "the mean, 1.0 ms, is below the lowest, 2.0 ms", 0},
		"longer than the run": {result.Latency{Kind: "lat", Samples: 9, Mean: 80 * time.Second, Max: 90 * time.Second}, "in a run of 1 min", 0},
		// At most 0.5 × 1 + 0.45 × 2 + 0.04 × 3 + 0.01 × 100 = 2.52 ms.
		"more than percentiles allow": {result.Latency{Kind: "lat", Samples: 9, Mean: 4 * ms, Max: 100 * ms, Percentiles: percentiles(ms, 2*ms, 3*ms)}, "above the 2.5 ms", 0},
		// fio counts no latency above 17.2 s: all percentiles of more stand there.
		"at the end of the histogram": {result.Latency{Kind: "lat", Samples: 9, Mean: 20 * ms, Max: 20 * ms, Percentiles: percentiles(17*time.Second, 17*time.Second, 17*time.Second)}, "", 20 * ms},
		// 6,000 IOPS × 100 ms = 600 in flight, where 32 are stated.
		"more than was in flight": {result.Latency{Kind: "lat", Samples: 9, Mean: 100 * ms, Max: time.Second}, "600 I/Os were in flight, and 32 are stated", 0},
	} {
		r := foreign(6000, time.Minute)
		if name == "a mean above p99" {
			r.Workload.QueueDepth = 600
		}
		r.Total.Latency = tt.latency
		part := r.Total
		r.Read, r.Write = &part, &part
		got := analyze.Plausible([]result.Reading{r})[0]
		warned := text(got.Warnings, "latency-impossible")
		if got.Total.Latency.Mean != tt.mean || (warned == "") != (tt.why == "") {
			t.Errorf("%s: mean %v, %q", name, got.Total.Latency.Mean, warned)
		}
		says(t, name, warned, tt.why)
		if r.Total.Latency.Mean != tt.latency.Mean || r.Read.Latency.Mean != tt.latency.Mean || len(r.Warnings) > 0 {
			t.Errorf("%s: the reading itself was changed", name)
		}
		if tt.why != "" && (got.Read.Latency.Mean != 0 || len(got.Total.Latency.Percentiles) > 0) {
			t.Errorf("%s: kept %+v", name, got.Read.Latency)
		}
	}
}

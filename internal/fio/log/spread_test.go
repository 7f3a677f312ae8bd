package log

import (
	"testing"
	"time"

	"ebscope/internal/result"
)

// A summary without percentiles takes those of the logs, and says how many I/Os they are of. Its mean stands, as the one from
// submission where the logs hold completion alone.
func TestLogsTellThePercentilesThatASummaryLacks(t *testing.T) {
	logged := result.Latency{Kind: "clat", Samples: 2704, Mean: time.Millisecond,
		Bins: []result.Bin{{At: time.Millisecond, Count: 2704}}, Percentiles: []result.Percentile{{Percent: 99, Value: time.Millisecond}}}
	for _, kind := range []string{"lat", "clat"} {
		r := result.Reading{Measurement: result.Measurement{
			Total:    result.Direction{IOs: 2998, IOPS: 599, Latency: result.Latency{Kind: kind, Samples: 2998, Mean: 2 * time.Millisecond}},
			Warnings: []result.Warning{{Code: result.PercentilesMissing}},
		}}
		Joined{Total: result.Direction{Latency: logged}}.AddTo(&r)
		l := r.Total.Latency
		if p, ok := l.Percentile(99); !ok || p != time.Millisecond || l.Kind != "clat" || max(l.Submitted, l.Mean) != 2*time.Millisecond {
			t.Errorf("%s: %+v", kind, l)
		}
		if w := r.Warnings; len(w) != 1 || w[0].Code != "percentiles-of-logs" {
			t.Errorf("%s: warnings %v", kind, w)
		}
	}
}

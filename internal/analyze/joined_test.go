package analyze

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/result"
)

func TestJoined(t *testing.T) {
	const ms = time.Millisecond
	series := result.Series{{End: 50 * ms, Value: 4000}, {End: 100 * ms, Value: 3000}, {End: 150 * ms, Value: 300}}
	for name, tt := range map[string]struct {
		end  time.Duration
		want result.Series
	}{
		// (4,000 × 50 ms + 3,000 × 50 ms + 300 × 25 ms) ÷ 125 ms = 2,860; the rest of the third keeps its level.
		"two and a half": {125 * ms, result.Series{{End: 125 * ms, Value: 2860}, {End: 150 * ms, Value: 300}}},
		"one":            {50 * ms, series},
		"less":           {10 * ms, series},
		"all":            {time.Second, series},
	} {
		if diff := cmp.Diff(tt.want, joined(series, tt.end)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

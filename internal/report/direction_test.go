package report

import (
	"testing"

	"ebscope/internal/analyze"
)

// What no log says of a direction is not said to be zero.
func TestDirectionsSayWhatIsKnown(t *testing.T) {
	for want, d := range map[string]*analyze.Direction{
		none: {}, "1,001 IOPS": {IOPS: analyze.IOPS{Mean: 1001}}, "3.9 MiB/s": {ThroughputMiBps: 3.91},
		"1,001 IOPS, 3.9 MiB/s": {IOPS: analyze.IOPS{Mean: 1001, FioMean: 1000}, ThroughputMiBps: 3.91},
	} {
		if got := direction(d).Text; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

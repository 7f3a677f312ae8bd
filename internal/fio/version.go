// Package fio is the only place that knows fio, the flexible I/O tester. Its sub-packages turn a phase of a workload
// into a job file (job), run it (process) and read what came out (output).
package fio

import (
	"fmt"
	"strconv"

	"ebscope/internal/lazy"
)

// Version is a version of fio, such as 3.33.
type Version struct{ Major, Minor int }

// Oldest is the oldest fio that this program runs: the first with nanosecond latencies and byte counts in its JSON
// whose averaged logs are sound.
var Oldest = Version{3, 1}

// TotalLatencyPercentiles is the first fio whose lat_percentiles adds percentiles of the total latency. Before, the
// option replaced those of the completion latency, for some time under their name (axboe/fio issue 691, pull 920).
var TotalLatencyPercentiles = Version{3, 18}

var versionForm = lazy.Regexp(`^fio-(\d{1,4})\.(\d{1,4})(?:[.-].*)?$`)

// ParseVersion reads what fio --version prints, such as "fio-3.33" or "fio-3.35-118-g4a0c76-dirty".
func ParseVersion(text string) (Version, error) {
	m := versionForm().FindStringSubmatch(text)
	if m == nil {
		return Version{}, fmt.Errorf("%.60q is not a version of fio, such as fio-3.33", text)
	}
	// The form bounds both numbers.
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return Version{major, minor}, nil
}

// AtLeast says whether v is the other version or a later one.
func (v Version) AtLeast(other Version) bool {
	return v.Major > other.Major || v.Major == other.Major && v.Minor >= other.Minor
}

func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

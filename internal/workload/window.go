package workload

import "time"

// smallestWindow holds 15 I/Os at 300 IOPS; in a shorter one the count says little about the rate.
const smallestWindow = 50 * time.Millisecond

// Window returns the averaging time of the series of a run compressed k times: a second, compressed like everything
// else, but no less than 50 ms. It is a whole number of milliseconds, the unit in which fio takes it.
func Window(k float64) time.Duration {
	return max(smallestWindow, time.Duration(float64(time.Second)/k).Round(time.Millisecond))
}

package emulate

import (
	"time"

	"golang.org/x/sys/unix"
)

// fineWait is the last part of a wait, which is slept in the kernel. Go's timers overshoot by up to a millisecond, so
// they take only what lies before it. A wait in the kernel holds a thread; that the part is short bounds their number.
const fineWait = 2 * time.Millisecond

// waitUntil returns at the time due, or soon after released is closed. Sleeping to an absolute time keeps a row of
// waits from drifting.
func waitUntil(due time.Time, released <-chan struct{}) {
	if d := time.Until(due) - fineWait; d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-released:
			return
		}
	}
	for d := time.Until(due); d > 0; d = time.Until(due) {
		// The kernel may round a thread's sleeps up by its timer slack, 50 µs unless it is told otherwise. Which
		// thread runs this is Go's choice, so each is told each time; that takes a tenth of a microsecond.
		unix.RawSyscall(unix.SYS_PRCTL, unix.PR_SET_TIMERSLACK, 1, 0)
		interval := unix.NsecToTimespec(int64(d))
		// A signal ends the sleep early; the loop sleeps the rest.
		_ = unix.Nanosleep(&interval, nil)
	}
}

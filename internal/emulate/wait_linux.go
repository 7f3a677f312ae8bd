package emulate

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// fineWait is the last part of a wait, which is slept in the kernel. Go's timers overshoot by up to a millisecond,
	// so they take only what lies before it. A wait in the kernel holds a thread; that the part is short bounds their
	// number.
	fineWait = 2 * time.Millisecond
	// maxLateness bounds what a waiter learns: on a machine that is stalled for long, waking early does not help.
	maxLateness = 250 * time.Microsecond
	// latenessStep is how far one wait moves the estimate. It follows the median within some tens of waits.
	latenessStep = time.Microsecond
)

// waiter sleeps until given times. A sleep ends late by the time that it takes to wake a thread and to get back into
// Go, tens of microseconds that depend on the machine and its load. The waiter learns the median and aims earlier by as
// much. Sleeping to absolute times keeps a row of waits from drifting.
type waiter struct{ lateness atomic.Int64 }

// wait returns at about the time due, or soon after released is closed.
func (w *waiter) wait(due time.Time, released <-chan struct{}) {
	lateness := time.Duration(w.lateness.Load())
	aim := due.Add(-lateness)
	left := time.Until(aim)
	if left <= 0 {
		return
	}
	if left > fineWait {
		timer := time.NewTimer(left - fineWait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-released:
			return
		}
	}
	for left = time.Until(aim); left > 0; left = time.Until(aim) {
		// The kernel may round a thread's sleeps up by its timer slack, 50 µs unless it is told otherwise. Which
		// thread runs this is Go's choice, so each is told each time; that takes a tenth of a microsecond.
		_, _, _ = unix.RawSyscall(unix.SYS_PRCTL, unix.PR_SET_TIMERSLACK, 1, 0)
		interval := unix.NsecToTimespec(int64(left))
		// A signal ends the sleep early; the loop sleeps the rest.
		_ = unix.Nanosleep(&interval, nil)
	}
	w.learn(lateness, -left)
}

// learn moves the estimate towards how late a sleep ended.
func (w *waiter) learn(estimate, late time.Duration) {
	switch {
	case late > estimate && estimate < maxLateness:
		w.lateness.Add(int64(latenessStep))
	case late < estimate && estimate > 0:
		w.lateness.Add(-int64(latenessStep))
	}
}

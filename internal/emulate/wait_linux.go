package emulate

import (
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// fineWait is the last part of a wait, for which a timer of the kernel is set. Go's timers overshoot by up to a
	// millisecond, so they take only what lies before it.
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
	if left = time.Until(aim); left > 0 {
		t := timers.Get().(*kernelTimer)
		t.sleep(left)
		timers.Put(t)
	}
	w.learn(lateness, time.Since(aim))
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

// kernelTimer is a timerfd. Go's runtime waits for it as for a socket: no thread is held, and unlike the timeouts of
// nanosleep and epoll it knows no slack.
type kernelTimer struct {
	fd   int
	file *os.File // reads fd; asking it for its descriptor would make it block
}

var timers = sync.Pool{New: func() any {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return &kernelTimer{} // out of descriptors
	}
	return &kernelTimer{fd, os.NewFile(uintptr(fd), "timer")}
}}

// sleep waits for d. Where there is no timerfd, Go's timer does, if less exactly.
func (t *kernelTimer) sleep(d time.Duration) {
	until := time.Now().Add(d)
	if t.file != nil {
		var expirations [8]byte
		if err := unix.TimerfdSettime(t.fd, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}, nil); err == nil {
			_, _ = t.file.Read(expirations[:])
		}
	}
	time.Sleep(time.Until(until))
}

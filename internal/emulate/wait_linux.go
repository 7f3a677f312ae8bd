package emulate

import (
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// maxLateness bounds what a waiter learns: on a machine that is stalled for long, waking early does not help.
	maxLateness = 250 * time.Microsecond
	// latenessStep is how far one wait moves the estimate. It follows the median within some tens of waits.
	latenessStep = time.Microsecond
)

// waiter sleeps until given times. A sleep ends late by the time that it takes to wake a thread and to get back into
// Go, tens of microseconds that depend on the machine and its load. The waiter learns the median and aims earlier by as
// much. Sleeping to absolute times keeps a row of waits from drifting.
type waiter struct {
	lateness atomic.Int64

	mu       sync.Mutex
	sleeping map[*kernelTimer]struct{}
	released bool
}

// wait returns at about the time due, or soon after release.
func (w *waiter) wait(due time.Time) {
	lateness := time.Duration(w.lateness.Load())
	aim := due.Add(-lateness)
	t := timers.Get().(*kernelTimer)
	defer timers.Put(t)
	if w.start(t, aim) {
		t.sleep(aim)
		w.end(t)
		w.learn(lateness, time.Since(aim))
	}
}

// start sets a timer; it returns false where there is nothing to wait for.
func (w *waiter) start(t *kernelTimer, aim time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := time.Until(aim)
	if left <= 0 || w.released {
		return false
	}
	if w.sleeping == nil {
		w.sleeping = map[*kernelTimer]struct{}{}
	}
	w.sleeping[t] = struct{}{}
	t.set(left)
	return true
}

func (w *waiter) end(t *kernelTimer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.sleeping, t)
}

// release ends every wait, also those to come.
func (w *waiter) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.released = true
	for t := range w.sleeping {
		t.set(time.Nanosecond)
	}
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

// kernelTimer is a timerfd. Go's runtime waits for it as for a socket: no thread is held, and unlike Go's own timers,
// which are a millisecond coarse, and the timeouts of nanosleep and epoll it knows no slack.
type kernelTimer struct {
	fd   int
	file *os.File // reads fd; asking it for its descriptor would make it block
}

var timers = sync.Pool{New: func() any {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return &kernelTimer{fd: -1} // out of descriptors
	}
	return &kernelTimer{fd, os.NewFile(uintptr(fd), "timer")}
}}

func (t *kernelTimer) set(d time.Duration) {
	if t.file != nil {
		_ = unix.TimerfdSettime(t.fd, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}, nil)
	}
}

// sleep returns when the timer has expired. Where there is none, Go's timer does, if less exactly.
func (t *kernelTimer) sleep(aim time.Time) {
	var expirations [8]byte
	if t.file != nil {
		if _, err := t.file.Read(expirations[:]); err == nil {
			return
		}
	}
	time.Sleep(time.Until(aim))
}

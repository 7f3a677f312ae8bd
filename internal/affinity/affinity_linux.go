package affinity

import (
	"os"
	"runtime"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

var (
	mu      sync.Mutex
	allowed *unix.CPUSet // what the process may use; nil while it is not confined
)

// Confine keeps the threads of this process, also those to come, on one of the processors that it may use, until free is
// called. It does nothing where the kernel refuses, and while the process is confined already.
func Confine() (free func()) {
	mu.Lock()
	defer mu.Unlock()
	var all unix.CPUSet
	if allowed != nil || unix.SchedGetaffinity(0, &all) != nil {
		return func() {}
	}
	var one unix.CPUSet
	one.Set(last(&all))
	setThreads(&one)
	allowed = &all
	return sync.OnceFunc(func() {
		mu.Lock()
		defer mu.Unlock()
		setThreads(allowed)
		allowed = nil
	})
}

// Unconfined runs start, which starts another program, so that the program has all processors that this process may use,
// also while the process is confined.
func Unconfined(start func() error) error {
	mu.Lock()
	defer mu.Unlock()
	if allowed == nil {
		return start()
	}
	// A child has the processors of the thread that forks it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var one unix.CPUSet
	if unix.SchedGetaffinity(0, &one) == nil && unix.SchedSetaffinity(0, allowed) == nil {
		defer func() { _ = unix.SchedSetaffinity(0, &one) }()
	}
	return start()
}

// last returns the highest processor of a set: interrupts tend to be served by the lowest.
func last(set *unix.CPUSet) int {
	left := set.Count()
	for cpu := 0; ; cpu++ {
		if set.IsSet(cpu) {
			left--
		}
		if left <= 0 {
			return cpu
		}
	}
}

// setThreads sets the processors of every thread. A thread that is being started meanwhile has those of the one that
// starts it, so it looks again until it finds none that is new.
func setThreads(set *unix.CPUSet) {
	done := map[string]bool{}
	for {
		threads, _ := os.ReadDir("/proc/self/task")
		found := false
		for _, thread := range threads {
			id, err := strconv.Atoi(thread.Name())
			if err != nil || done[thread.Name()] {
				continue
			}
			done[thread.Name()], found = true, true
			_ = unix.SchedSetaffinity(id, set) // it may have ended
		}
		if !found {
			return
		}
	}
}

package emulate

import "time"

// clock is a stopwatch that can be armed: it then starts with the first I/O. It reads no time itself.
type clock struct {
	elapsed time.Duration // its reading when it was last stopped
	started time.Time     // zero while it stands
	armed   bool
	last    time.Duration // the latest completion since it was started
}

func (c *clock) running() bool { return !c.started.IsZero() }

// read returns the clock's reading at the time now.
func (c *clock) read(now time.Time) time.Duration {
	if !c.running() {
		return c.elapsed
	}
	return c.elapsed + now.Sub(c.started)
}

// arrive returns the reading at which an I/O arrives; ok is false while the clock stands. It starts an armed clock.
func (c *clock) arrive(now time.Time) (t time.Duration, ok bool) {
	if c.armed {
		c.start(now)
	}
	return c.read(now), c.running()
}

func (c *clock) start(now time.Time) {
	c.started, c.armed, c.last = now, false, c.elapsed
}

// completes notes that an I/O completes at t.
func (c *clock) completes(t time.Duration) { c.last = max(c.last, t) }

// stop stops the clock at the latest completion.
func (c *clock) stop() {
	if c.running() {
		c.elapsed = c.last
	}
	c.started, c.armed = time.Time{}, false
}

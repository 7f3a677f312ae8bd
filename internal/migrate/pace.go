package migrate

import (
	"sync"
	"time"
)

// The pauses after AWS throttled a change: they double up to the longest.
const (
	firstPause   = 2 * time.Second
	longestPause = 2 * time.Minute
)

// pace finds out how many changes AWS admits at once: half as many after it throttled one, one more after it took one.
// That AWS limits how often one volume is changed has nothing to do with it.
type pace struct {
	*sync.Mutex
	width int
	pause time.Duration
	until time.Time // nothing is sent before
}

func newPace() pace { return pace{Mutex: new(sync.Mutex), width: senders} }

func (p *pace) throttled(now time.Time) {
	p.Lock()
	defer p.Unlock()
	if now.Before(p.until) {
		return // the same wave
	}
	p.width = max(1, p.width/2)
	p.pause = min(longestPause, max(firstPause, 2*p.pause))
	p.until = now.Add(p.pause)
}

func (p *pace) taken() {
	p.Lock()
	defer p.Unlock()
	p.width, p.pause = min(senders, p.width+1), p.pause/2
}

// state returns how many may be sent at once, and when.
func (p *pace) state() (width int, until time.Time) {
	p.Lock()
	defer p.Unlock()
	return p.width, p.until
}

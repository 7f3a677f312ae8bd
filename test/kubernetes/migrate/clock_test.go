//go:build linux

package migrate

import (
	"sync"
	"time"

	"ebscope/test/fakeaws"
)

// ticker moves EC2's time on while a volume is under change, and lets it stand otherwise: how fast this machine is has no part
// in how many changes there are within 24 hours.
type ticker struct {
	server *fakeaws.Server
	done   chan struct{}
	ended  sync.WaitGroup

	mu      sync.Mutex
	held    bool
	volumes []string
}

// A change of 100 GiB takes 12 min of EC2's time, a dozen ticks.
const (
	tick    = 100 * time.Millisecond
	perTick = time.Minute
)

func startTicker(server *fakeaws.Server) *ticker {
	c := &ticker{server: server, done: make(chan struct{})}
	c.ended.Go(func() {
		for {
			select {
			case <-c.done:
				return
			case <-time.After(tick):
			}
			if c.changing() {
				server.Advance(perTick)
			}
		}
	})
	return c
}

func (c *ticker) stop() {
	close(c.done)
	c.ended.Wait()
}

// watch has a volume's changes move the time.
func (c *ticker) watch(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.volumes = append(c.volumes, id)
}

// hold lets the time stand, whatever is under change, until release.
func (c *ticker) hold()    { c.set(true) }
func (c *ticker) release() { c.set(false) }

func (c *ticker) set(held bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = held
}

func (c *ticker) changing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held {
		return false
	}
	now := c.server.Now()
	for _, id := range c.volumes {
		if all := c.server.Modifications(id); len(all) > 0 && now.Before(all[len(all)-1].Done) {
			return true
		}
	}
	return false
}

package emulate

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// maxOverhead bounds what is taken off the service latency, which must have it to give. On a quiet machine the way
	// takes 50 to 130 µs, on a slow one up to 250.
	maxOverhead = 400 * time.Microsecond

	// The kernel counts time in milliseconds, so that a window of 100 I/Os, 60 ms of queue depth 1, is good to 10 µs. The
	// mean of five windows is good to 2 µs, and without the least and the greatest free of a moment's stall.
	followEvery   = 30 * time.Millisecond
	followIOs     = 100
	followWindows = 5
)

// overheadMeter measures what the kernel and FUSE add to an I/O outside of the volume's sight, and tells the volume.
//
// A calibration measures all of it. But the same machine may take half as long again a minute later, so the meter goes on
// while programs use the volume: the block layer's own accounting has the time of every I/O, from the device's queue to its
// completion. What it does not see, the program's system calls and its waking up, is slow when the rest is, so the
// calibration gives that as a ratio. A FUSE file that is used without a loop device has the calibration alone.
type overheadMeter struct {
	volume *volume
	loop   *loopDevice // nil where there is none

	mu    sync.Mutex
	ratio float64         // the whole overhead ÷ the block layer's share of it; zero while that is unknown
	seen  []time.Duration // the block layer's share in the latest windows
}

// calibrate measures with reads at queue depth 1 that stay in the volume's hands for calibrationLatency.
func (m *overheadMeter) calibrate(ctx context.Context, path string) error {
	m.volume.setProbe(calibrationLatency)
	defer m.volume.setProbe(0)
	var rounds, jitters []time.Duration
	var program tally
	block := m.blockTally()
	for range calibrationRounds {
		inside := m.volume.tally()
		took, err := timeReadsElsewhere(ctx, path)
		if err != nil {
			return err
		}
		round := tallyOf(took)
		program = program.plus(round)
		rounds = append(rounds, round.mean()-m.volume.tally().since(inside).mean())
		jitters = append(jitters, quantile(took, upperSigma)-quantile(took, 0.5))
	}
	// What the block layer does not see is small, and a stall is in both means: it is taken from all rounds together.
	overhead, unseen := quantile(rounds, 0.5), program.mean()-m.blockTally().since(block).mean()
	m.volume.setJitter(quantile(jitters, 0.5))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ratio, m.seen = 0, nil
	if 0 < unseen && unseen < overhead {
		m.ratio = float64(overhead) / float64(overhead-unseen)
		m.seen = slices.Repeat([]time.Duration{overhead - unseen}, 2)
	}
	m.set(overhead)
	return nil
}

// follow measures on until done is closed.
func (m *overheadMeter) follow(done <-chan struct{}) {
	ticker := time.NewTicker(followEvery)
	defer ticker.Stop()
	inside, block := m.volume.tally(), m.blockTally()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
		}
		insideNow, blockNow := m.volume.tally(), m.blockTally()
		n := insideNow.since(inside)
		b := blockNow.since(block)
		same := n.ios == b.ios // an I/O may be on its way between the two, or have been split
		if same && n.ios < followIOs {
			continue
		}
		inside, block = insideNow, blockNow
		if same {
			m.update(b.mean() - n.mean())
		}
	}
}

// update takes in what the block layer's share was in one more window.
func (m *overheadMeter) update(share time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ratio == 0 {
		return
	}
	m.seen = append(m.seen, share)
	m.seen = m.seen[max(0, len(m.seen)-followWindows):]
	sum := -slices.Min(m.seen) - slices.Max(m.seen)
	for _, s := range m.seen {
		sum += s
	}
	m.set(time.Duration(m.ratio * float64(sum) / float64(len(m.seen)-2)))
}

func (m *overheadMeter) set(overhead time.Duration) {
	m.volume.setOverhead(min(max(0, overhead), maxOverhead))
}

// blockTally returns what the block layer has counted: nothing where there is no loop device, or where somebody has
// switched its accounting off.
func (m *overheadMeter) blockTally() tally {
	if m.loop == nil {
		return tally{}
	}
	return m.loop.tally()
}

func quantile(values []time.Duration, share float64) time.Duration {
	return slices.Sorted(slices.Values(values))[int(share*float64(len(values)))]
}

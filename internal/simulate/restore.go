package simulate

import (
	"time"

	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// restoreBlock is the unit in which snapshots hold data. Source: EBS user guide, "EBS direct APIs", 512 KiB blocks.
const restoreBlock = 512 * units.KiB

// restore is the state of a volume that fetches each block from its snapshot when it is first touched. Fetches follow
// one another at the rate of the restore; the latency of each is on top.
type restore struct {
	touch    workload.FirstTouch
	transfer time.Duration   // of a block
	free     time.Duration   // when the next fetch can start
	arrives  []time.Duration // when each block is there; zero: not touched yet
}

func newRestore(touch workload.FirstTouch) *restore {
	return &restore{touch: touch, transfer: time.Duration(float64(restoreBlock) / float64(touch.Throughput) * float64(time.Second))}
}

// ready returns from when on the data of an I/O at time t is there. What is written whole need not be fetched.
func (r *restore) ready(t time.Duration, offset, size units.Bytes, pattern workload.Pattern) time.Duration {
	ready := t
	end := offset + size
	for block := offset / restoreBlock; block*restoreBlock < end; block++ {
		for int(block) >= len(r.arrives) {
			r.arrives = append(r.arrives, 0)
		}
		if r.arrives[block] == 0 {
			whole := offset <= block*restoreBlock && (block+1)*restoreBlock <= end
			r.arrives[block] = r.fetch(t, whole && (pattern == workload.Write || pattern == workload.RandWrite))
		}
		ready = max(ready, r.arrives[block])
	}
	return ready
}

// fetch returns when a block that is first touched at time t arrives.
func (r *restore) fetch(t time.Duration, overwritten bool) time.Duration {
	if overwritten {
		return max(t, 1)
	}
	r.free = max(r.free, t) + r.transfer
	return r.free + r.touch.Latency
}

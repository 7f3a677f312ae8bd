package simulate

import "time"

// flight is the I/Os in flight as a ring of completion times in ascending order.
//
// A new I/O nearly always completes last: a bucket admits in order, and service latencies differ by less than the
// time that a full queue spans. Inserting from the end is therefore faster than a heap.
type flight struct {
	ring        []time.Duration // its length is a power of two
	first, size int
}

func newFlight(capacity int) *flight {
	length := 1
	for length < capacity {
		length *= 2
	}
	return &flight{ring: make([]time.Duration, length)}
}

func (f *flight) empty() bool { return f.size == 0 }

// pop takes out the earliest.
func (f *flight) pop() time.Duration {
	at := f.ring[f.first]
	f.first = (f.first + 1) & (len(f.ring) - 1)
	f.size--
	return at
}

func (f *flight) push(at time.Duration) {
	mask := len(f.ring) - 1
	i := f.first + f.size
	for ; i > f.first && f.ring[(i-1)&mask] > at; i-- {
		f.ring[i&mask] = f.ring[(i-1)&mask]
	}
	f.ring[i&mask] = at
	f.size++
}

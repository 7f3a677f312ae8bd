package simulate

import "time"

// flight is the places of I/Os in flight, as a ring of the times at which they become free, in ascending order.
//
// A new I/O nearly always completes last: a bucket admits in order, and service latencies differ by less than the
// time that a full queue spans. Inserting from the end is therefore faster than a heap.
type flight struct {
	ring        []time.Duration // its length is a power of two
	first, size int
}

// newFlight returns places that are free from a time on.
func newFlight(places int, at time.Duration) *flight {
	length := 1
	for length < places {
		length *= 2
	}
	f := &flight{ring: make([]time.Duration, length), size: places}
	for i := range f.ring {
		f.ring[i] = at
	}
	return f
}

// earliest returns when the first place is free.
func (f *flight) earliest() time.Duration { return f.ring[f.first] }

// replace takes the first place until a later time.
func (f *flight) replace(until time.Duration) {
	mask := len(f.ring) - 1
	f.first = (f.first + 1) & mask
	i := f.first + f.size - 1
	for ; i > f.first && f.ring[(i-1)&mask] > until; i-- {
		f.ring[i&mask] = f.ring[(i-1)&mask]
	}
	f.ring[i&mask] = until
}

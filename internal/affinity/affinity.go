// Package affinity keeps this process on one processor for a while, and what it starts off it, and the machine's processors
// awake.
//
// An emulated volume hands each I/O from thread to thread. Where one I/O is on its way at a time, each hand-over to another
// processor first wakes that one up, which takes a virtual machine 50 µs give or take 30. On a single processor there is
// nothing to wake: latencies scatter half as much, and an I/O costs half the work.
package affinity

package analyze_test

import (
	"slices"
	"testing"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/workload"
)

// The GiB of a restored volume comes at 40 MiB/s: a block of 512 KiB at each of the first I/Os, 80 a second, and most of
// it within half a minute. Over 20 minutes that is too little to change the level, but it is told. A second phase finds
// it all in place.
func TestFirstTouchIsTold(t *testing.T) {
	p, err := workload.Parse(ebs.Embedded(), []byte(`
name: restored
file_size: 1GiB
volumes:
  - {name: v, type: gp3, size: 100GiB, restored: true}
phases:
  - {name: first, volume: v, rw: randread, block_size: 4KiB, queue_depth: 32, duration: 20m}
  - {name: again, volume: v, rw: randread, block_size: 4KiB, queue_depth: 32, duration: 2m}
`))
	if err != nil {
		t.Fatal(err)
	}
	run, measured, predicted := simulated(t, p, 1)
	d := analyze.Run(ebs.Embedded(), run, measured, predicted)
	first, again := phaseOf(t, d, "v", "first"), phaseOf(t, d, "v", "again")
	if first.Verdict != analyze.Sustained || *first.IOPS.Min > 100 {
		t.Errorf("first: %s, lowest %.0f IOPS", first.Verdict, *first.IOPS.Min)
	}
	if !slices.Contains(codes(first.Warnings), "first-touch") {
		t.Errorf("first: warnings %v", codes(first.Warnings))
	}
	if slices.Contains(codes(again.Warnings), "first-touch") {
		t.Errorf("again: warnings %v", codes(again.Warnings))
	}
}

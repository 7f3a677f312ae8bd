package nvmestats_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/nvmestats"
)

func decoded(t *testing.T, operations, micros, exceeded, queue uint64, count uint32) nvmestats.Page {
	t.Helper()
	p, err := nvmestats.Decode(page(nvmestats.PageSize, map[int]uint32{0: 0x3C23B510, 536: count},
		map[int]uint64{8: operations, 24: 4096 * operations, 40: micros, 56: exceeded, 88: queue, 512: 1, 528: 512}))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSince(t *testing.T) {
	before, now := decoded(t, 100, 50_000, 1_000_000, 9, 100), decoded(t, 400, 200_000, 1_750_000, 3, 400)
	got, err := now.Since(before)
	// 400 - 100 operations of 4 KiB in 200 - 50 ms, over the limit for 1.75 - 1 s; the queue is that of now.
	want := decoded(t, 300, 150_000, 750_000, 3, 300)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	// 150 ms ÷ 300
	if got.Read.Mean() != 500*time.Microsecond || got.Write.Mean() != 0 {
		t.Errorf("mean %v and %v", got.Read.Mean(), got.Write.Mean())
	}
	if _, err := before.Since(now); err == nil {
		t.Error("counters that went back were subtracted")
	}
}

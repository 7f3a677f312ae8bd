package report

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ebscope/internal/result"
)

// Two windows, 6 s of which nothing is known, and two more. The rows are of unequal height: up to 1, 2, 10 and 100 ms, of
// which the first and the last hold nothing.
func TestFieldsAtTheirBounds(t *testing.T) {
	m := result.LatencyMap{
		Ends:   []time.Duration{time.Second, 2 * time.Second, 9 * time.Second, 10 * time.Second},
		UpTo:   []time.Duration{time.Millisecond, 2 * time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond},
		Counts: [][]int64{{0, 10, 0, 0}, {0, 100, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 0}},
	}
	low, high, ok := extent(m)
	if !ok || low != 0 || high != 1 {
		t.Fatalf("from %v to %v", low, high) // 1 ms to 10 ms
	}
	got := newCells(m, low, high, 600)
	// Of 100 I/Os at most, 10 are the half on a logarithmic scale: 1 + 127 of 254.
	want := &cells{From: []float64{0, 1, 8, 9}, To: []float64{1, 2, 9, 10}, Edges: []float64{0, math.Log10(2), 1}, Most: 100,
		Shades: []byte{128, 0, 255, 0, 0, 1, 0, 0}}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Error(diff)
	}
	// Two windows to a column; the gap is longer than both, so nothing is drawn there.
	got = newCells(m, low, high, 2)
	want = &cells{From: []float64{0, 8}, To: []float64{2, 10}, Edges: want.Edges, Most: 110, Shades: []byte{255, 0, 0, 1}}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Error(diff)
	}
}

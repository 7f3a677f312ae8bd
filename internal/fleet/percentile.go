package fleet

import "slices"

// greatest keeps the greatest values of a series, as many as a percentile near its end needs: sorting all takes most of
// the time that a large fleet takes.
type greatest struct {
	values []float64 // ascending
	keep   int
}

// reset begins anew, for up to n values of which the 99th percentile is wanted.
func (g *greatest) reset(n int) { g.values, g.keep = g.values[:0], n/100+1 }

func (g *greatest) add(x float64) {
	if len(g.values) == g.keep {
		if x <= g.values[0] {
			return
		}
		g.values = slices.Delete(g.values, 0, 1)
	}
	i, _ := slices.BinarySearch(g.values, x)
	g.values = slices.Insert(g.values, i, x)
}

// p99 is the value that 99 % of n added values do not exceed: the nearest rank.
func (g *greatest) p99(n int) float64 { return g.values[len(g.values)-1-n/100] }

package analyze

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"ebscope/internal/result"
)

const (
	// perOctave is how many steps latencies are counted in from one value to its double. fio has 64.
	perOctave = 4
	// leastMode is the share of all I/Os from which a group counts, and leastPeak that which its most frequent step holds.
	leastMode, leastPeak = 0.05, 0.01
	// valley is how low counts must sink between two groups, as a share of the lower peak.
	valley = 0.4
	// enoughIOs is the number from which the form of a histogram is more than chance.
	enoughIOs = 200
)

// modes returns the groups that latencies fall into, ascending; none where there is only one, or no histogram.
func modes(bins []result.Bin) []Mode {
	counts, first, total := octaves(bins)
	if total < enoughIOs {
		return nil
	}
	g := groups{first: first, total: total, counts: counts, smooth: make([]float64, len(counts))}
	full := bridged(counts)
	for i := range full {
		g.smooth[i] = full[i] / 2
		if i > 0 {
			g.smooth[i] += full[i-1] / 4
		}
		if i+1 < len(full) {
			g.smooth[i] += full[i+1] / 4
		}
	}
	all := g.split(0, len(counts))
	if len(all) < 2 {
		return nil
	}
	return all
}

// bridged fills steps without a count between two that are an octave apart at most: a histogram may be coarser than a step.
func bridged(counts []float64) []float64 {
	full := slices.Clone(counts)
	last := 0
	for i, c := range counts {
		if c == 0 {
			continue
		}
		for j := last + 1; j < i && i-last <= perOctave; j++ {
			full[j] = counts[last] + (c-counts[last])*float64(j-last)/float64(i-last)
		}
		last = i
	}
	return full
}

// groups is a histogram in equal steps on a logarithmic scale.
type groups struct {
	first          int // see octaves
	counts, smooth []float64
	total          float64
}

// split takes steps apart at the deepest valley, and each part again.
func (g groups) split(from, to int) []Mode {
	cut, deepest := 0, valley
	for i := from + 1; i < to-1; i++ {
		peak := min(slices.Max(g.smooth[from:i]), slices.Max(g.smooth[i+1:to]))
		enough := peak >= leastPeak*g.total && g.share(from, i) >= leastMode && g.share(i, to) >= leastMode
		if depth := g.smooth[i] / max(peak, 1); enough && depth < deepest {
			cut, deepest = i, depth
		}
	}
	if cut > 0 {
		return append(g.split(from, cut), g.split(cut, to)...)
	}
	top := from
	for i := from; i < to; i++ {
		if g.counts[i] > g.counts[top] {
			top = i
		}
	}
	return []Mode{{AtMS: math.Exp2(float64(top+g.first)/perOctave) / 1e6, Share: g.share(from, to)}}
}

func (g groups) share(from, to int) (share float64) {
	for _, c := range g.counts[from:to] {
		share += c / g.total
	}
	return share
}

// octaves counts I/Os on a logarithmic scale of latency, whose first step is perOctave × log2 of nanoseconds.
func octaves(bins []result.Bin) (counts []float64, first int, total float64) {
	step := func(b result.Bin) int { return int(math.Round(perOctave * math.Log2(float64(b.At)))) }
	last := math.MinInt
	first = math.MaxInt
	for _, b := range bins {
		if b.At > 0 && b.Count > 0 {
			first, last = min(first, step(b)), max(last, step(b))
		}
	}
	if last < first {
		return nil, 0, 0
	}
	counts = make([]float64, last-first+1) // at most 4 × 63
	for _, b := range bins {
		if b.At > 0 && b.Count > 0 {
			counts[step(b)-first] += float64(b.Count)
			total += float64(b.Count)
		}
	}
	return counts, first, total
}

func modeWords(all []Mode) string {
	parts := make([]string, len(all))
	for i, m := range all {
		parts[i] = fmt.Sprintf("%.0f %% about %s ms", 100*m.Share, amount(m.AtMS))
	}
	return strings.Join(parts, ", ")
}

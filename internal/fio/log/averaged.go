package log

import (
	"slices"
	"time"

	"ebscope/internal/result"
)

// averaging is how long the windows of tracks are: the middle distance between cells.
func averaging(all []part) time.Duration {
	var apart []uint64 // ms
	for _, p := range all {
		for i := 1; i < len(p.Cells); i++ {
			if d := p.Cells[i].End - p.Cells[i-1].End; d > 0 {
				apart = append(apart, uint64(d/time.Millisecond))
			}
		}
	}
	slices.Sort(apart)
	return time.Duration(rounded(apart)) * time.Millisecond
}

// weighted is a cell that stands for so many I/Os.
type weighted struct {
	Cell
	weight  float64
	unknown bool // a line of the window was skipped
}

// together groups cells by window: those of reads, writes and jobs are a few milliseconds apart at most, windows much
// more. It calls each with the window's cells, in ascending time.
func together(cells []weighted, window time.Duration, each func(end time.Duration, cells []weighted)) {
	slices.SortStableFunc(cells, func(a, b weighted) int { return int(min(max(a.End-b.End, -1), 1)) })
	for from := 0; from < len(cells); {
		to := from + 1
		for to < len(cells) && cells[to].End-cells[from].End < max(window/2, 1) {
			to++
		}
		each(cells[to-1].End, cells[from:to])
		from = to
	}
}

// maxStall bounds the windows that are filled in, of a log with a damaged time.
const maxStall = 1 << 20

// sumRates sums the rates of tracks by window, from the first that all of them have: fio at times leaves out a direction's
// first window. Later, windows without a line are those in which nothing completed, but those of skipped lines are not known and have no
// point. A track may end before the others, but the last window holds all or nothing: fio leaves out the one that a job does
// not fill.
func sumRates(all []part, window time.Duration) (series result.Series) {
	var cells []weighted
	var begin time.Duration
	until := lastOfAll(all, window)
	for _, p := range all {
		begin = max(begin, p.Cells[0].End-window/2)
		last := p.Cells[0].End
		for _, c := range p.Cells {
			if window > 0 && (c.End-last)/window < maxStall {
				for at := last + window; c.End-at > window/2; at += window {
					cells = append(cells, weighted{Cell: Cell{End: at, Count: 1}, unknown: c.gap != 0})
				}
			}
			cells = append(cells, weighted{Cell: c})
			last = c.End
		}
	}
	together(cells, window, func(end time.Duration, cells []weighted) {
		if end < begin || end > until || slices.ContainsFunc(cells, func(c weighted) bool { return c.unknown }) {
			return
		}
		sum := Cell{End: end, Count: 1}
		for _, c := range cells {
			sum.Sum += c.Mean()
			sum.Min += c.Min
			sum.Max += c.Max
		}
		series = append(series, sum.point())
	})
	return series
}

// lastOfAll is until when all tracks have their windows that end about when the others do.
func lastOfAll(all []part, window time.Duration) time.Duration {
	last := func(p part) time.Duration { return p.Cells[len(p.Cells)-1].End }
	var end time.Duration
	for _, p := range all {
		end = max(end, last(p))
	}
	until := end
	for _, p := range all {
		if at := last(p); end-at < 3*window/2 {
			until = min(until, at+window/2)
		}
	}
	return until
}

// meanLatencies is the mean of tracks by window in ms, each weighted with its rate.
func meanLatencies(all, rates []part, window time.Duration) (series result.Series) {
	var cells []weighted
	for _, p := range all {
		rate := p.partner(rates)
		for _, c := range p.Cells {
			weight := 1.0 // where no rate was logged, there were hardly any I/Os
			if p.log.Kind == Histogram {
				weight = float64(c.Count)
			} else if rate != nil {
				weight = max(weight, rate.at(c.End, window))
			}
			cells = append(cells, weighted{Cell: c, weight: weight})
		}
	}
	together(cells, window, func(end time.Duration, cells []weighted) {
		var sum, weights float64
		whole := cells[0].Cell
		for _, c := range cells {
			sum += c.Mean() * c.weight
			weights += c.weight
			whole.Min, whole.Max = min(whole.Min, c.Min), max(whole.Max, c.Max)
		}
		whole.End, whole.Count, whole.Sum = end, 1, sum/weights
		series = append(series, whole.point())
	})
	return series
}

// partner finds the track of rates that is of the same job and direction.
func (p part) partner(rates []part) *part {
	for i, r := range rates {
		if r.Direction == p.Direction && r.log.Job == p.log.Job && r.index == p.index && !r.log.PerIO {
			return &rates[i]
		}
	}
	return nil
}

// at returns the mean of the cell nearest to a time, zero where none is within a window.
func (p *part) at(when, window time.Duration) float64 {
	i, _ := slices.BinarySearchFunc(p.Cells, when, func(c Cell, when time.Duration) int { return int(min(max(c.End-when, -1), 1)) })
	nearest, value := window, 0.0
	for _, c := range p.Cells[max(0, i-1):min(len(p.Cells), i+1)] {
		if distance := (c.End - when).Abs(); distance <= nearest {
			nearest, value = distance, c.Mean()
		}
	}
	return value
}

package report

import (
	"encoding/json"
	"math"
	"slices"
	"time"

	"ebscope/internal/result"
)

// line is a series of windows. A value is the mean of the window that ends at its time; null is a gap.
type line struct {
	Label     string
	Colour    int
	Predicted bool
	// Dots says that only the values at Times are known, and those between are not.
	Dots   bool
	Times  []float64
	Values []*float64
	// Lows and Highs are the extremes within each window, empty where only means are known.
	Lows, Highs []*float64
}

// MarshalJSON writes a line for the page. Times are written as runs of equal steps in thousandths, for most series have
// windows of one length: [step, how often, step, how often, …].
func (l line) MarshalJSON() ([]byte, error) {
	steps := []int64{}
	last := int64(0)
	for _, t := range l.Times {
		at := int64(math.Round(t * 1000))
		step := at - last
		last = at
		if n := len(steps); n > 0 && steps[n-2] == step {
			steps[n-1]++
		} else {
			steps = append(steps, step, 1)
		}
	}
	return json.Marshal(struct {
		Label     string     `json:"label"`
		Colour    int        `json:"colour"`
		Predicted bool       `json:"predicted"`
		Dots      bool       `json:"dots,omitempty"`
		Steps     []int64    `json:"steps"`
		Values    []*float64 `json:"v"`
		Lows      []*float64 `json:"low,omitempty"`
		Highs     []*float64 `json:"high,omitempty"`
	}{l.Label, l.Colour, l.Predicted, l.Dots, steps, l.Values, l.Lows, l.Highs})
}

// fill gives the line a series in the volume's own seconds. It starts at zero with the first window's level. More windows
// than n are thinned: of each stretch the lowest and the highest stay, so that no fall and no spike is lost.
func (l *line) fill(s result.Series, compress, scale float64, n int) {
	ranged := slices.ContainsFunc(s, func(p result.Point) bool { return p.Min != 0 || p.Max != 0 })
	add := func(at float64, p result.Point) {
		l.Times, l.Values = append(l.Times, at), append(l.Values, known(p.Value*scale))
		if ranged {
			l.Lows, l.Highs = append(l.Lows, known(lowest(p)*scale)), append(l.Highs, known(highest(p)*scale))
		}
	}
	add(0, s[0])
	keep := func(p result.Point) { add(seconds(p.End, compress), p) }
	if len(s) <= n {
		for _, p := range s {
			keep(p)
		}
		return
	}
	kept := 2
	if ranged {
		kept = 4 // the means have a lowest and a highest of their own
	}
	stretches := max(1, (n-1)/kept)
	for i := range stretches {
		for _, j := range extremes(s, i*len(s)/stretches, (i+1)*len(s)/stretches) {
			keep(s[j])
		}
	}
	if end := s[len(s)-1]; l.Times[len(l.Times)-1] < seconds(end.End, compress) {
		keep(end)
	}
}

// extremes returns in order where a stretch of a series has its lowest and its highest, of the means and of all.
func extremes(s result.Series, from, to int) []int {
	low, high, lowMean, highMean := from, from, from, from
	for j := from; j < to; j++ {
		if lowest(s[j]) < lowest(s[low]) {
			low = j
		}
		if highest(s[j]) > highest(s[high]) {
			high = j
		}
		if s[j].Value < s[lowMean].Value {
			lowMean = j
		}
		if s[j].Value > s[highMean].Value {
			highMean = j
		}
	}
	all := []int{low, high, lowMean, highMean}
	slices.Sort(all)
	return slices.Compact(all)
}

// lowest and highest are the extremes of a window, its mean where no others are known.
func lowest(p result.Point) float64 {
	if p.Min == 0 && p.Max == 0 {
		return p.Value
	}
	return p.Min
}

func highest(p result.Point) float64 {
	if p.Min == 0 && p.Max == 0 {
		return p.Value
	}
	return p.Max
}

func seconds(t time.Duration, compress float64) float64 {
	return math.Round(t.Seconds()*compress*1000) / 1000
}

// known rounds a value to what can be drawn, and turns what is no number into a gap.
func known(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	digits := 1000.0
	switch size := math.Abs(x); {
	case size >= 1000:
		digits = 1
	case size >= 100:
		digits = 10
	}
	x = math.Round(x*digits) / digits
	return &x
}

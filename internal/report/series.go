package report

import (
	"encoding/json"
	"math"
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
	}{l.Label, l.Colour, l.Predicted, l.Dots, steps, l.Values})
}

// points turns a series into the volume's own seconds. It starts at zero with the first window's level. More windows
// than n are thinned: of each stretch the lowest and the highest stay, so that no fall and no spike is lost.
func points(s result.Series, compress, scale float64, n int) ([]float64, []*float64) {
	times, values := []float64{0}, []*float64{known(s[0].Value * scale)}
	keep := func(p result.Point) {
		times = append(times, seconds(p.End, compress))
		values = append(values, known(p.Value*scale))
	}
	if len(s) <= n {
		for _, p := range s {
			keep(p)
		}
		return times, values
	}
	stretches := max(1, (n-1)/2)
	for i := range stretches {
		low, high := i*len(s)/stretches, i*len(s)/stretches
		for j := low; j < (i+1)*len(s)/stretches; j++ {
			if s[j].Value < s[low].Value {
				low = j
			}
			if s[j].Value > s[high].Value {
				high = j
			}
		}
		keep(s[min(low, high)])
		if low != high {
			keep(s[max(low, high)])
		}
	}
	if end := s[len(s)-1]; times[len(times)-1] < seconds(end.End, compress) {
		keep(end)
	}
	return times, values
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

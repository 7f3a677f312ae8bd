package analyze

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// series makes samples of the given levels, each so many times.
func series(random *rand.Rand, noise float64, levels ...[2]float64) []float64 {
	var values []float64
	for _, l := range levels {
		for range int(l[1]) {
			values = append(values, max(0, l[0]+noise*random.NormFloat64()))
		}
	}
	return values
}

func TestChanges(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for name, tt := range map[string]struct {
		values  []float64
		quantum float64
		want    []int
	}{
		"none":                 {nil, 1, nil},
		"one sample":           {[]float64{3000}, 1, nil},
		"two samples":          {[]float64{3000, 300}, 1, nil},
		"three samples":        {[]float64{3000, 300, 300}, 1, nil},
		"four samples":         {[]float64{3000, 3000, 300, 300}, 1, nil}, // too few to tell a step from noise
		"six samples":          {[]float64{3000, 3000, 3000, 300, 300, 300}, 1, []int{3}},
		"constant":             {series(random, 0, [2]float64{3000, 100}), 1, nil},
		"zeros":                {series(random, 0, [2]float64{0, 100}), 1, nil},
		"cliff in seconds":     {series(random, 3, [2]float64{3000, 1998}, [2]float64{300, 700}), 1, []int{1998}},
		"burst of 3 samples":   {series(random, 10, [2]float64{3000, 3}, [2]float64{300, 16}), 20, []int{3}},
		"last 2 samples":       {series(random, 10, [2]float64{3000, 17}, [2]float64{300, 2}), 20, []int{17}},
		"a fall to nothing":    {series(random, 0, [2]float64{3000, 50}, [2]float64{0, 50}), 1, []int{50}},
		"a tenth":              {series(random, 30, [2]float64{3000, 100}, [2]float64{2700, 100}), 1, []int{100}},
		"less than 5 %":        {series(random, 1, [2]float64{3000, 100}, [2]float64{2900, 100}), 1, nil},
		"noise of 7 %":         {series(random, 20, [2]float64{300, 900}), 20, nil},
		"up, down and up":      {series(random, 5, [2]float64{1000, 40}, [2]float64{3000, 30}, [2]float64{500, 50}, [2]float64{2000, 80}), 1, []int{40, 70, 120}},
		"a mixed sample":       {append(append(series(random, 3, [2]float64{3000, 100}), 1650), series(random, 3, [2]float64{300, 100})...), 1, []int{100}},
		"a mixed sample, late": {append(append(series(random, 0, [2]float64{3000, 100}), 2700), series(random, 0, [2]float64{300, 100})...), 1, []int{101}},
	} {
		if diff := cmp.Diff(tt.want, changes(tt.values, tt.quantum)); diff != "" {
			// A sample that is half and half may count to either side.
			if name == "a mixed sample" && cmp.Equal([]int{101}, changes(tt.values, tt.quantum)) {
				continue
			}
			t.Errorf("%s (want, got):\n%s", name, diff)
		}
	}
}

// What is no change of level must not become one.
func TestNoFalseChanges(t *testing.T) {
	var random *rand.Rand // afresh for each case
	fill := func(n int, value func(i int) float64) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = value(i)
		}
		return values
	}
	for name, tt := range map[string]struct {
		quantum float64
		value   func(i int) float64
	}{
		"normal, 0.1 %":        {1, func(int) float64 { return 3000 + 3*random.NormFloat64() }},
		"normal, 7 %":          {20, func(int) float64 { return 300 + 20*random.NormFloat64() }},
		"normal, 20 %":         {1, func(int) float64 { return 300 + 60*random.NormFloat64() }},
		"one I/O more or less": {20, func(int) float64 { return 300 + 20*float64(random.IntN(3)-1) }},
		"6.25 I/Os in each":    {20, func(i int) float64 { return 20 * (math.Floor(float64(i+1)*6.25) - math.Floor(float64(i)*6.25)) }},
		"a stall every ten samples": {1, func(i int) float64 {
			return map[bool]float64{true: 500, false: 3000 + 3*random.NormFloat64()}[i%10 == 7]
		}},
		"high and low in turn": {1, func(i int) float64 { return map[bool]float64{true: 1500, false: 3000}[i%2 == 0] }},
		"noise that grows":     {1, func(i int) float64 { return 1000 + float64(i%300)/3*random.NormFloat64() }},
	} {
		random = rand.New(rand.NewPCG(7, 7))
		for _, n := range []int{5, 19, 60, 200, 900, 2700} {
			for range 1 + 2000/n {
				if got := changes(fill(n, tt.value), tt.quantum); got != nil {
					t.Errorf("%s, %d samples: changes at %v", name, n, got)
				}
			}
		}
	}
}

// A step that stands out of the noise is found where it is, and nothing beside it.
func TestPlantedSteps(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		low := rapid.Float64Range(10, 5000).Draw(rt, "low")
		high := low * rapid.Float64Range(1.3, 20).Draw(rt, "ratio")
		if rapid.Bool().Draw(rt, "up") {
			low, high = high, low
		}
		before := rapid.IntRange(3, 300).Draw(rt, "before")
		after := rapid.IntRange(10, 300).Draw(rt, "after")
		if rapid.Bool().Draw(rt, "late") {
			before, after = after, before
		}
		noise := math.Abs(high-low) * rapid.Float64Range(0, 0.04).Draw(rt, "noise")
		values := series(random, noise, [2]float64{high, float64(before)}, [2]float64{low, float64(after)})
		if diff := cmp.Diff([]int{before}, changes(values, math.Abs(high-low)/100)); diff != "" {
			rt.Fatalf("from %v to %v with noise %v (want, got):\n%s", high, low, noise, diff)
		}
	})
}

// Whatever the series, levels are at least two samples long and in order.
func TestChangesAreInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOf(rapid.OneOf(rapid.Float64Range(0, mostIOPS), rapid.Just(0.0), rapid.Float64Range(290, 310))).Draw(rt, "values")
		last := 0
		for _, at := range append(changes(values, rapid.Float64Range(0, 100).Draw(rt, "quantum")), len(values)) {
			if at < last+shortest && len(values) >= shortest {
				rt.Fatalf("a level from %d to %d", last, at)
			}
			last = at
		}
	})
}

func BenchmarkChanges(b *testing.B) {
	values := series(rand.New(rand.NewPCG(1, 1)), 3, [2]float64{3000, 1998}, [2]float64{300, 702})
	for b.Loop() {
		changes(values, 1)
	}
}

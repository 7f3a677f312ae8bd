package analyze

import (
	"fmt"
	"math"
	"strconv"

	"ebscope/internal/units"
)

// amount prints a number with as many digits as it is worth: "3,000", "127", "9.4", "0.00056".
func amount(x float64) string {
	switch {
	case x >= 9.95 || x == 0:
		return units.Thousands(x)
	case x < 0.095:
		return strconv.FormatFloat(x, 'g', 2, 64)
	default:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
}

// duration prints seconds as people say them: "50 ms", "3.3 s", "12 s", "33 min 19 s", "5 h 2 min", "12 days".
func duration(seconds float64) string {
	whole := math.Round(seconds)
	switch {
	case seconds < 0.95:
		return fmt.Sprintf("%.0f ms", seconds*1000)
	case whole < 10:
		return strconv.FormatFloat(seconds, 'f', 1, 64) + " s"
	case whole < 60:
		return fmt.Sprintf("%.0f s", whole)
	case whole < 3600:
		return pair(whole, 60, "min", "s")
	case whole < 48*3600:
		return pair(math.Round(seconds/60), 60, "h", "min")
	default:
		return units.Thousands(seconds/86_400) + " days"
	}
}

// pair prints a number of small units, so many of which make a large one.
func pair(small, many float64, largeName, smallName string) string {
	text := fmt.Sprintf("%.0f %s", math.Floor(small/many), largeName)
	if rest := math.Mod(small, many); rest > 0 {
		text += fmt.Sprintf(" %.0f %s", rest, smallName)
	}
	return text
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	default:
		return fmt.Sprintf("%d times", n)
	}
}

// count says how many there are of a thing: "1 job", "2 jobs".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

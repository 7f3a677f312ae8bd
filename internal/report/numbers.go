package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"ebscope/internal/units"
)

// none stands where a figure is not known. It is never written as zero.
const none = "–"

// figure prints a number with about three significant digits, and no more decimals than that; a very small one with two.
func figure(x float64) string {
	switch size := math.Abs(x); {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return none
	case size >= 1000:
		return units.Thousands(x)
	case size >= 10:
		return strconv.FormatFloat(x, 'f', 1, 64)
	case size >= 1:
		return strconv.FormatFloat(x, 'f', 2, 64)
	case size >= 0.01 || size == 0:
		return strconv.FormatFloat(x, 'f', 3, 64)
	default: // two significant digits, down to a millionth of a millionth
		const most = 12
		return strconv.FormatFloat(x, 'f', min(most, 1-int(math.Floor(math.Log10(size)))), 64)
	}
}

// iops prints a rate in whole operations, as rates are spoken of, with decimals only where it is very low.
func iops(x float64) string {
	if x != 0 && math.Abs(x) < 10 {
		return figure(x)
	}
	return units.Thousands(x)
}

// mibps prints a throughput in MiB/s to a tenth.
func mibps(x float64) string {
	if x != 0 && math.Abs(x) < 1 {
		return figure(x)
	}
	if math.Abs(x) >= 1000 {
		return units.Thousands(x)
	}
	return strconv.FormatFloat(x, 'f', 1, 64)
}

// optional prints a figure that may not be known.
func optional(x *float64, print func(float64) string) string {
	if x == nil {
		return none
	}
	return print(*x)
}

func percent(share float64) string {
	switch p := 100 * share; {
	case p > 0 && p < 1:
		return "<1 %"
	case p > 99 && p < 100:
		return ">99 %"
	default:
		return strconv.FormatFloat(p, 'f', 0, 64) + " %"
	}
}

// span prints a length of time in seconds as people say it: "0.05 s", "13.3 s", "33 min 19 s", "5 h".
func span(seconds float64) string {
	if seconds < 1 {
		return decimals(seconds, 2) + " s"
	}
	if seconds < 60 {
		return decimals(seconds, 1) + " s"
	}
	s := int64(math.Round(seconds))
	large, small, names := s/60, s%60, [2]string{"min", "s"}
	if s >= 2*3600 {
		minutes := int64(math.Round(seconds / 60))
		large, small, names = minutes/60, minutes%60, [2]string{"h", "min"}
	}
	text := fmt.Sprintf("%d %s", large, names[0])
	if small > 0 {
		text += fmt.Sprintf(" %d %s", small, names[1])
	}
	return text
}

// amount prints a large number in words: "5.4 million".
func amount(x float64) string {
	if x < 1e6 {
		return units.Thousands(x)
	}
	if x < 1e9 {
		return decimals(x/1e6, 2) + " million"
	}
	return units.Thousands(x/1e6) + " million"
}

// factor prints how many times the run was compressed: "60".
func factor(k float64) string { return decimals(k, 2) }

// decimals prints a number with at most n decimals and no trailing zeros.
func decimals(x float64, n int) string {
	s := strconv.FormatFloat(x, 'f', n, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

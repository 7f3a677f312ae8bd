package claims

import (
	"math"
	"strconv"
	"strings"
	"time"

	"ebscope/internal/units"
)

// number prints three significant digits of small numbers, and all of whole and large ones: 2.76, 78.2, 3,001.
func number(x float64) string {
	if math.Abs(x) >= 1000 {
		return units.Thousands(x)
	}
	decimals := 2
	switch {
	case math.Abs(x) >= 100:
		decimals = 1
	case x != 0 && math.Abs(x) < 1:
		decimals = 3
	}
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// span prints a time in seconds, the unit in which AWS states bursts: "1,999 s", "0.45 s".
func span(d time.Duration) string { return number(d.Seconds()) + " s" }

// percentage prints a share of one: "1.5 %".
func percentage(share float64) string { return number(100*share) + " %" }

// seconds is a time, the longest there is where the number is too large for one.
func seconds(x float64) time.Duration {
	if x >= math.MaxInt64/float64(time.Second) {
		return math.MaxInt64
	}
	return time.Duration(x * float64(time.Second))
}

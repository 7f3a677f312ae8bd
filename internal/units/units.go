// Package units gives each quantity that ebscope handles a type of its own, so that MB and MiB,
// or operations and bytes, cannot be mixed without a conversion that is visible in the code.
//
// EBS sells volumes in GiB and limits them in MiB/s, but limits instances in decimal Mbps and MB/s.
package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes is an amount of data.
type Bytes int64

// Binary multiples, the ones in which EBS volumes, block sizes and files are stated.
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
	TiB Bytes = 1 << 40
)

// GiB returns the amount in gibibytes.
func (b Bytes) GiB() float64 { return float64(b) / float64(GiB) }

// MiB returns the amount in mebibytes.
func (b Bytes) MiB() float64 { return float64(b) / float64(MiB) }

// String prints the amount in the largest binary unit that leaves it at least one, such as "100 GiB".
func (b Bytes) String() string {
	sizes := []struct {
		unit Bytes
		name string
	}{{TiB, "TiB"}, {GiB, "GiB"}, {MiB, "MiB"}, {KiB, "KiB"}}
	for _, s := range sizes {
		// 1,000 GiB stays in GiB: that is how EBS sizes are spoken of.
		if b >= s.unit && (b%s.unit == 0 || s.unit != TiB) {
			return trimmed(float64(b)/float64(s.unit)) + " " + s.name
		}
	}
	return strconv.FormatInt(int64(b), 10) + " B"
}

// Fio returns the amount in the notation of fio's size and bs options, such as "4k" or "8g", in bytes where it is no whole multiple.
func (b Bytes) Fio() string {
	for _, s := range []struct {
		unit Bytes
		name string
	}{{GiB, "g"}, {MiB, "m"}, {KiB, "k"}} {
		if b >= s.unit && b%s.unit == 0 {
			return strconv.FormatInt(int64(b/s.unit), 10) + s.name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

// Throughput is a rate of data transfer in bytes per second. Build it by multiplying with one of the units
// below; read it with MiBps (volumes) or MBps (instances).
type Throughput float64

// Units of throughput.
const (
	MiBPerSecond     Throughput = 1 << 20 // EBS volumes
	MBPerSecond      Throughput = 1e6     // EC2 instances
	MegabitPerSecond Throughput = 1e6 / 8 // EC2 instances, as the API states bandwidth
)

// MiBps returns the rate in mebibytes per second.
func (t Throughput) MiBps() float64 { return float64(t / MiBPerSecond) }

// MBps returns the rate in decimal megabytes per second.
func (t Throughput) MBps() float64 { return float64(t / MBPerSecond) }

// String prints at most two decimals, "0.25 MiB/s", and from 1,000 on none: "1,000 MiB/s".
func (t Throughput) String() string {
	if t >= 1000*MiBPerSecond {
		return Thousands(t.MiBps()) + " MiB/s"
	}
	return trimmed(t.MiBps()) + " MiB/s"
}

// IOPS is a rate of I/O operations per second.
type IOPS float64

func (r IOPS) String() string { return Thousands(float64(r)) + " IOPS" }

// Ops is a number of I/O operations. A gp2 credit is worth one.
type Ops float64

// USD is an amount of money in United States dollars.
type USD float64

// String prints whole cents, "$11.40".
func (u USD) String() string {
	if u < 0 {
		return "−" + (-u).String()
	}
	whole, cents, _ := strings.Cut(strconv.FormatFloat(float64(u), 'f', 2, 64), ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return "$" + whole + "." + cents
}

// Thousands prints a number rounded to a whole one, with a comma every three digits: "3,000".
func Thousands(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "–"
	}
	s := strconv.FormatFloat(math.Round(math.Abs(x)), 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if math.Round(x) < 0 {
		return "−" + s
	}
	return s
}

// trimmed prints a number with at most two decimals and no trailing zeros.
func trimmed(x float64) string {
	s := strconv.FormatFloat(x, 'f', 2, 64)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// ParseSize reads an amount of data such as "100GiB", "100Gi", "8g", "4k" or "4096". A single letter is
// binary, as in fio. ok is false where the text had no unit; the number is then in units of fallback, and the
// caller says so. A decimal unit (GB) is an error: nothing that ebscope sizes is sold or counted in it.
func ParseSize(text string, fallback Bytes) (size Bytes, unitGiven bool, err error) {
	s := strings.TrimSpace(text)
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
	unit := strings.ToLower(strings.TrimSpace(s[len(digits):]))
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, false, fmt.Errorf("size %q is not a number with a unit; write it like 100GiB or 4KiB", text)
	}
	if x <= 0 {
		return 0, false, fmt.Errorf("size %q must be greater than zero", text)
	}
	multiple := fallback
	switch unit {
	case "":
	case "b":
		multiple = 1
	case "k", "ki", "kib":
		multiple = KiB
	case "m", "mi", "mib":
		multiple = MiB
	case "g", "gi", "gib":
		multiple = GiB
	case "t", "ti", "tib":
		multiple = TiB
	case "kb", "mb", "gb", "tb":
		return 0, false, fmt.Errorf("size %q is in decimal %s, but EBS and fio count in %siB; write %s%siB",
			text, strings.ToUpper(unit), strings.ToUpper(unit[:1]), strings.TrimSpace(digits), strings.ToUpper(unit[:1]))
	default:
		return 0, false, fmt.Errorf("size %q has the unknown unit %q; use KiB, MiB, GiB or TiB", text, unit)
	}
	bytes := x * float64(multiple)
	if bytes >= math.MaxInt64 {
		return 0, false, fmt.Errorf("size %q is too large", text)
	}
	if bytes != math.Trunc(bytes) {
		return 0, false, fmt.Errorf("size %q is not a whole number of bytes", text)
	}
	return Bytes(bytes), unit != "", nil
}

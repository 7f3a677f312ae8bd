package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"ebscope/internal/cost"
	"ebscope/internal/units"
)

// need reads what is asked for.
func (s sizer) need(o sizeOptions, given func(flag string) bool) (cost.Need, error) {
	var n cost.Need
	var err error
	if n.Size, err = s.parseSize("--size", o.size); err != nil {
		return n, err
	}
	if given("iops") && !sensible(o.iops) {
		return n, fmt.Errorf("--iops %v: use a number above zero", o.iops)
	}
	if given("throughput") && !sensible(o.throughput) {
		return n, fmt.Errorf("--throughput %v: use a number of MiB/s above zero", o.throughput)
	}
	n.IOPS, n.Throughput = units.IOPS(o.iops), units.Throughput(o.throughput)*units.MiBPerSecond
	if given("burst") {
		n.Burst, n.BurstFor, err = parseBurst(o.burst)
	}
	return n, err
}

// wholeSize rounds a least size up to what can be bought, and says so where it differs.
func wholeSize(size units.Bytes) (whole units.Bytes, note string) {
	const beyond = 1 << 60 // any volume, and near what the type holds
	if size%units.GiB == 0 || size > beyond {
		return size, ""
	}
	whole = (size/units.GiB + 1) * units.GiB
	return whole, fmt.Sprintf("Volumes come in whole GiB: the least size, %v, is rounded up to %v.", size, whole)
}

// sensible says whether a rate can be asked for; NaN cannot.
func sensible(rate float64) bool { return rate > 0 && rate <= 1e9 }

// parseSize reads a size in GiB where it has no unit, and says so.
func (s sizer) parseSize(flag, text string) (units.Bytes, error) {
	size, unitGiven, err := units.ParseSize(text, units.GiB)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", flag, err)
	}
	if !unitGiven {
		fmt.Fprintf(s.stderr, "ebscope: %s %s has no unit; read as %v\n", flag, text, size)
	}
	return size, nil
}

// parseBurst reads a rate and a time, "3000:30m".
func parseBurst(text string) (units.IOPS, time.Duration, error) {
	rate, span, ok := strings.Cut(text, ":")
	iops, err := strconv.ParseFloat(rate, 64)
	if !ok || err != nil || !sensible(iops) {
		return 0, 0, fmt.Errorf("--burst %q: write IOPS and a time, such as 3000:30m", text)
	}
	d, err := time.ParseDuration(span)
	if err != nil || d <= 0 || d > 365*24*time.Hour {
		return 0, 0, fmt.Errorf("--burst %q: the time is written like 45s, 30m or 2h, at most a year", text)
	}
	return units.IOPS(iops), d, nil
}

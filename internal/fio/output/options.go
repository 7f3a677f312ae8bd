package output

import (
	"maps"
	"math"
	"strconv"
	"strings"
	"time"

	"ebscope/internal/result"
	"ebscope/internal/units"
)

// merged is what holds for a job: its own options over those of all jobs.
func merged(global, own map[string]string) map[string]string {
	all := maps.Clone(global)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, own)
	return all
}

// first returns the value of the first option that is stated: many have two names.
func first(options map[string]string, names ...string) string {
	for _, name := range names {
		if value := options[name]; value != "" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// on says whether a switch is stated and on. Without a value it is on.
func on(options map[string]string, name string) bool {
	value, stated := options[name]
	return stated && value != "0"
}

// stated returns the workload as far as a job's options state it.
func stated(global, own map[string]string) result.Stated {
	o := merged(global, own)
	s := result.Stated{
		Pattern:    first(o, "rw", "readwrite"),
		BlockSize:  blockSize(o),
		QueueDepth: whole32(first(o, "iodepth")),
		Jobs:       jobs(o, own != nil),
		Engine:     first(o, "ioengine"),
		Duration:   duration(first(o, "runtime", "timeout")),
		RampTime:   duration(first(o, "ramp_time")),
		Filename:   first(o, "filename"),
		Rate:       rate(o),
		Options:    o,
	}
	s.Size, _ = size(first(o, "size"), base(o))
	switch read, write := first(o, "rwmixread"), first(o, "rwmixwrite"); {
	case read != "":
		s.ReadPercent = percent(read, false)
	case write != "":
		s.ReadPercent = percent(write, true)
	}
	if _, ok := o["direct"]; ok {
		direct := on(o, "direct")
		s.Direct = &direct
	} else if _, ok := o["buffered"]; ok { // its opposite
		direct := !on(o, "buffered")
		s.Direct = &direct
	}
	if len(o) == 0 {
		s.Options = nil
	}
	return s
}

// jobs is how many jobs the figures are of. Unless it reports groups, fio has an entry for each job. Of a group, only
// numjobs says how many there are; where a job's own options are missing, so may be that it is a group.
func jobs(options map[string]string, own bool) int {
	switch {
	case on(options, "group_reporting"):
		return whole32(first(options, "numjobs"))
	case own:
		return 1
	default:
		return 0
	}
}

func rate(options map[string]string) string {
	var rates []string
	for _, name := range []string{"rate", "rate_iops", "thinktime"} {
		if value := first(options, name); value != "" && strings.Trim(value, "0,") != "" {
			rates = append(rates, name+"="+value)
		}
	}
	return strings.Join(rates, " ")
}

// blockSize is zero where blocks have several sizes.
func blockSize(options map[string]string) units.Bytes {
	for _, name := range []string{"bsrange", "blocksize_range", "bssplit"} {
		if options[name] != "" {
			return 0
		}
	}
	var common units.Bytes
	for i, text := range strings.Split(first(options, "bs", "blocksize"), ",") {
		b, ok := size(text, base(options))
		if !ok || i > 0 && b != common {
			return 0
		}
		common = b
	}
	return common
}

func whole32(text string) int {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0
	}
	return int(n)
}

func percent(text string, rest bool) *int {
	n, err := strconv.Atoi(strings.TrimRight(text, "%"))
	if err != nil || n < 0 || n > 100 {
		return nil
	}
	if rest {
		n = 100 - n
	}
	return &n
}

// base says whether fio was told that a k is 1,000.
func base(options map[string]string) float64 {
	if first(options, "kb_base") == "1000" {
		return 1000
	}
	return 1024
}

// size reads an amount of data in fio's notation, in which k, ki and kb are 1,024 bytes and kib, of all things, is 1,000,
// unless kb_base is 1000 (seen with fio 3.33). A share, such as 100%, is no amount.
func size(text string, base float64) (units.Bytes, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil || !(x > 0) {
		return 0, false
	}
	letter := text[len(digits):]
	switch {
	case len(letter) == 3 && strings.HasSuffix(letter, "ib"):
		letter, base = letter[:1], 2024-base
	case len(letter) == 2:
		letter = strings.TrimRight(letter, "ib")
	case letter == "b":
		letter = ""
	}
	power := strings.Index(" kmgtp", letter)
	if letter == "" {
		power = 0
	}
	if power < 0 || len(letter) > 1 {
		return 0, false
	}
	bytes := x * math.Pow(base, float64(power))
	if bytes >= math.MaxInt64 || bytes != math.Trunc(bytes) {
		return 0, false
	}
	return units.Bytes(bytes), true
}

// duration reads a time in fio's notation, in seconds where it has no unit, of which fio drops what is no whole one. It
// is zero where the text is none.
func duration(text string) time.Duration {
	text = strings.ToLower(strings.TrimSpace(text))
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil || !(x > 0) {
		return 0
	}
	x = math.Trunc(x)
	unit := map[string]time.Duration{
		"": time.Second, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
		"ms": time.Millisecond, "msec": time.Millisecond, "us": time.Microsecond, "usec": time.Microsecond,
	}[text[len(digits):]]
	if ns := x * float64(unit); ns < math.MaxInt64 {
		return time.Duration(ns)
	}
	return 0
}

package emulate

import (
	"os"
	"strconv"
	"strings"
)

// mountEntry is a line of the mount table.
type mountEntry struct {
	major, minor      int
	dir, kind, source string
}

// mounts returns the mount table, the latest mount last.
func mounts() []mountEntry {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	return parseMounts(string(table))
}

// parseMounts reads the form that proc(5) gives: "36 35 98:0 /root /dir options… - type source options".
func parseMounts(table string) (entries []mountEntry) {
	for line := range strings.Lines(table) {
		left, right, found := strings.Cut(line, " - ")
		place, device := strings.Fields(left), strings.Fields(right)
		if !found || len(place) < 5 || len(device) < 2 {
			continue
		}
		major, minor, _ := strings.Cut(place[2], ":")
		e := mountEntry{dir: unescape(place[4]), kind: device[0], source: unescape(device[1])}
		var err1, err2 error
		e.major, err1 = strconv.Atoi(major)
		e.minor, err2 = strconv.Atoi(minor)
		if err1 == nil && err2 == nil {
			entries = append(entries, e)
		}
	}
	return entries
}

// unescape undoes the kernel's octal escapes: a space in a path is written \040.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

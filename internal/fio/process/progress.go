package process

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"strings"
	"time"

	"ebscope/internal/lazy"
	"ebscope/internal/units"
)

// Progress is how a run of fio comes along. There is one about every second, the first after two or three.
type Progress struct {
	Elapsed time.Duration // since fio was started
	IOPS    units.IOPS    // at present, reads and writes together
}

// follow reads fio's status lines to their end and reports those that give a rate. It always reads to the end:
// fio would stop at a full pipe.
func follow(r io.Reader, started time.Time, report func(Progress)) {
	lines := bufio.NewScanner(r)
	lines.Split(splitStatus)
	for lines.Scan() {
		if rate, ok := StatusRate(lines.Text()); ok && report != nil {
			report(Progress{Elapsed: time.Since(started), IOPS: rate})
		}
	}
	_, _ = io.Copy(io.Discard, r) // a line too long for the scanner is no status line
}

// splitStatus splits at carriage returns too: fio ends a status line with one, so that a terminal overwrites it.
func splitStatus(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexAny(data, "\r\n"); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

var rates = lazy.Regexp(`\[((?:[a-z]=[0-9.]+[kMG]?,?)+) IOPS\]`)

// StatusRate reads the rate, reads and writes together, from one of fio's status lines, such as
//
//	Jobs: 1 (f=1): [m(1)][75.0%][r=16.4MiB/s,w=7203KiB/s][r=4202,w=1.8k IOPS][eta 00m:01s]
func StatusRate(line string) (units.IOPS, bool) {
	m := rates().FindStringSubmatch(line)
	if m == nil {
		return 0, false
	}
	var sum float64
	for part := range strings.SplitSeq(m[1], ",") {
		_, number, _ := strings.Cut(part, "=")
		multiple := 1.0
		switch {
		case strings.HasSuffix(number, "k"):
			multiple = 1e3
		case strings.HasSuffix(number, "M"):
			multiple = 1e6
		case strings.HasSuffix(number, "G"):
			multiple = 1e9
		}
		rate, err := strconv.ParseFloat(strings.TrimRight(number, "kMG"), 64)
		if err != nil {
			return 0, false
		}
		sum += rate * multiple
	}
	return units.IOPS(sum), true
}

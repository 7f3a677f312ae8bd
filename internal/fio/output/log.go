package output

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// Line is a line of one of fio's logs.
type Line struct {
	Time  time.Duration // since the job's start; in an averaged log the end of the window (seen with fio 3.33)
	Value float64       // IOPS, KiB/s or nanoseconds, by the kind of log
	Write bool          // not a read
}

// maxFile bounds what is read of one log. A phase of a week, logged every 100 ms, stays below.
const maxFile = 256 << 20

func readAll(name string, r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s is larger than %d MiB, too large for a log of a phase", name, maxFile>>20)
	}
	return text, nil
}

// ReadLog reads a log of IOPS, bandwidth or latency: time in ms, value, direction, block size and, by version, offset
// and priority. Trims are left out. The name is that of the file, for errors, which give the line.
func ReadLog(name string, r io.Reader) ([]Line, error) {
	text, err := readAll(name, r)
	if err != nil {
		return nil, err
	}
	var lines []Line
	scanner := bufio.NewScanner(bytes.NewReader(text))
	number := 0
	for scanner.Scan() {
		number++
		if strings.TrimSpace(scanner.Text()) == "" {
			continue
		}
		line, trim, err := parseLine(scanner.Text())
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, number, err)
		}
		if !trim {
			lines = append(lines, line)
		}
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, number+1, err)
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		return nil, fmt.Errorf("%s:%d: the last line has no end: the log was cut off; restore the file from a copy, or run the benchmark anew", name, number)
	}
	return lines, nil
}

func parseLine(text string) (line Line, trim bool, err error) {
	columns := strings.Split(text, ",")
	if len(columns) < 4 {
		return Line{}, false, fmt.Errorf("%.60q has %d columns, a log of fio has at least 4 (time, value, direction, block size); was it cut off?", text, len(columns))
	}
	var numbers [4]int64
	for i := range numbers {
		if numbers[i], err = strconv.ParseInt(strings.TrimSpace(columns[i]), 10, 64); err != nil || numbers[i] < 0 {
			return Line{}, false, fmt.Errorf("%.60q: column %d is no whole number", text, i+1)
		}
	}
	if numbers[0] > math.MaxInt64/int64(time.Millisecond) {
		return Line{}, false, fmt.Errorf("%.60q: the time is out of range", text)
	}
	if numbers[2] > 2 {
		return Line{}, false, fmt.Errorf("%.60q: direction %d is not 0 (read), 1 (write) or 2 (trim)", text, numbers[2])
	}
	return Line{
		Time: time.Duration(numbers[0]) * time.Millisecond, Value: float64(numbers[1]), Write: numbers[2] == 1,
	}, numbers[2] == 2, nil
}

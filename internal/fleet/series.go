package fleet

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// A series is written as base64 of a first byte, the number of decimals, and of varints: 0 and n are n missing values, 1
// and n are n times the value before, and any other is a difference to the value before, zigzag coded and raised by 2. So
// a volume at rest takes a few bytes, and a busy one a few bytes a value. Counts are whole; percentages keep 4 decimals.
const (
	missingRun = 0
	repeatRun  = 1
	firstDelta = 2
)

// fineDecimals is how many decimals a series keeps that is not whole.
const fineDecimals = 4

// maxPoints is the most values that a series may have: more than 14 days by the minute, or a year by the hour.
const maxPoints = 100_000

// maxValue bounds a value, so that it keeps its decimals: far more bytes in an hour than any volume moves in a day.
const maxValue = 1 << 50

// MarshalText packs the series.
func (s Series) MarshalText() ([]byte, error) {
	decimals := 0
	for i, v := range s {
		switch {
		case math.IsNaN(v):
		case v < 0 || v > maxValue:
			return nil, fmt.Errorf("value %d of a series is %g; metrics lie between 0 and %g", i, v, float64(maxValue))
		case v != math.Trunc(v):
			decimals = fineDecimals
		}
	}
	scale := math.Pow10(decimals)
	packed := append(make([]byte, 0, 3*len(s)+1), byte(decimals))
	var last int64
	for i := 0; i < len(s); {
		run := 1
		if math.IsNaN(s[i]) {
			for i+run < len(s) && math.IsNaN(s[i+run]) {
				run++
			}
			packed = binary.AppendUvarint(append(packed, missingRun), uint64(run))
			i += run
			continue
		}
		value := int64(math.Round(s[i] * scale))
		if value != last {
			delta := value - last
			packed = binary.AppendUvarint(packed, uint64(delta<<1^delta>>63)+firstDelta)
			last = value
			i++
			continue
		}
		for i+run < len(s) && !math.IsNaN(s[i+run]) && int64(math.Round(s[i+run]*scale)) == last {
			run++
		}
		packed = binary.AppendUvarint(append(packed, repeatRun), uint64(run))
		i += run
	}
	return base64.RawStdEncoding.AppendEncode(nil, packed), nil
}

var errPacked = errors.New("a series is damaged")

// UnmarshalText unpacks a series.
func (s *Series) UnmarshalText(text []byte) error {
	packed, err := base64.RawStdEncoding.AppendDecode(nil, text)
	if err != nil || len(packed) == 0 || packed[0] != 0 && packed[0] != fineDecimals {
		return errPacked
	}
	scale, rest := math.Pow10(int(packed[0])), packed[1:]
	next := func() (uint64, bool) {
		x, n := binary.Uvarint(rest)
		if n <= 0 {
			return 0, false
		}
		rest = rest[n:]
		return x, true
	}
	values, last := make(Series, 0, len(rest)), int64(0)
	for len(rest) > 0 {
		token, ok := next()
		if !ok {
			return errPacked
		}
		run, value := uint64(1), math.NaN()
		if token <= repeatRun {
			if run, ok = next(); !ok {
				return errPacked
			}
		} else {
			delta := token - firstDelta
			last += int64(delta>>1) ^ -int64(delta&1)
		}
		if token != missingRun {
			value = float64(last) / scale
		}
		if run > maxPoints-uint64(len(values)) {
			return fmt.Errorf("a series has more than %d values", maxPoints)
		}
		if value < 0 || value > maxValue {
			return errPacked
		}
		for range run {
			values = append(values, value)
		}
	}
	*s = values
	return nil
}

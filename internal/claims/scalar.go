package claims

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// The scalars of the form carry their unit; an error carries the line.

type size units.Bytes

func (s *size) UnmarshalYAML(n *yaml.Node) error {
	b, unitGiven, err := units.ParseSize(n.Value, 1)
	if err == nil && !unitGiven {
		err = fmt.Errorf("size %q has no unit; write it like 100GiB or 4KiB", n.Value)
	}
	if err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	*s = size(b)
	return nil
}

// longest bounds a stated time; longer ones are typing mistakes and would overflow arithmetic in nanoseconds.
const longest = 10 * 365 * 24 * time.Hour

type duration time.Duration

func (d *duration) UnmarshalYAML(n *yaml.Node) error {
	parsed, err := parseTime(n.Value)
	if err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	*d = duration(parsed)
	return nil
}

type latency Latency

func (l *latency) UnmarshalYAML(n *yaml.Node) error {
	text, below := strings.CutPrefix(strings.TrimSpace(n.Value), "<")
	parsed, err := parseTime(strings.TrimSpace(text))
	if err != nil {
		return fmt.Errorf("line %d: latency: %w", n.Line, err)
	}
	*l = latency{Value: parsed, Below: below}
	return nil
}

func parseTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a time; write it like 2.76ms, 600s or 1h30m", text)
	}
	if d <= 0 || d > longest {
		return 0, fmt.Errorf("time %q must be greater than zero and at most ten years", text)
	}
	return d, nil
}

type throughput units.Throughput

func (t *throughput) UnmarshalYAML(n *yaml.Node) error {
	text, unit := strings.TrimSpace(n.Value), units.Throughput(0)
	for _, u := range []struct {
		name string
		size units.Throughput
	}{{"MiB/s", units.MiBPerSecond}, {"MB/s", units.MBPerSecond}, {"Mbps", units.MegabitPerSecond}} {
		if number, ok := strings.CutSuffix(text, u.name); ok {
			text, unit = number, u.size
			break
		}
	}
	if unit == 0 {
		return fmt.Errorf("line %d: throughput %q: write it like 250MiB/s, or 275MB/s where that is what was stated", n.Line, n.Value)
	}
	x, err := positive(text)
	if err != nil {
		return fmt.Errorf("line %d: throughput %w", n.Line, err)
	}
	*t = throughput(units.Throughput(x) * unit)
	return nil
}

type rate units.IOPS

func (r *rate) UnmarshalYAML(n *yaml.Node) error {
	x, err := positive(n.Value)
	if err != nil {
		return fmt.Errorf("line %d: IOPS %w", n.Line, err)
	}
	*r = rate(x)
	return nil
}

type money Money

func (m *money) UnmarshalYAML(n *yaml.Node) error {
	text := strings.TrimPrefix(strings.TrimSpace(n.Value), "$")
	x, err := positive(text)
	if err != nil {
		return fmt.Errorf("line %d: USD a month %w", n.Line, err)
	}
	_, decimals, _ := strings.Cut(text, ".")
	*m = money{Value: units.USD(x), Rounding: units.USD(0.5 * math.Pow(10, -float64(len(decimals))))}
	return nil
}

type percent float64

func (p *percent) UnmarshalYAML(n *yaml.Node) error {
	x, err := workload.ParsePercent(n.Value)
	if err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	*p = percent(x)
	return nil
}

// positive reads a plain decimal number above zero and below a billion.
func positive(text string) (float64, error) {
	text = strings.TrimSpace(text)
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case math.IsNaN(x) || err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%q is not a number; write it like 3000 or 9.12", text)
	case x <= 0 || x > 1e9:
		return 0, fmt.Errorf("%q must be greater than zero and at most a billion", text)
	case strings.Trim(text, "0123456789.") != "":
		return 0, fmt.Errorf("%q: write it in plain digits, like 3000 or 9.12", text)
	}
	return x, nil
}

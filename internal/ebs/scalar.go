package ebs

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"ebscope/internal/units"
)

// The scalars of a catalog. No price and no limit is zero, negative, endless or not a number; an error carries the line.

// number is a limit or a price.
type number float64

func (x *number) UnmarshalYAML(n *yaml.Node) error {
	parsed, err := positive(n, strings.ReplaceAll(n.Value, "_", ""))
	*x = number(parsed)
	return err
}

// largest bounds a limit: far above any, and far below where arithmetic on it loses its meaning.
const largest = 1e12

func positive(n *yaml.Node, text string) (float64, error) {
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if n.Kind != yaml.ScalarNode || err != nil || math.IsNaN(x) {
		return 0, fmt.Errorf("line %d: %q is not a number", n.Line, n.Value)
	}
	if !(x > 0 && x <= largest) {
		return 0, fmt.Errorf("line %d: %s: a limit or price is above zero and at most %s", n.Line, n.Value, units.Thousands(largest))
	}
	return x, nil
}

// date is a day or a month.
type date string

func (d *date) UnmarshalYAML(n *yaml.Node) error {
	*d = date(n.Value)
	for _, form := range []string{time.DateOnly, "2006-01"} {
		if _, err := time.Parse(form, n.Value); err == nil {
			return nil
		}
	}
	return fmt.Errorf("line %d: date %q: write it like 2026-11-01 or 2026-11", n.Line, n.Value)
}

// rates is a price, or a list of them where a type has tiers.
type rates []number

func (r *rates) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		var one number
		err := n.Decode(&one)
		*r = rates{one}
		return err
	}
	var all []number
	err := n.Decode(&all)
	*r = all
	return err
}

type size units.Bytes

func (s *size) UnmarshalYAML(n *yaml.Node) error {
	b, unitGiven, err := units.ParseSize(n.Value, 1)
	if err == nil && !unitGiven {
		err = fmt.Errorf("size %q has no unit; write it like 100GiB or 256KiB", n.Value)
	}
	if err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	*s = size(b)
	return nil
}

type throughput units.Throughput

func (t *throughput) UnmarshalYAML(n *yaml.Node) error {
	text, ok := strings.CutSuffix(strings.TrimSpace(n.Value), "MiB/s")
	if !ok {
		return fmt.Errorf("line %d: throughput %q: write it like 250MiB/s", n.Line, n.Value)
	}
	x, err := positive(n, text)
	*t = throughput(units.Throughput(x) * units.MiBPerSecond)
	return err
}

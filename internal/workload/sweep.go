package workload

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ebscope/internal/units"
)

// sweepForm is the axes of a sweep: an entry of a profile's phases that has one stands for a phase for each combination of
// their values, all else alike.
type sweepForm struct {
	Pattern    []string `yaml:"rw"`
	BlockSize  []size   `yaml:"block_size"`
	Jobs       []whole  `yaml:"jobs"`
	QueueDepth []whole  `yaml:"queue_depth"`
}

// phases are what the entry stands for: itself, or with a sweep the combinations, the queue depth varying fastest. Each
// has the entry's name followed by its place on the axes, such as randread-4k-j2-qd8, and the entry's name as its sweep.
func (f phaseForm) phases() ([]Phase, error) {
	if f.Sweep == nil {
		phase, err := f.phase()
		return []Phase{phase}, err
	}
	if err := f.checkSweep(); err != nil {
		return nil, err
	}
	all := []phaseForm{f}
	s := *f.Sweep
	all = along(all, s.Pattern, func(to *phaseForm, value string) string {
		if to.Pattern = value; !Pattern(value).Mixed() {
			to.ReadPercent = 0
		}
		return value
	})
	all = along(all, s.BlockSize, func(to *phaseForm, value size) string {
		to.BlockSize = value
		return units.Bytes(value).Fio()
	})
	all = along(all, s.Jobs, func(to *phaseForm, value whole) string {
		to.Jobs = &value
		return "j" + strconv.Itoa(int(value))
	})
	all = along(all, s.QueueDepth, func(to *phaseForm, value whole) string {
		to.QueueDepth = value
		return "qd" + strconv.Itoa(int(value))
	})
	phases := make([]Phase, len(all))
	for i, form := range all {
		phase, err := form.phase()
		if err != nil {
			return nil, err
		}
		phase.Sweep = f.Name
		phases[i] = phase
	}
	return phases, nil
}

// along multiplies entries by the values of an axis. set puts a value into an entry and returns what it adds to the name.
func along[T any](all []phaseForm, values []T, set func(to *phaseForm, value T) string) []phaseForm {
	if len(values) == 0 {
		return all
	}
	var more []phaseForm
	for _, form := range all {
		for _, value := range values {
			next := form
			next.Name += "-" + set(&next, value)
			more = append(more, next)
		}
	}
	return more
}

// checkSweep refuses a sweep that is none, or that contradicts the entry.
func (f phaseForm) checkSweep() error {
	s := *f.Sweep
	count := f.count()
	switch {
	case count == 0:
		return errors.New("sweep: give rw, block_size, jobs or queue_depth a list of values, such as queue_depth: [1, 2, 4, 8]")
	case count > maxPhases:
		return fmt.Errorf("sweep: its values combine to %d phases, at most %d", count, maxPhases)
	case f.Duration == nil:
		return errors.New("a sweep needs a duration, which each of its phases has")
	}
	for _, axis := range []struct {
		name   string
		values []string
		fixed  bool // the entry itself has a value
	}{
		{"rw", s.Pattern, f.Pattern != ""},
		{"block_size", texts(s.BlockSize), f.BlockSize != 0},
		{"jobs", texts(s.Jobs), f.Jobs != nil},
		{"queue_depth", texts(s.QueueDepth), f.QueueDepth != 0},
	} {
		if len(axis.values) > 0 && axis.fixed {
			return fmt.Errorf("%s is given twice: in the phase and in its sweep", axis.name)
		}
		for i, value := range axis.values {
			if slices.Contains(axis.values[:i], value) {
				return fmt.Errorf("sweep: %s lists %s twice", axis.name, value)
			}
		}
	}
	if f.ReadPercent != 0 && len(s.Pattern) > 0 && !slices.ContainsFunc(s.Pattern, func(p string) bool { return Pattern(p).Mixed() }) {
		return fmt.Errorf("read_percent %d: for rw and randrw, which the sweep does not have", f.ReadPercent)
	}
	return nil
}

// count is the number of phases that the entry stands for; none where its sweep has no value.
func (f phaseForm) count() int {
	if f.Sweep == nil {
		return 1
	}
	s := *f.Sweep
	if len(s.Pattern)+len(s.BlockSize)+len(s.Jobs)+len(s.QueueDepth) == 0 {
		return 0
	}
	count := 1
	for _, values := range []int{len(s.Pattern), len(s.BlockSize), len(s.Jobs), len(s.QueueDepth)} {
		count = min(count*max(1, values), 1<<20) // a profile's text is too short for more
	}
	return count
}

func texts[T any](values []T) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = strings.TrimSpace(fmt.Sprint(v))
	}
	return all
}

package calibrate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// The YAML form of a latency profile.
type fileForm struct {
	Latencies []entryForm `yaml:"latencies"`
}

type entryForm struct {
	Type      string         `yaml:"type"`
	Direction string         `yaml:"rw"`
	BlockSize string         `yaml:"block_size"`
	Mean      string         `yaml:"mean"`
	Curve     workload.Curve `yaml:"curve"`
	Rests     rests          `yaml:"rests_on"`
}

// rests is what an entry rests on; it is for readers.
type rests struct {
	IOs    int64  `yaml:"ios"`
	Phases int    `yaml:"phases"`
	Within string `yaml:"mean_within"`
}

// maxFile bounds what is read; a real profile is a few KiB.
const maxFile = 1 << 20

// Parse reads a profile from YAML, strictly: an unknown key is an error that gives its line. An entry has a curve, or a
// mean alone: then its curve has the shape of model.DefaultLatency.
func Parse(r io.Reader) (Profile, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("it is too large for a latency profile; at most %d bytes", maxFile)
	}
	var f fileForm
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		plain := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "yaml: "), "unmarshal errors:\n  ")
		return nil, errors.New(strings.ReplaceAll(plain, " in type calibrate.", " in a "))
	}
	if len(f.Latencies) == 0 {
		return nil, errors.New("it has no latencies; write them like latencies: [{type: gp3, rw: read, block_size: 4KiB, mean: 0.6ms}]")
	}
	var p Profile
	for i, form := range f.Latencies {
		e, err := form.entry()
		if err != nil {
			return nil, fmt.Errorf("entry %d of latencies: %w", i+1, err)
		}
		for _, other := range p {
			if other.Type == e.Type && other.Write == e.Write && other.Size == e.Size {
				return nil, fmt.Errorf("entry %d of latencies: %s of %v on %s is there twice", i+1, direction(e.Write), e.Size, e.Type)
			}
		}
		p = append(p, e)
	}
	return p, nil
}

func (f entryForm) entry() (Entry, error) {
	e := Entry{Type: ebs.Type(f.Type), Curve: model.Latency(f.Curve), IOs: f.Rests.IOs, Phases: f.Rests.Phases, Within: math.NaN()}
	if _, err := ebs.Embedded().VolumeType(e.Type); err != nil {
		return e, err
	}
	switch f.Direction {
	case "read":
	case "write":
		e.Write = true
	default:
		return e, fmt.Errorf("rw %q: use read or write", f.Direction)
	}
	size, unitGiven, err := units.ParseSize(f.BlockSize, 1)
	if err != nil || !unitGiven || size <= 0 {
		return e, fmt.Errorf("block_size %q: write it like 4KiB", f.BlockSize)
	}
	e.Size = size
	if f.Mean == "" && e.Curve == nil {
		return e, errors.New("it has neither a mean nor a curve")
	}
	if e.Curve != nil {
		return e, nil
	}
	mean, err := time.ParseDuration(f.Mean)
	if err != nil || mean <= 0 || mean > time.Minute {
		return e, fmt.Errorf("mean %q: write it like 0.6ms", f.Mean)
	}
	e.Curve = model.DefaultLatency.WithMean(mean)
	return e, nil
}

// Write writes the profile as YAML that Parse reads. about stands at its head, as a comment.
func (p Profile) Write(w io.Writer, about string) error {
	var b strings.Builder
	for line := range strings.Lines(about) {
		fmt.Fprintf(&b, "# %s\n", strings.TrimSpace(line))
	}
	b.WriteString("latencies:\n")
	for _, e := range p {
		fmt.Fprintf(&b, "  - type: %s\n    rw: %s\n    block_size: %s\n    mean: %v\n    curve: {", e.Type, direction(e.Write), strings.ReplaceAll(e.Size.String(), " ", ""), e.Curve.Mean())
		for i, point := range e.Curve {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%s%%: %v", strconv.FormatFloat(math.Round(point.Share*1e8)/1e6, 'f', -1, 64), point.Within)
		}
		b.WriteString("}\n")
		if e.Phases > 0 {
			fmt.Fprintf(&b, "    rests_on: {ios: %d, phases: %d%s}\n", e.IOs, e.Phases, e.confidence())
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// confidence is Within as a key of the file, empty where it is not known.
func (e Entry) confidence() string {
	if math.IsNaN(e.Within) {
		return ""
	}
	return fmt.Sprintf(", mean_within: ±%.2g %%", 100*e.Within)
}

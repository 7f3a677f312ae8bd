package workload

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"path"
	"sort"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

//go:embed profiles/*.yaml
var shipped embed.FS

// Names lists the profiles that ship with ebscope.
func Names() []string {
	entries, err := shipped.ReadDir("profiles")
	if err != nil {
		panic(err) // the embedded folder is part of the build
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".yaml")
	}
	sort.Strings(names)
	return names
}

// Shipped returns a profile that ships with ebscope, checked against a catalog.
func Shipped(catalog *ebs.Catalog, name string) (Profile, error) {
	text, err := shipped.ReadFile(path.Join("profiles", name+".yaml"))
	if err != nil {
		return Profile{}, fmt.Errorf("there is no profile named %q; the ones that ship are %s; a file of your own needs its path, such as ./%s.yaml",
			name, strings.Join(Names(), ", "), name)
	}
	return Parse(catalog, text)
}

// maxProfileSize bounds what is read as a profile; a real one is a few KiB.
const maxProfileSize = 1 << 20

// Parse reads a profile from YAML and checks it against a catalog. It is strict: an unknown key is an error that gives its line.
func Parse(catalog *ebs.Catalog, text []byte) (Profile, error) {
	if len(text) > maxProfileSize {
		return Profile{}, fmt.Errorf("a profile of %d bytes is too large; at most %d", len(text), maxProfileSize)
	}
	var f profileForm
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&f); err != nil {
		if errors.Is(err, io.EOF) {
			return Profile{}, errors.New("the profile is empty")
		}
		return Profile{}, plain(err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return Profile{}, errors.New("the profile has more than one YAML document; use one")
	}
	p, err := f.profile()
	if err == nil {
		err = p.Validate(catalog)
	}
	if err == nil {
		err = f.checkBalances(catalog, p)
	}
	if err != nil {
		return Profile{}, f.located(err, text)
	}
	return p, nil
}

// plain takes the decoder's Go type names out of an error that a user reads.
func plain(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: unmarshal errors:\n  ")
	text = strings.ReplaceAll(strings.TrimPrefix(text, "yaml: "), "\n  ", "; ")
	for _, name := range []string{"profileForm", "volumeForm", "phaseForm", "sweepForm"} {
		text = strings.ReplaceAll(text, "field ", "key ")
		text = strings.ReplaceAll(text, "not found in type workload."+name, "is unknown in a "+strings.TrimSuffix(name, "Form"))
	}
	return errors.New(text)
}

// The YAML form of a profile. Defaults are filled in by profile.
type profileForm struct {
	Name        string       `yaml:"name"`
	Description string       `yaml:"description"`
	Instance    string       `yaml:"instance"`
	Region      string       `yaml:"region"`
	FileSize    size         `yaml:"file_size"`
	Gap         duration     `yaml:"gap"`
	Volumes     []volumeForm `yaml:"volumes"`
	Table       string       `yaml:"table"`
	Phases      []phaseForm  `yaml:"phases"`
}

type phaseForm struct {
	Name        string    `yaml:"name"`
	Volume      string    `yaml:"volume"`
	Pattern     string    `yaml:"rw"`
	BlockSize   size      `yaml:"block_size"`
	QueueDepth  whole     `yaml:"queue_depth"`
	Jobs        *whole    `yaml:"jobs"`
	ReadPercent whole     `yaml:"read_percent"`
	Duration    *duration `yaml:"duration"`
	Rest        duration  `yaml:"rest"`
	ThinkTime   duration  `yaml:"think_time"`
	RateIOPS    *whole    `yaml:"rate_iops"`
	Together    string    `yaml:"together"`

	Sweep *sweepForm `yaml:"sweep"`
}

func (f profileForm) profile() (Profile, error) {
	p := Profile{
		Name: f.Name, Description: strings.TrimSpace(f.Description), Instance: f.Instance, Region: f.Region,
		FileSize: units.Bytes(f.FileSize), Gap: time.Duration(f.Gap), Table: Table(f.Table),
	}
	if p.Region == "" {
		p.Region = "us-east-1"
	}
	for _, v := range f.Volumes {
		if v.Stripe != nil {
			if err := v.checkStripe(); err != nil {
				return Profile{}, entryError{"stripes", len(p.Stripes), fmt.Errorf("stripe %s: %w", v.Name, err)}
			}
			p.Stripes = append(p.Stripes, v.stripe())
			continue
		}
		if err := v.checkVolume(); err != nil {
			return Profile{}, entryError{"volumes", len(p.Volumes), fmt.Errorf("volume %s: %w", v.Name, err)}
		}
		p.Volumes = append(p.Volumes, v.volume())
	}
	for i, form := range f.Phases {
		phases, err := form.phases()
		if err != nil {
			return Profile{}, entryError{"phases", len(p.Phases), fmt.Errorf("phase %d (%s on %s): %w", i+1, form.Name, form.Volume, err)}
		}
		p.Phases = append(p.Phases, phases...)
	}
	return p, nil
}

// phase is the entry as a phase, whatever its sweep.
func (f phaseForm) phase() (Phase, error) {
	phase := Phase{
		Name: f.Name, Volume: f.Volume, Pattern: Pattern(f.Pattern), BlockSize: units.Bytes(f.BlockSize),
		QueueDepth: int(f.QueueDepth), Jobs: 1, ReadPercent: int(f.ReadPercent),
		Rest: time.Duration(f.Rest), ThinkTime: time.Duration(f.ThinkTime), Together: f.Together,
	}
	if f.RateIOPS != nil {
		if *f.RateIOPS == 0 {
			return Phase{}, errors.New("rate_iops 0: use at least 1, or leave rate_iops out for no limit")
		}
		phase.RateIOPS = units.IOPS(*f.RateIOPS)
	}
	if f.Duration != nil {
		if *f.Duration == 0 {
			return Phase{}, errors.New("duration 0s: use at least 1s, or leave duration out to write or read the test file once")
		}
		phase.Duration = time.Duration(*f.Duration)
	}
	if f.Jobs != nil {
		phase.Jobs = int(*f.Jobs)
	}
	return phase, nil
}

// The scalars of the form carry their unit; an error carries the line.

// whole is a whole number; the decoder would cut the fraction off.
type whole int

func (w *whole) UnmarshalYAML(n *yaml.Node) error {
	i, err := strconv.Atoi(n.Value)
	if err != nil {
		return fmt.Errorf("line %d: %q is not a whole number", n.Line, n.Value)
	}
	*w = whole(i)
	return nil
}

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

type duration time.Duration

func (d *duration) UnmarshalYAML(n *yaml.Node) error {
	parsed, err := time.ParseDuration(n.Value)
	if err != nil {
		return fmt.Errorf("line %d: duration %q: write it like 600s, 45m or 1h30m", n.Line, n.Value)
	}
	*d = duration(parsed)
	return nil
}

type throughput units.Throughput

func (t *throughput) UnmarshalYAML(n *yaml.Node) error {
	number, ok := strings.CutSuffix(strings.TrimSpace(n.Value), "MiB/s")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !ok || err != nil {
		return fmt.Errorf("line %d: throughput %q: write it like 250MiB/s", n.Line, n.Value)
	}
	*t = throughput(units.Throughput(x) * units.MiBPerSecond)
	return nil
}

type percent float64

func (p *percent) UnmarshalYAML(n *yaml.Node) error {
	x, err := ParsePercent(n.Value)
	if err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	*p = percent(x)
	return nil
}

// ParsePercent reads a share such as "5%" or "5 %" and returns it as a fraction, 0.05.
func ParsePercent(text string) (float64, error) {
	number, ok := strings.CutSuffix(strings.TrimSpace(text), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !ok || err != nil || !(x >= 0 && x <= 100) {
		return 0, fmt.Errorf("%q is not a share; write it like 40%%, from 0%% to 100%%", text)
	}
	return x / 100, nil
}

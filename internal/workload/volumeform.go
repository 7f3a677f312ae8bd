package workload

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/units"
)

// volumeForm is an entry of a profile's volumes: a volume or, with stripe, RAID 0 over some.
type volumeForm struct {
	Name       string     `yaml:"name"`
	Type       string     `yaml:"type"`
	Size       size       `yaml:"size"`
	IOPS       float64    `yaml:"iops"`
	Throughput throughput `yaml:"throughput"`
	Balance    *percent   `yaml:"balance"`
	Latency    Curve      `yaml:"latency"`

	Restored             bool        `yaml:"restored"`
	FirstTouchLatency    *duration   `yaml:"first_touch_latency"`
	FirstTouchThroughput *throughput `yaml:"first_touch_throughput"`

	Stripe     []string `yaml:"stripe"`
	StripeSize size     `yaml:"stripe_size"`
}

// checkVolume refuses keys of a volume that do not go together.
func (v volumeForm) checkVolume() error {
	if v.StripeSize != 0 {
		return errors.New("stripe_size without stripe; name the volumes of the stripe: stripe: [a, b]")
	}
	if !v.Restored && (v.FirstTouchLatency != nil || v.FirstTouchThroughput != nil) {
		return errors.New("first_touch_latency and first_touch_throughput are for a volume with restored: true")
	}
	return nil
}

// checkBalances refuses a balance of credits that a volume does not have. It takes a valid profile made of the form.
func (f profileForm) checkBalances(catalog *ebs.Catalog, p Profile) error {
	i := 0
	for _, form := range f.Volumes {
		if form.Stripe != nil {
			continue
		}
		v := p.Volumes[i]
		if form.Balance != nil {
			if reason := NoCredits(catalog, v.Config); reason != "" {
				return entryError{"volumes", i, fmt.Errorf("volume %s: balance is the share of burst credits, and %s; leave it out", v.Name, reason)}
			}
		}
		i++
	}
	return nil
}

// NoCredits says why a volume has no burst credits, empty where it has.
func NoCredits(catalog *ebs.Catalog, v ebs.Volume) string {
	if perf := catalog.Performance(v); perf.Bursts() || perf.BurstsData() {
		return ""
	}
	smaller := v
	if kind, err := catalog.VolumeType(v.Type); err == nil {
		smaller.Size = kind.MinSize
	}
	if perf := catalog.Performance(smaller); perf.Bursts() || perf.BurstsData() {
		return fmt.Sprintf("a %s volume of %v has none: it is as fast for ever", v.Type, v.Size)
	}
	return fmt.Sprintf("%s volumes have none", v.Type)
}

// checkStripe refuses keys that a stripe does not have.
func (v volumeForm) checkStripe() error {
	if v.Type != "" || v.Size != 0 || v.IOPS != 0 || v.Throughput != 0 || v.Balance != nil || v.Latency != nil || v.Restored ||
		v.FirstTouchLatency != nil || v.FirstTouchThroughput != nil {
		return errors.New("a stripe has a name, stripe and stripe_size only; the rest belongs to its volumes")
	}
	return nil
}

func (v volumeForm) volume() Volume {
	volume := Volume{
		Name: v.Name, Balance: 1, Latency: model.Latency(v.Latency), Config: ebs.Volume{
			Type: ebs.Type(v.Type), Size: units.Bytes(v.Size), IOPS: units.IOPS(v.IOPS), Throughput: units.Throughput(v.Throughput)}}
	if v.Balance != nil {
		volume.Balance = float64(*v.Balance)
	}
	if v.Restored {
		touch := DefaultFirstTouch
		if v.FirstTouchLatency != nil {
			touch.Latency = time.Duration(*v.FirstTouchLatency)
		}
		if v.FirstTouchThroughput != nil {
			touch.Throughput = units.Throughput(*v.FirstTouchThroughput)
		}
		volume.Restored = &touch
	}
	return volume
}

// defaultChunk is mdadm's.
const defaultChunk = 512 * units.KiB

func (v volumeForm) stripe() Stripe {
	s := Stripe{Name: v.Name, Volumes: v.Stripe, ChunkSize: units.Bytes(v.StripeSize)}
	if s.ChunkSize == 0 {
		s.ChunkSize = defaultChunk
	}
	return s
}

// Curve is a service latency in YAML: the name of a curve or its points, such as {0%: 0.4ms, 50%: 0.5ms, 99%: 0.9ms, 100%: 2ms}.
type Curve model.Latency

// UnmarshalYAML implements yaml.Unmarshaler. Its errors give the line.
func (l *Curve) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		named, ok := model.NamedLatency(n.Value)
		if !ok {
			return fmt.Errorf("line %d: there is no latency curve named %q; use %s, or points such as {0%%: 0.4ms, 50%%: 0.5ms, 100%%: 2ms}",
				n.Line, n.Value, strings.Join(model.LatencyNames(), ", "))
		}
		*l = Curve(named)
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: latency: use a name, or points such as {0%%: 0.4ms, 50%%: 0.5ms, 100%%: 2ms}", n.Line)
	}
	curve := model.Latency{}
	for pair := range slices.Chunk(n.Content, 2) {
		share, err := ParsePercent(pair[0].Value)
		if err != nil {
			return fmt.Errorf("line %d: latency: %w", pair[0].Line, err)
		}
		var within duration
		if err := within.UnmarshalYAML(pair[1]); err != nil {
			return err
		}
		curve = append(curve, model.LatencyPoint{Share: share, Within: time.Duration(within)})
	}
	if err := curve.Validate(); err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	*l = Curve(curve)
	return nil
}

package workload

import (
	"errors"
	"fmt"
	"time"

	"ebscope/internal/units"
)

// FirstTouch is how a volume made from a snapshot serves what was never touched before: the block comes from S3
// first. EBS documents that it is slow, not how slow, so both figures are assumptions to be set from a measurement.
type FirstTouch struct {
	Latency    time.Duration    `json:"latency_ns"`         // of the fetch of a block, on top of its transfer
	Throughput units.Throughput `json:"throughput_bytes_s"` // of all fetches of the volume together
}

// DefaultFirstTouch is what is assumed where a profile gives no figures: milliseconds to tens of them for an object of
// S3, and tens of MiB/s, as restores are commonly reported.
var DefaultFirstTouch = FirstTouch{Latency: 20 * time.Millisecond, Throughput: 40 * units.MiBPerSecond}

// validateService checks how a volume serves an I/O: its latency curve and its first touch.
func (v Volume) validateService() error {
	if v.Latency != nil {
		if err := v.Latency.Validate(); err != nil {
			return err
		}
	}
	if v.Kinds != nil {
		if err := v.Kinds.Validate(); err != nil {
			return err
		}
	}
	if f := v.Restored; f != nil {
		if f.Latency < 0 || f.Latency > time.Minute {
			return fmt.Errorf("first_touch_latency %v: use 0 to 1m", f.Latency)
		}
		if !(f.Throughput >= units.MiBPerSecond/100 && f.Throughput <= 1e6*units.MiBPerSecond) {
			return errors.New("first_touch_throughput: use 0.01MiB/s to 1000000MiB/s")
		}
	}
	return nil
}

// restored says by name which volumes and stripes hold data before the first phase: no phase needs to write it.
func (p Profile) restored() map[string]bool {
	holds := map[string]bool{}
	for _, v := range p.Volumes {
		holds[v.Name] = v.Restored != nil
	}
	for _, s := range p.Stripes {
		holds[s.Name] = holds[s.Volumes[0]]
	}
	return holds
}

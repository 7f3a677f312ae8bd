package emulate

import (
	"errors"
	"math/rand/v2"
	"time"
)

// Latency is a service-latency profile: the distribution of the time that an I/O takes when no bucket holds it back,
// as quantiles in rising order, the first at 0 and the last at 1. In between it is linear.
type Latency []Quantile

// Quantile says that the share P of all I/Os, from 0 to 1, takes at most Value.
type Quantile struct {
	P     float64
	Value time.Duration
}

// DefaultLatency returns the profile of 4 KiB reads at queue depth 1 on gp3: mean 0.564, p50 0.569, p95 0.627,
// p99 0.872 ms. The two ends are chosen so that the mean is the measured one. Source: docs/model.md.
func DefaultLatency() Latency {
	return Latency{
		{0, 449 * time.Microsecond},
		{0.50, 569 * time.Microsecond},
		{0.95, 627 * time.Microsecond},
		{0.99, 872 * time.Microsecond},
		{1, 1200 * time.Microsecond},
	}
}

func (l Latency) validate() error {
	if len(l) == 0 {
		return nil
	}
	if len(l) < 2 || l[0].P != 0 || l[len(l)-1].P != 1 || l[0].Value < 0 {
		return errors.New("a latency profile goes from quantile 0 to quantile 1 and is not negative")
	}
	for i := 1; i < len(l); i++ {
		if !(l[i].P > l[i-1].P) || l[i].Value < l[i-1].Value {
			return errors.New("the quantiles of a latency profile must rise")
		}
	}
	return nil
}

// at returns the quantile p.
func (l Latency) at(p float64) time.Duration {
	for i := 1; i < len(l); i++ {
		if a, b := l[i-1], l[i]; p <= b.P {
			return a.Value + time.Duration((p-a.P)/(b.P-a.P)*float64(b.Value-a.Value))
		}
	}
	return 0
}

// sampler draws service latencies.
type sampler struct {
	latency Latency
	random  *rand.Rand
}

func newSampler(l Latency, seed uint64) sampler {
	return sampler{latency: l, random: rand.New(rand.NewPCG(seed, 0))}
}

func (s sampler) draw() time.Duration { return s.latency.at(s.random.Float64()) }

package emulate

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"ebscope/internal/model"
	"ebscope/internal/units"
)

// sampler draws service latencies. Without a profile every latency is zero.
type sampler struct {
	profile model.Service
	narrow  model.Service // what is drawn from: the profile, less the scatter that this machine adds
	random  *rand.Rand
}

func newSampler(l model.Service, seed uint64) *sampler {
	return &sampler{profile: l, narrow: l, random: rand.New(rand.NewPCG(seed, 0))}
}

func (s *sampler) draw(write bool, size units.Bytes) time.Duration {
	if s.narrow == nil {
		return 0
	}
	return s.narrow.Of(write, size).Quantile(s.random.Float64())
}

// upperSigma and lowerSigma are the shares of a normal distribution below one standard deviation above and below its mean.
const upperSigma, lowerSigma = 0.84, 0.16

// setJitter takes into account that the way through the kernel takes now more, now less, by a standard deviation of j.
// Variances add up, so that much less is drawn on either side of the median; the mean stays. A machine that scatters more
// than the profile leaves nothing to draw.
func (s *sampler) setJitter(j time.Duration) {
	s.narrow = slices.Clone(s.profile)
	for i, kind := range s.profile {
		s.narrow[i].Latency = narrowed(kind.Latency, j)
	}
}

// narrowed is a curve less a scatter of a standard deviation of j.
func narrowed(profile model.Latency, j time.Duration) model.Latency {
	middle := profile.Quantile(0.5)
	left := func(sigma time.Duration) float64 {
		return math.Sqrt(max(0, 1-math.Pow(float64(j)/max(1, float64(sigma)), 2)))
	}
	above, below := left(profile.Quantile(upperSigma)-middle), left(middle-profile.Quantile(lowerSigma))
	narrow := make(model.Latency, len(profile))
	for i, p := range profile {
		share := above
		if p.Within < middle {
			share = below
		}
		narrow[i] = model.LatencyPoint{Share: p.Share, Within: middle + time.Duration(share*float64(p.Within-middle))}
	}
	lost := profile.Mean() - narrow.Mean()
	for i := range narrow {
		narrow[i].Within += lost
	}
	return narrow
}

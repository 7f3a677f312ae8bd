package emulate

import (
	"math"
	"math/rand/v2"
	"time"

	"ebscope/internal/model"
)

// sampler draws service latencies. Without a profile every latency is zero.
type sampler struct {
	profile model.Latency
	narrow  model.Latency // what is drawn from: the profile, less the scatter that this machine adds
	random  *rand.Rand
}

func newSampler(l model.Latency, seed uint64) *sampler {
	return &sampler{profile: l, narrow: l, random: rand.New(rand.NewPCG(seed, 0))}
}

func (s *sampler) draw() time.Duration {
	if s.narrow == nil {
		return 0
	}
	return s.narrow.Quantile(s.random.Float64())
}

// upperSigma and lowerSigma are the shares of a normal distribution below one standard deviation above and below its mean.
const upperSigma, lowerSigma = 0.84, 0.16

// setJitter takes into account that the way through the kernel takes now more, now less, by a standard deviation of j.
// Variances add up, so that much less is drawn on either side of the median; the mean stays. A machine that scatters more
// than the profile leaves nothing to draw.
func (s *sampler) setJitter(j time.Duration) {
	if s.profile == nil {
		return
	}
	middle := s.profile.Quantile(0.5)
	left := func(sigma time.Duration) float64 {
		return math.Sqrt(max(0, 1-math.Pow(float64(j)/max(1, float64(sigma)), 2)))
	}
	above, below := left(s.profile.Quantile(upperSigma)-middle), left(middle-s.profile.Quantile(lowerSigma))
	s.narrow = make(model.Latency, len(s.profile))
	for i, p := range s.profile {
		share := above
		if p.Within < middle {
			share = below
		}
		s.narrow[i] = model.LatencyPoint{Share: p.Share, Within: middle + time.Duration(share*float64(p.Within-middle))}
	}
	lost := s.profile.Mean() - s.narrow.Mean()
	for i := range s.narrow {
		s.narrow[i].Within += lost
	}
}

package emulate

import (
	"math/rand/v2"
	"time"

	"ebscope/internal/model"
)

// sampler draws service latencies. Without a profile every latency is zero.
type sampler struct {
	latency model.Latency
	random  *rand.Rand
}

func newSampler(l model.Latency, seed uint64) sampler {
	return sampler{latency: l, random: rand.New(rand.NewPCG(seed, 0))}
}

func (s sampler) draw() time.Duration {
	if s.latency == nil {
		return 0
	}
	return s.latency.Quantile(s.random.Float64())
}

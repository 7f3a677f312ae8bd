package model

import (
	"errors"
	"fmt"
	"math"

	"ebscope/internal/units"
)

// Service is a volume's service latency by kind of I/O, as far as it is known: a curve for reads or for writes of a size.
type Service []ServiceKind

// ServiceKind is the latency of one kind of I/O.
type ServiceKind struct {
	Write   bool        `json:"write"`
	Size    units.Bytes `json:"size_bytes"` // of an I/O
	Latency Latency     `json:"latency"`
}

// Of returns the curve for an I/O: that of the same direction, or else of the other, whose size is nearest, as a ratio. It
// is nil where the service has no curve at all.
func (s Service) Of(write bool, size units.Bytes) Latency {
	var found Latency
	least := math.Inf(1)
	for _, k := range s {
		off := math.Abs(math.Log(float64(max(1, size)) / float64(max(1, k.Size))))
		if k.Write != write {
			off += math.Log(float64(units.TiB)) // further than any size
		}
		if off < least {
			found, least = k.Latency, off
		}
	}
	return found
}

// Slowest returns the longest latency of any kind.
func (s Service) Slowest() (slowest Latency) {
	for _, k := range s {
		if slowest == nil || k.Latency.Quantile(1) > slowest.Quantile(1) {
			slowest = k.Latency
		}
	}
	return slowest
}

// Validate says what is wrong with a service that Of could not answer from.
func (s Service) Validate() error {
	if len(s) == 0 {
		return errors.New("a service latency has no curve")
	}
	for _, k := range s {
		if err := k.Latency.Validate(); err != nil {
			return fmt.Errorf("service latency of %v: %w", k.Size, err)
		}
	}
	return nil
}

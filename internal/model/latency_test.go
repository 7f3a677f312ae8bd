package model_test

import (
	"math"
	"testing"
	"time"

	"ebscope/internal/model"
)

func TestDefaultLatency(t *testing.T) {
	const us = time.Microsecond
	for _, tt := range []struct {
		u    float64
		want time.Duration
	}{
		{-1, 449 * us}, {0, 449 * us},
		{0.25, 509 * us}, // half way from 449 to 569
		{0.5, 569 * us}, {0.95, 627 * us}, {0.99, 872 * us},
		{0.995, 1036 * us}, // half way from 872 to 1,200
		{1, 1200 * us}, {2, 1200 * us},
	} {
		if got := model.DefaultLatency.Quantile(tt.u); (got - tt.want).Abs() > time.Nanosecond {
			t.Errorf("quantile %v: %v, want %v", tt.u, got, tt.want)
		}
	}
	if got := model.DefaultLatency.Quantile(math.NaN()); got != 1200*us {
		t.Errorf("quantile NaN: %v, want the largest", got)
	}
	// 0.5 × 509 + 0.45 × 598 + 0.04 × 749.5 + 0.01 × 1,036 = 563.94 µs.
	if got := model.DefaultLatency.Mean(); (got - 563940*time.Nanosecond).Abs() > time.Nanosecond {
		t.Errorf("mean %v, want 563.94 µs", got)
	}
}

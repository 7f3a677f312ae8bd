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

func TestLatencyValidate(t *testing.T) {
	const ms = time.Millisecond
	for name, tt := range map[string]struct {
		curve model.Latency
		ok    bool
	}{
		"default":       {model.DefaultLatency, true},
		"constant":      {model.Latency{{Share: 0, Within: ms}, {Share: 1, Within: ms}}, true},
		"empty":         {nil, false},
		"no end":        {model.Latency{{Share: 0, Within: ms}, {Share: 0.5, Within: ms}}, false},
		"no start":      {model.Latency{{Share: 0.5, Within: ms}, {Share: 1, Within: ms}}, false},
		"zero":          {model.Latency{{Share: 0, Within: 0}, {Share: 1, Within: ms}}, false},
		"negative":      {model.Latency{{Share: 0, Within: -ms}, {Share: 1, Within: ms}}, false},
		"falling":       {model.Latency{{Share: 0, Within: ms}, {Share: 0.5, Within: 3 * ms}, {Share: 1, Within: 2 * ms}}, false},
		"share twice":   {model.Latency{{Share: 0, Within: ms}, {Share: 0.5, Within: ms}, {Share: 0.5, Within: ms}, {Share: 1, Within: ms}}, false},
		"share unknown": {model.Latency{{Share: 0, Within: ms}, {Share: math.NaN(), Within: ms}, {Share: 1, Within: ms}}, false},
	} {
		if err := tt.curve.Validate(); (err == nil) != tt.ok {
			t.Errorf("%s: error %v, want none: %v", name, err, tt.ok)
		}
	}
}

func TestNamedLatencies(t *testing.T) {
	for name, mean := range map[string]time.Duration{
		"c5.large-gp2": 320 * time.Microsecond, "c5.large-gp3": 920 * time.Microsecond, "m5.xlarge-gp3": 563940 * time.Nanosecond,
	} {
		l, ok := model.NamedLatency(name)
		if !ok || l.Validate() != nil || (l.Mean()-mean).Abs() > 10*time.Nanosecond {
			t.Errorf("%s: mean %v, %v, want %v", name, l.Mean(), l.Validate(), mean)
		}
	}
	for _, name := range model.LatencyNames() {
		if _, ok := model.NamedLatency(name); !ok {
			t.Errorf("%s is listed but not known", name)
		}
	}
	if _, ok := model.NamedLatency("fast"); ok {
		t.Error("an unknown name was accepted")
	}
}

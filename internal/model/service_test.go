package model_test

import (
	"testing"
	"time"

	"ebscope/internal/model"
	"ebscope/internal/units"
)

func TestServiceOf(t *testing.T) {
	curve := func(ms time.Duration) model.Latency {
		return model.Latency{{Share: 0, Within: ms * time.Millisecond}, {Share: 1, Within: ms * time.Millisecond}}
	}
	s := model.Service{
		{Size: 4 * units.KiB, Latency: curve(1)}, {Size: 64 * units.KiB, Latency: curve(2)}, {Write: true, Size: units.MiB, Latency: curve(3)},
	}
	for _, tt := range []struct {
		write bool
		size  units.Bytes
		want  time.Duration
	}{
		{false, 4 * units.KiB, 1},
		{false, 512, 1},
		{false, 15 * units.KiB, 1}, // 15 ÷ 4 = 3.75 < 64 ÷ 15 = 4.27
		{false, 17 * units.KiB, 2}, // 64 ÷ 17 = 3.76 < 17 ÷ 4 = 4.25
		{false, units.MiB, 2},      // of reads, not the write of the same size
		{true, 4 * units.KiB, 3},
	} {
		if got := s.Of(tt.write, tt.size).Mean(); got != tt.want*time.Millisecond {
			t.Errorf("write %v of %v: %v, want %v ms", tt.write, tt.size, got, int64(tt.want))
		}
	}
	if got := s[:2].Of(true, 64*units.KiB).Mean(); got != 2*time.Millisecond {
		t.Errorf("a write where only reads are known: %v, want 2 ms", got)
	}
	if got := s.Slowest().Mean(); got != 3*time.Millisecond {
		t.Errorf("the slowest: %v, want 3 ms", got)
	}
	if s.Validate() != nil || (model.Service{}).Validate() == nil || (model.Service{{Size: 1}}).Validate() == nil {
		t.Error("Validate takes what has no curve, or refuses what has")
	}
}

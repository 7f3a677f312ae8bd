package workload_test

import (
	"testing"
	"time"

	"ebscope/internal/workload"
)

func TestWindow(t *testing.T) {
	for k, want := range map[float64]time.Duration{
		1: time.Second, 2: 500 * time.Millisecond,
		7:  143 * time.Millisecond, // 142.86
		20: 50 * time.Millisecond, 60: 50 * time.Millisecond, 1e6: 50 * time.Millisecond,
	} {
		if got := workload.Window(k); got != want {
			t.Errorf("window at compress %v: %v, want %v", k, got, want)
		}
	}
}

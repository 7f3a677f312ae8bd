package ebs_test

import (
	"testing"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

// 3 per GiB of 256 KiB: 333 GiB give 249.75 of 250 MiB/s, 334 GiB 250.5.
func TestInferredThroughput(t *testing.T) {
	for size, want := range map[units.Bytes]bool{170: false, 171: true, 333: true, 334: false, 1000: false} {
		if got := ebs.Embedded().Performance(ebs.Volume{Type: ebs.GP2, Size: size * units.GiB}).InferredThroughput(); got != want {
			t.Errorf("gp2 of %d GiB: %v, want %v", size, got, want)
		}
	}
	if ebs.Embedded().Performance(ebs.Volume{Type: ebs.GP3, Size: 200 * units.GiB, IOPS: 3000, Throughput: 750 * units.MiBPerSecond}).InferredThroughput() {
		t.Error("gp3 is documented")
	}
}

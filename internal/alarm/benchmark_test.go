package alarm_test

import (
	"fmt"
	"testing"

	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
)

func BenchmarkPlan(b *testing.B) {
	volumes := make([]fleet.Volume, 50_000)
	for i := range volumes {
		volumes[i] = volume(fleet.VolumeID(fmt.Sprintf("vol-%06d", i)), ebs.GP2, 100)
	}
	s := inSeoul(volumes...)
	for b.Loop() {
		if n := len(plan(s).Alarms); n != 150_002 {
			b.Fatal(n)
		}
	}
}

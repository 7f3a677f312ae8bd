package model_test

import (
	"math"
	"testing"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/units"
)

func st1(size units.Bytes) ebs.Performance {
	return ebs.Embedded().Performance(ebs.Volume{Type: ebs.ST1, Size: size})
}

// 1 TiB of st1: 250 MiB/s from a full bucket of 1 TiB of credits, refilled at 40 MiB/s, so for
// (1,048,576 − 250 of the first second's depth) ÷ 210 = 4,992 s. Compressed 60 times: (17,476.3 − 4.2) ÷ 210 = 83.2 s.
func TestCreditsOfAnHDD(t *testing.T) {
	v := model.NewVolume(st1(units.TiB), 60, nil)
	if got := v.DataCreditCapacity().GiB(); math.Abs(got-1024./60) > 0.001 {
		t.Errorf("capacity %v GiB, want 1 TiB ÷ 60", got)
	}
	perSecond := make([]int, 91)
	for {
		a := v.AdmitSequential(0, units.MiB)
		if a.At >= 90*time.Second {
			if a.Limit != model.VolumeBaselineThroughput {
				t.Errorf("without credits the limit is %s, want %s", a.Limit, model.VolumeBaselineThroughput)
			}
			break
		}
		perSecond[a.At/time.Second]++
	}
	for second, want := range map[int]int{10: 250, 82: 250, 84: 40, 89: 40} {
		if got := perSecond[second]; got < want-1 || got > want+1 {
			t.Errorf("second %d: %d MiB, want %d", second, got, want)
		}
	}
	if v.Credits(0) != 0 || v.CreditCapacity() != 0 {
		t.Error("an HDD has I/O credits")
	}
}

// At random, each I/O of 4 KiB costs an HDD a full MiB: 250 a second while credits last, then 40.
func TestRandomIOOnAnHDD(t *testing.T) {
	v := model.NewVolume(st1(units.TiB), 1, nil)
	if got := saturate(v, 0, 5*time.Second, block)[3]; got != 250 {
		t.Errorf("with credits %d IOPS, want 250", got)
	}
	v.SetCredits(10*time.Second, 0)
	if got := saturate(v, 10*time.Second, 20*time.Second, block)[6]; got != 40 {
		t.Errorf("without credits %d IOPS, want 40", got)
	}
	// Sequential I/O of 64 KiB is merged: 250 MiB/s are 4,000 of it, far above the 500 operations.
	if got := sequential(model.NewVolume(st1(units.TiB), 1, nil), 64*units.KiB)[3]; got != 4000 {
		t.Errorf("sequential: %d I/Os a second, want 4,000", got)
	}
}

func sequential(v *model.Volume, size units.Bytes) (perSecond [5]int) {
	for {
		a := v.AdmitSequential(0, size)
		if a.At >= 5*time.Second {
			return perSecond
		}
		perSecond[a.At/time.Second]++
	}
}

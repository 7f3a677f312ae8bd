package emulate_test

import (
	"testing"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/emulate"
	"ebscope/internal/units"
)

// 1 TiB of st1 gives 250 MiB/s while credits last, with a bucket of one second's depth. At random each I/O uses up a MiB
// of it, though it transfers 64 KiB: 500 take (500 − 250) ÷ 250 = 1 s. In sequence they are merged: 31 MiB, for which
// nothing waits.
func TestHDD(t *testing.T) {
	const (
		block = 64 * units.KiB
		limit = 900 * time.Millisecond
	)
	took := func(t *testing.T, offset func(i int64) int64) time.Duration {
		t.Helper()
		records(t)
		d := attach(t, emulate.Config{Volume: ebs.Volume{Type: ebs.ST1, Size: units.TiB}, FileOnly: true})
		file := open(t, d)
		if err := d.Host().Start(); err != nil {
			t.Fatal(err)
		}
		buf, start := buffer(int(block)), time.Now()
		for i := range int64(500) {
			if _, err := file.ReadAt(buf, offset(i)); err != nil {
				t.Fatal(err)
			}
		}
		return time.Since(start)
	}
	t.Run("random", func(t *testing.T) {
		if got := took(t, func(i int64) int64 { return (i*7919%1021 + 1) * 100 * int64(units.MiB) }); got < limit {
			t.Errorf("took %v, want 1 s", got)
		}
	})
	t.Run("sequential", func(t *testing.T) {
		if got := took(t, func(i int64) int64 { return i * int64(block) }); got > limit {
			t.Errorf("took %v, want far less than 1 s", got)
		}
	})
}

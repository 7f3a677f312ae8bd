package emulate

import (
	"os"
	"testing"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

// A machine that reacts in another time than when it was calibrated is followed: an overhead that is far off comes back
// while a program reads.
func TestOverheadFollows(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs a loop device: sudo go test ./internal/emulate")
	}
	d, err := Attach(t.Context(), Config{Name: "follow", Volume: ebs.Volume{Type: ebs.GP3, Size: units.GiB}})
	if err != nil {
		t.Skipf("%v; to run this test: modprobe fuse loop, apt-get install fuse3, be root", err)
	}
	defer func() {
		if err := d.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	v, meter := d.volume, d.attachment.meter
	if meter.ratio < 1 {
		t.Fatalf("the whole way takes %.2f times the block layer's share of it, want more than 1", meter.ratio)
	}
	const wrong = time.Nanosecond
	v.setOverhead(wrong)
	v.setProbe(calibrationLatency)
	defer v.setProbe(0)
	for range 20 {
		if _, err := timeReadsElsewhere(t.Context(), d.Path()); err != nil {
			t.Fatal(err)
		}
		// No machine has yet done it in less than 20 µs.
		if got := overheadOf(v); 20*time.Microsecond < got && got <= maxOverhead {
			return
		}
	}
	t.Errorf("after 2,000 reads the overhead is %v, want some tens of microseconds", overheadOf(v))
}

func TestTally(t *testing.T) {
	// 300 I/Os in 150 ms, of which 100 in 30 ms were earlier: 200 in 120 ms, 0.6 ms each.
	got := tally{100, 30 * time.Millisecond}.plus(tally{200, 120 * time.Millisecond}).since(tally{100, 30 * time.Millisecond})
	if got.mean() != 600*time.Microsecond {
		t.Errorf("%+v, mean %v; want 0.6 ms", got, got.mean())
	}
	if got := tallyOf([]time.Duration{2, 4}); got != (tally{2, 6}) {
		t.Errorf("%+v, want 2 I/Os in 6 ns", got)
	}
	if got := (tally{}).mean(); got != 0 {
		t.Errorf("no I/O takes %v, want 0", got)
	}
}

func overheadOf(v *volume) time.Duration {
	v.host.mu.Lock()
	defer v.host.mu.Unlock()
	return v.overhead
}

package emulate_test

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"ebscope/internal/emulate"
	"ebscope/internal/model"
)

// attempts lets a test of a figure try again: on a shared machine something else may run for a second.
const attempts = 5

// figure runs a measurement until it comes out as it should. Where it never does, and other work kept the machine busy
// each time, the test is skipped.
func figure(t *testing.T, measure func(t *testing.T) error) {
	t.Helper()
	needsFio(t)
	records(t)
	busy := 0
	var err error
	for range attempts {
		idle := idleShare(t)
		if err = measure(t); err == nil {
			return
		}
		idle = min(idle, idleShare(t))
		t.Logf("with %.0f %% of the processors idle before and after: %v", idle*100, err)
		if idle < 0.7 {
			busy++
		}
	}
	if busy == attempts {
		t.Skip("the machine is busy; when it is not, run: go test ./internal/emulate")
	}
	t.Error(err)
}

// idleShare watches for a moment how much of the processors nobody uses.
func idleShare(t *testing.T) float64 {
	t.Helper()
	idle, all := cpuTimes(t)
	time.Sleep(300 * time.Millisecond)
	idleNow, allNow := cpuTimes(t)
	return (idleNow - idle) / (allNow - all)
}

// cpuTimes returns the idle time and all time of all processors since the start, in ticks (proc(5), /proc/stat).
func cpuTimes(t *testing.T) (idle, all float64) {
	t.Helper()
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(stat), "\n")
	for i, field := range strings.Fields(line)[1:] {
		ticks, err := strconv.ParseFloat(field, 64)
		if err != nil {
			t.Fatal(err)
		}
		all += ticks
		if i == 3 {
			idle = ticks
		}
	}
	return idle, all
}

// live attaches a volume whose clock runs.
func live(t *testing.T, cfg emulate.Config) *emulate.Device {
	t.Helper()
	cfg.Latency = model.DefaultLatency
	d := attach(t, cfg)
	if err := d.Host().Start(); err != nil {
		t.Fatal(err)
	}
	return d
}

// samples checks every one-second sample but the first, which has the bucket's content on top, and the last, which
// may be cut short.
func samples(run fioRun, want, share float64) error {
	var errs []error
	for i, n := range run.perSecond[1 : len(run.perSecond)-1] {
		if err := within(n, want, share); err != nil {
			errs = append(errs, fmt.Errorf("second %d: %w", i+1, err))
		}
	}
	return errors.Join(errs...)
}

func TestRateAt3000(t *testing.T) {
	figure(t, func(t *testing.T) error {
		run := fio(t, live(t, emulate.Config{Volume: gp3}), "randread", "4k", 32, 8*time.Second)
		// 3,000 from the full bucket and 3,000 that flow in.
		return errors.Join(within(run.perSecond[0], 6000, 0.01), samples(run, 3000, 0.002))
	})
}

func TestRateAt300(t *testing.T) {
	figure(t, func(t *testing.T) error {
		d := live(t, emulate.Config{Volume: gp2})
		d.SetCredits(0)
		run := fio(t, d, "randwrite", "4k", 32, 8*time.Second)
		// Little's law: 32 outstanding ÷ 300 per second = 106.7 ms.
		return errors.Join(samples(run, 300, 0.007), within(run.p50.Seconds(), 0.1067, 0.01))
	})
}

func TestServiceLatency(t *testing.T) {
	figure(t, func(t *testing.T) error {
		run := fio(t, live(t, emulate.Config{Volume: gp3}), "randread", "4k", 1, 5*time.Second)
		return errors.Join(
			errorf("mean", within(run.mean.Seconds(), 0.564e-3, 0.03)),
			errorf("p50", within(run.p50.Seconds(), 0.569e-3, 0.05)))
	})
}

func TestThrottledLatency(t *testing.T) {
	figure(t, func(t *testing.T) error {
		d := live(t, emulate.Config{Volume: gp2})
		d.SetCredits(0)
		run := fio(t, d, "randread", "4k", 1, 5*time.Second)
		// One operation at a time at 300 per second: 3.333 ms each.
		return errorf("p50", within(run.p50.Seconds(), 3.333e-3, 0.01))
	})
}

func TestSequentialThroughput(t *testing.T) {
	figure(t, func(t *testing.T) error {
		run := fio(t, live(t, emulate.Config{Volume: gp3}), "write", "1m", 8, 5*time.Second)
		// Full seconds of 125 MiB each; the first has 125 MiB of bucket content on top.
		return samples(run, 125, 0.02)
	})
}

// K = 600: (5.4 M ÷ 600 − 3,000 ÷ 600) ÷ (3,000 − 300) = 8,995 ÷ 2,700 = 3.331 s at 3,000, then 300. Second 3 → 4 has
// 0.331 × 3,000 + 0.669 × 300 = 1,195.
func TestCompressedCliff(t *testing.T) {
	figure(t, func(t *testing.T) error {
		d := attach(t, emulate.Config{Volume: gp2, Compress: 600, Latency: model.DefaultLatency})
		if err := d.Host().BeginPhase(); err != nil {
			t.Fatal(err)
		}
		run := fio(t, d, "randread", "4k", 32, 7*time.Second)
		d.Host().EndPhase()
		var errs []error
		for second, want := range map[int]float64{1: 3000, 2: 3000, 4: 300, 5: 300} {
			errs = append(errs, errorf(fmt.Sprintf("second %d", second), within(run.perSecond[second], want, 0.01)))
		}
		// 27 operations are 10 ms of the cliff's time.
		errs = append(errs, errorf("second 3", within(run.perSecond[3], 1195, 0.023)))
		if credits := d.Stats().Credits; credits > 2 {
			errs = append(errs, fmt.Errorf("%v credits are left, want none", credits))
		}
		return errors.Join(errs...)
	})
}

func errorf(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// Perf compares an emulated volume with another way to get a throttled disk: QEMU's storage daemon, its throttle driver
// and an NBD socket. Both have the same limits: 3,000 IOPS until 60,000 operations beyond 300 a second are spent, then
// 300. The same fio job drives both.
//
//	go run ./perf
//
// It needs root, fio with the nbd engine, and qemu-storage-daemon (Debian: fio, qemu-system-common).
package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"text/tabwriter"
	"time"
)

const (
	burst, baseline = 3000.0, 300.0
	credits         = 60_000.0
	// cliff is when the credits are spent: each second at the burst rate takes 3,000 and 300 flow in.
	cliff = credits / (burst - baseline)

	throttledTime = 30 * time.Second
	topSpeedTime  = 5 * time.Second
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "perf:", err)
		os.Exit(1)
	}
}

// contender is a way to get a throttled disk.
type contender struct {
	name string
	// open makes a disk, throttled or as fast as it goes, and returns the options with which fio reaches it.
	open func(ctx context.Context, dir string, throttled bool) (fio []string, closer func() error, err error)
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	contenders := []contender{{"ebscope", openEmulated}, {"qemu", openQEMU}}
	var all []figures
	for _, c := range contenders {
		f, err := measure(ctx, c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		all = append(all, f)
	}
	return report(all[0], all[1])
}

// figures is what is compared.
type figures struct {
	burstError, baselineError float64 // largest deviation of a one-second sample, as a share
	cliffError                float64 // of the instant of the fall, as a share
	deep, single              float64 // unthrottled IOPS at depth 32 and 1
}

func measure(ctx context.Context, c contender) (f figures, err error) {
	throttled, err := drive(ctx, c, true, 32, throttledTime)
	if err != nil {
		return f, err
	}
	// The first sample has what the disk grants at once; the fall is in second 22.
	f.burstError = deviation(throttled.perSecond[1:21], burst)
	f.baselineError = deviation(throttled.perSecond[24:len(throttled.perSecond)-1], baseline)
	f.cliffError = math.Abs(cliffInstant(throttled.perSecond)-cliff) / cliff
	deep, err := drive(ctx, c, false, 32, topSpeedTime)
	if err != nil {
		return f, err
	}
	single, err := drive(ctx, c, false, 1, topSpeedTime)
	f.deep, f.single = deep.iops, single.iops
	return f, err
}

// cliffInstant is when a disk that gave these numbers of operations fell, if it gave the burst rate before and the
// baseline after: total = burst × t + baseline × (length − t).
func cliffInstant(perSecond []float64) float64 {
	var total float64
	for _, n := range perSecond {
		total += n
	}
	return (total - baseline*float64(len(perSecond))) / (burst - baseline)
}

func deviation(samples []float64, want float64) (largest float64) {
	for _, n := range samples {
		largest = max(largest, math.Abs(n-want)/want)
	}
	return largest
}

func drive(ctx context.Context, c contender, throttled bool, depth int, length time.Duration) (_ fioRun, err error) {
	dir, err := os.MkdirTemp("", "ebscope-perf-*")
	if err != nil {
		return fioRun{}, err
	}
	defer os.RemoveAll(dir)
	options, closer, err := c.open(ctx, dir, throttled)
	if err != nil {
		return fioRun{}, err
	}
	defer func() { err = errors.Join(err, closer()) }()
	return runFio(ctx, dir, options, depth, length)
}

func report(ours, theirs figures) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tebscope\tqemu-storage-daemon\tratio\t")
	percent := func(name string, a, b float64) {
		fmt.Fprintf(w, "%s\t%.2f %%\t%.2f %%\t%s\t\n", name, a*100, b*100, ratio(a, b))
	}
	rate := func(name string, a, b float64) {
		fmt.Fprintf(w, "%s\t%.0f\t%.0f\t%s\t\n", name, a, b, ratio(a, b))
	}
	percent("largest error at 3,000 IOPS", ours.burstError, theirs.burstError)
	percent("largest error at 300 IOPS", ours.baselineError, theirs.baselineError)
	percent("error of the instant of the fall", ours.cliffError, theirs.cliffError)
	rate("unthrottled IOPS, depth 32", ours.deep, theirs.deep)
	rate("unthrottled IOPS, depth 1", ours.single, theirs.single)
	return w.Flush()
}

func ratio(a, b float64) string {
	if b == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", a/b)
}

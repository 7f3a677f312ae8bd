//go:build unix

// Simulate measures how fast profiles are simulated: the whole command, the simulation alone, and the same beside the
// heap of events that it is tested against and a discrete-event model in Python.
//
//	go run ./perf/simulate
//
// Without python3 the last is left out.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"text/tabwriter"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/simulate"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

const (
	attempts = 5 // the best counts: the others say what else the machine did

	timeLimit   = 800 * time.Millisecond
	memoryLimit = 64 << 20
	rateWanted  = 15e6
	// growth is how much longer an I/O of the ten times longer run may take.
	growth = 1.2

	pythonSeconds = 60 // of virtual time
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "perf:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	profile, err := workload.Shipped(ebs.Embedded(), "gp2-vs-gp3")
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	took, elapsed, memory, err := command(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "ebscope simulate, 70 minutes, one core\t%.2f s\tat most %.2f s\t\n", took.Seconds(), timeLimit.Seconds())
	fmt.Fprintf(w, "… from start to end\t%.2f s\t\t\n", elapsed.Seconds())
	fmt.Fprintf(w, "… peak memory\t%d MiB\tat most %d MiB\t\n", memory>>20, memoryLimit>>20)
	whole, err := rate(ctx, profile, 1)
	if err != nil {
		return err
	}
	tenth, err := rate(ctx, profile, 10)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "I/Os a second, with histograms\t%.1f million\tat least %.0f million\t\n", whole/1e6, rateWanted/1e6)
	fmt.Fprintf(w, "… of a tenth of the run\t%.1f million\tratio %.2f\t\n", tenth/1e6, whole/tenth)
	heap, err := reference(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "… of the heap of events in Go\t%.1f million\tratio %.0f\t\n", heap/1e6, whole/heap)
	switch python, err := inPython(ctx); {
	case errors.Is(err, exec.ErrNotFound):
		fmt.Fprintln(w, "… of processes in Python\tno python3\t\t")
	case err != nil:
		return err
	default:
		fmt.Fprintf(w, "… of processes in Python\t%.2f million\tratio %.0f\t\n", python/1e6, whole/python)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if took > timeLimit || memory > memoryLimit || whole < rateWanted || tenth > growth*whole {
		return errors.New("a figure misses what is wanted of it")
	}
	return nil
}

// command runs the built program on one core and returns its processor time, the time from start to end, and its memory.
func command(ctx context.Context) (took, elapsed time.Duration, memory int64, err error) {
	dir, err := os.MkdirTemp("", "ebscope-perf-*")
	if err != nil {
		return 0, 0, 0, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "ebscope")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/ebscope").CombinedOutput(); err != nil {
		return 0, 0, 0, fmt.Errorf("build: %w: %s", err, out)
	}
	took, elapsed = math.MaxInt64, math.MaxInt64
	for range attempts {
		cmd := exec.CommandContext(ctx, program, "simulate", "--profile", "gp2-vs-gp3", "--compress", "1", "-o", "json")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOMAXPROCS=1")
		start := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			return 0, 0, 0, fmt.Errorf("simulate: %w: %s", err, out)
		}
		elapsed = min(elapsed, time.Since(start))
		took = min(took, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			memory = max(memory, usage.Maxrss*1024)
		}
	}
	return took, elapsed, memory, nil
}

// rate is the number of I/Os simulated in a second of processor time.
func rate(ctx context.Context, profile workload.Profile, compress float64) (best float64, err error) {
	for range attempts {
		start := processorTime()
		phases, err := simulate.Run(ctx, ebs.Embedded(), profile, compress, nil)
		if err != nil {
			return 0, err
		}
		var ios int64
		for _, p := range phases {
			ios += p.Measurement.Total.IOs
		}
		best = max(best, float64(ios)/(processorTime()-start).Seconds())
	}
	return best, nil
}

// processorTime is what this process has used of all cores: another load on the machine does not count.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // cannot be: the argument is a constant
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// reference is the rate of the heap of events, which lives beside the tests.
func reference(ctx context.Context) (best float64, err error) {
	out, err := exec.CommandContext(ctx, "go", "test", "./internal/simulate", "-run", "^$", "-bench", "Reference", "-benchtime", "1x",
		"-count", strconv.Itoa(attempts)).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("go test: %w: %s", err, out)
	}
	for _, m := range regexp.MustCompile(`([0-9.]+) MIO/s`).FindAllSubmatch(out, -1) {
		x, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			return 0, err
		}
		best = max(best, x*1e6)
	}
	if best == 0 {
		return 0, fmt.Errorf("go test printed no rate: %s", out)
	}
	return best, nil
}

// inPython is the rate of the model in Python, which must come to the same number of I/Os.
func inPython(ctx context.Context) (rate float64, err error) {
	if _, err := exec.LookPath("python3"); err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, "python3", "perf/simulate/model.py", strconv.Itoa(pythonSeconds))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("python3: %w: %s", err, stderr.Bytes())
	}
	var ios, seconds float64
	if _, err := fmt.Sscan(string(out), &ios, &seconds); err != nil {
		return 0, fmt.Errorf("python3 printed %q: %w", out, err)
	}
	ours, err := sameInGo(ctx)
	if err != nil {
		return 0, err
	}
	if math.Abs(ios/ours-1) > 1e-3 {
		return 0, fmt.Errorf("the model in Python did %.0f I/Os, ours %.0f", ios, ours)
	}
	return ios / seconds, nil
}

// sameInGo simulates what the model in Python does and counts its I/Os.
func sameInGo(ctx context.Context) (float64, error) {
	profile := workload.Profile{
		Name: "peer", Instance: "m5.xlarge", Region: "us-east-1", FileSize: units.MiB,
		Volumes: []workload.Volume{{Name: "gp2", Config: ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}, Balance: 1}},
		Phases: []workload.Phase{
			{Name: "layout", Volume: "gp2", Pattern: workload.Write, BlockSize: units.MiB, QueueDepth: 1, Jobs: 1},
			{Name: "read", Volume: "gp2", Pattern: workload.RandRead, BlockSize: 4 * units.KiB, QueueDepth: 32, Jobs: 1,
				Duration: pythonSeconds * time.Second, Rest: time.Minute},
		},
	}
	phases, err := simulate.Run(ctx, ebs.Embedded(), profile, 1, nil)
	if err != nil {
		return 0, err
	}
	return float64(phases[1].Measurement.Total.IOs), nil
}

//go:build unix

// Logs measures how fast a log of fio is read: ten million I/Os, 400 MB, on one processor and on two, beside awk and
// fio2gnuplot on the same file.
//
//	go run ./perf/logs
//
// Each runs as a process of its own and is counted by its processor time, so that other programs disturb less; the gain
// by a second processor is of elapsed time, and so beside it stands what two processes of one processor each gain at
// once: the most that the machine gives just now. Without awk or fio2gnuplot these are left out.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"text/tabwriter"
	"time"

	"ebscope/internal/fio/log"
)

const (
	lines    = 10_000_000
	attempts = 5 // the best counts: the others say what else the machine did

	awkWanted     = 5.0
	gnuplotWanted = 60.0
	secondWanted  = 1.8
	partWanted    = 0.95 // of what the machine gives, where that is less
	memoryLimit   = 64 << 20

	// program counts lines and sums up values by direction. The reader does more: extremes, and latencies by window.
	program = `{n[$3]++; s[$3] += $2} END {for (d in n) print d, n[d], s[d]}`
)

func main() {
	var err error
	if len(os.Args) > 1 {
		err = read(os.Args[1])
	} else {
		err = run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "perf:", err)
		os.Exit(1)
	}
}

// read is what the process under test does.
func read(file string) error {
	f, err := os.Open(file) //nolint:gosec // the file is the one that this program generated
	if err != nil {
		return err
	}
	defer f.Close()
	l, err := log.ReadLog(file, f, log.Options{})
	if err != nil {
		return err
	}
	if l.Lines != lines {
		return fmt.Errorf("%d lines were read of %d", l.Lines, lines)
	}
	return nil
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "ebscope-perf-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "perf_lat.1.log")
	size, err := generate(file)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	speed := func(d time.Duration) float64 { return float64(size) / 1e6 / d.Seconds() }

	// In turns, so that both meet the same machine.
	var one, two taken
	var pair time.Duration // for both of two processes
	for range attempts {
		if err := one.better(ctx, dir, "GOMAXPROCS=1", self, file); err != nil {
			return err
		}
		if err := two.better(ctx, dir, "GOMAXPROCS=2", self, file); err != nil {
			return err
		}
		now, err := both(ctx, dir, self, file)
		if err != nil {
			return err
		}
		if pair == 0 || now < pair {
			pair = now
		}
	}
	second, machine := one.elapsed.Seconds()/two.elapsed.Seconds(), 2*one.elapsed.Seconds()/pair.Seconds()
	wanted := min(secondWanted, partWanted*machine)
	memory := max(one.memory, two.memory)
	fmt.Fprintf(w, "%d million lines, one processor\t%.0f MB/s\t\t\t\n", lines/1_000_000, speed(one.processor))
	fmt.Fprintf(w, "… two processors\t%.0f MB/s\tratio %.2f\tat least %.2f\t\n", speed(two.elapsed), second, wanted)
	fmt.Fprintf(w, "… two processes, a processor each\t%.0f MB/s\tratio %.2f\t\t\n", 2*speed(pair), machine)
	fmt.Fprintf(w, "… peak memory\t%d MiB\t\tat most %d\t\n", memory>>20, memoryLimit>>20)
	missed := second < wanted || memory > memoryLimit

	for _, peer := range []struct {
		name      string
		wanted    float64
		attempts  int
		arguments []string
	}{
		{"awk", awkWanted, attempts, []string{"-F,", program, file}},
		{"fio2gnuplot", gnuplotWanted, 1, []string{"-p", filepath.Base(file)}}, // half a minute
	} {
		var least taken
		var err error
		for i := 0; i < peer.attempts && err == nil; i++ {
			err = least.better(ctx, dir, "", peer.name, peer.arguments...)
		}
		if errors.Is(err, exec.ErrNotFound) {
			fmt.Fprintf(w, "… %s\tis not installed\t\t\t\n", peer.name)
			continue
		}
		if err != nil {
			return err
		}
		ratio := least.processor.Seconds() / one.processor.Seconds()
		fmt.Fprintf(w, "… %s\t%.0f MB/s\tratio %.1f\tat least %.0f\t\n", peer.name, speed(least.processor), ratio, peer.wanted)
		missed = missed || ratio < peer.wanted
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if missed {
		return errors.New("a figure misses what is wanted of it")
	}
	return nil
}

// generate writes a log of latencies of 45 minutes, in which there are about four I/Os a ms.
func generate(file string) (size int64, err error) {
	f, err := os.Create(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	r := rand.New(rand.NewPCG(1, 2))
	var line []byte
	for i := range lines {
		line = strconv.AppendInt(line[:0], int64(i)*2_700_000/lines, 10)
		line = strconv.AppendInt(append(line, ", "...), 200_000+r.Int64N(800_000), 10)
		line = strconv.AppendInt(append(line, ", "...), r.Int64N(2), 10)
		line = strconv.AppendInt(append(line, ", 4096, "...), r.Int64N(100<<30)&^4095, 10)
		line = append(line, ", 0\n"...)
		if _, err := w.Write(line); err != nil {
			return 0, err
		}
		size += int64(len(line))
	}
	return size, errors.Join(w.Flush(), f.Close())
}

// taken is what a process took.
type taken struct {
	processor, elapsed time.Duration
	memory             int64
}

// better runs a process once more, and keeps the least that it took, and the most memory.
func (t *taken) better(ctx context.Context, dir, env, name string, arguments ...string) error {
	now, err := once(ctx, dir, env, name, arguments...)
	if err != nil {
		return err
	}
	if t.elapsed == 0 {
		*t = now
	}
	t.processor, t.elapsed, t.memory = min(t.processor, now.processor), min(t.elapsed, now.elapsed), max(t.memory, now.memory)
	return nil
}

// both runs the process twice at once, with one processor each, and returns the time until both have ended.
func both(ctx context.Context, dir, name, file string) (time.Duration, error) {
	start := time.Now()
	other := make(chan error, 1)
	go func() {
		_, err := once(ctx, dir, "GOMAXPROCS=1", name, file)
		other <- err
	}()
	_, err := once(ctx, dir, "GOMAXPROCS=1", name, file)
	return time.Since(start), errors.Join(err, <-other)
}

func once(ctx context.Context, dir, env, name string, arguments ...string) (taken, error) {
	cmd := exec.CommandContext(ctx, name, arguments...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env)
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return taken{}, fmt.Errorf("%s: %w: %s", name, err, out)
	}
	t := taken{processor: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), elapsed: time.Since(start)}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		t.memory = usage.Maxrss << 10 // Linux counts it in KiB
	}
	return t, nil
}

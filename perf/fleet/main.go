//go:build unix

// Fleet measures the work on a large fleet against servers on the loopback interface, in a process of their own: an account of
// 50,000 volumes and 2,000 instances is scanned, a cluster of 10,000 claims is read and joined, a migration of 50,000 volumes is
// planned, and one of 2,000 carried out.
//
//	go run ./perf/fleet
//
// CloudWatch admits so many data points a second that the metrics of this fleet take longer than the work on them. What the rate
// alone costs is stated, the work is measured without it, and a smaller part with it, to see that it is kept.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"
	"time"
)

const (
	volumes, creditVolumes, machines = 50_000, 5_000, 2_000
	claims                           = 10_000
	changes                          = 2_000

	scanWanted   = time.Minute
	memoryWanted = 512 << 20
	joinWanted   = 5 * time.Second
	planWanted   = 3 * time.Second
	// occupied is the share of the room for changes that has to be in use on average while changes wait: a look at all of
	// them comes before each refill.
	occupied = 0.9
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "serve" {
		if err := serve(); err != nil {
			fmt.Fprintln(os.Stderr, "perf: serve:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "perf:", err)
		os.Exit(1)
	}
}

// report is a table of figures, and what of them is not as it should be.
type report struct {
	table  *tabwriter.Writer
	faults []error
}

func (r *report) row(name, is, wanted string) {
	fmt.Fprintf(r.table, "%s\t%s\t%s\t\n", name, is, wanted)
}

// hold says in a row how long something took, and whether that is too long.
func (r *report) hold(name string, took, most time.Duration) {
	r.row(name, fmt.Sprintf("%.2f s", took.Seconds()), fmt.Sprintf("at most %.0f", most.Seconds()))
	if took > most {
		r.fault("%s took %v: want at most %v", name, took.Round(time.Millisecond), most)
	}
}

func (r *report) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf(format, args...))
}

func run() (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	fakes, err := start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fakes.stop()) }()
	r := &report{table: tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)}
	for _, part := range []func(context.Context, *report, *servers) error{scan, join, plan, apply} {
		err := part(ctx, r, fakes)
		if err := errors.Join(err, r.table.Flush()); err != nil { // each part is seen when it is done
			return err
		}
	}
	return errors.Join(r.faults...)
}

// peakMemory is what the process held at most.
func peakMemory() (int64, error) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Maxrss << 10, err // Linux counts it in KiB
}

//go:build unix

// Forecast measures how fast loads are followed: steps of single volumes in fluid form, beside the same hours I/O by I/O, and a
// fleet that streams through.
//
//	go run ./perf/forecast
package main

import (
	"fmt"
	"iter"
	"math"
	"os"
	"syscall"
	"text/tabwriter"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/forecast"
	"ebscope/internal/model"
	"ebscope/internal/units"
)

const (
	block    = 4 * units.KiB
	interval = 5 * time.Minute // as CloudWatch has it
	day      = int(24 * time.Hour / interval)

	fleet       = 100_000
	points      = 4_032 // two weeks
	memoryLimit = 512 << 20
	stepsWanted = 100e6
	measureTime = time.Second
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "perf:", err)
		os.Exit(1)
	}
}

func run() error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fluid, events := steps(quiet(150)), eventSteps()
	fmt.Fprintf(w, "volume-steps a second, one core\t%.0f million\t\n", fluid/1e6)
	fmt.Fprintf(w, "… of a volume that is always behind\t%.0f million\t\n", steps(quiet(310))/1e6)
	fmt.Fprintf(w, "… I/O by I/O\t%.0f\tratio %.0f\t\n", events, fluid/events)

	start := processorTime()
	dry := streamFleet()
	took := (processorTime() - start).Seconds()
	memory := peakMemory()
	fmt.Fprintf(w, "fleet of %d volumes × %d points\t%.1f s\t%.0f million points a second\t\n", fleet, points, took, fleet*points/took/1e6)
	fmt.Fprintf(w, "… volumes that run dry\t%d\t\n", dry)
	fmt.Fprintf(w, "… peak memory\t%d MiB\tat most %d\t\n", memory>>20, memoryLimit>>20)
	if err := w.Flush(); err != nil {
		return err
	}
	if fluid < stepsWanted || memory > memoryLimit {
		return fmt.Errorf("%.0f million steps a second and %d MiB: want %.0f million and %d MiB", fluid/1e6, memory>>20, stepsWanted/1e6, memoryLimit>>20)
	}
	return nil
}

func volume(gib units.Bytes) *model.Volume {
	return model.NewVolume(ebs.Embedded().Performance(ebs.Volume{Type: ebs.GP2, Size: gib * units.GiB}), 1, nil)
}

// quiet is a day around a level, with half an hour at 2,900 IOPS.
func quiet(level float64) []units.IOPS {
	rates := make([]units.IOPS, day)
	for i := range rates {
		rates[i] = units.IOPS(level * (1 + math.Sin(float64(i)/float64(day)*2*math.Pi)/2))
		if i >= day/2 && i < day/2+6 {
			rates[i] = 2900
		}
	}
	return rates
}

// steps measures how many steps a second a volume of 100 GiB makes through a day, again and again.
func steps(rates []units.IOPS) float64 {
	demands := make([]model.Demand, len(rates))
	for i, r := range rates {
		demands[i] = model.Demand{Operations: r, Throughput: units.Throughput(r) * units.Throughput(block)}
	}
	f := model.NewFluid(volume(100), 0)
	n, start := 0, processorTime()
	for processorTime()-start < measureTime {
		for range 1000 {
			for _, d := range demands {
				f.Advance(interval, d)
			}
		}
		n += 1000 * len(demands)
	}
	return float64(n) / (processorTime() - start).Seconds()
}

// eventSteps measures the same with every I/O admitted.
func eventSteps() float64 {
	v := volume(100)
	var clock time.Duration
	n, start := 0, processorTime()
	for processorTime()-start < measureTime {
		for _, rate := range quiet(150) {
			ios := int(float64(rate) * interval.Seconds())
			for i := range ios {
				v.Admit(clock+interval*time.Duration(i)/time.Duration(ios), block)
			}
			clock += interval
			n++
		}
	}
	return float64(n) / (processorTime() - start).Seconds()
}

// streamFleet follows a fleet whose points are generated as they are asked for, and counts the volumes that run dry.
func streamFleet() (dry int) {
	for id := range fleet {
		if forecast.Run(model.NewFluid(volume(units.Bytes(10+id%990)), 0), demand(id)).Empty {
			dry++
		}
	}
	return dry
}

// demand is two weeks of a volume: a day of its own level, again and again.
func demand(id int) iter.Seq[forecast.Interval] {
	level := float64(20 + id%400)
	return func(yield func(forecast.Interval) bool) {
		for i := range points {
			rate := level
			if i%day >= day/2 && i%day < day/2+12 {
				rate *= 10
			}
			if !yield(forecast.Interval{Length: interval, Load: forecast.Of(units.IOPS(rate), block)}) {
				return
			}
		}
	}
}

// processorTime is what the process has computed so far. Other than the clock it does not count what others compute.
func processorTime() time.Duration {
	u := usage()
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakMemory is what the process held at most.
func peakMemory() int64 {
	return usage().Maxrss << 10 // Linux counts it in KiB
}

func usage() (u syscall.Rusage) {
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it has no other reason to fail than a wrong argument
	}
	return u
}

package cli

import (
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"strings"
	"time"

	"ebscope/internal/forecast"
	"ebscope/internal/model"
	"ebscope/internal/report"
	"ebscope/internal/units"
)

func parseBlock(text string) (units.Bytes, error) {
	size, _, err := units.ParseSize(text, 1)
	if err != nil {
		return 0, fmt.Errorf("--block-size: %w", err)
	}
	if size > forecast.LargestIO {
		return 0, fmt.Errorf("--block-size %v: at most %v", size, forecast.LargestIO)
	}
	return size, nil
}

// parseHistory reads a load of stretches, such as "480s@3000,780s@0".
func parseHistory(text string, block units.Bytes) ([]forecast.Interval, error) {
	if text == "" {
		return nil, nil
	}
	var all []forecast.Interval
	for part := range strings.SplitSeq(text, ",") {
		length, rate, ok := strings.Cut(strings.TrimSpace(part), "@")
		d, err := time.ParseDuration(length)
		if !ok || err != nil || d <= 0 || d > forecast.Longest {
			return nil, fmt.Errorf("--after %q: write stretches like 480s@3000,780s@0, a time and I/Os a second", part)
		}
		iops, err := strconv.ParseFloat(rate, 64)
		if err != nil {
			return nil, fmt.Errorf("--after %q: %q is not a number of I/Os a second", part, rate)
		}
		if err := checkRate(iops); err != nil {
			return nil, fmt.Errorf("--after %q: %w", part, err)
		}
		all = append(all, forecast.Interval{Length: d, Load: forecast.Of(units.IOPS(iops), block)})
	}
	return all, nil
}

// forecastSeries follows a demand series: of one volume, or, where its lines name volumes, of a fleet.
func forecastSeries(o forecastOptions, given func(string) bool, stdin io.Reader, stdout io.Writer) error {
	name := o.demand
	if name == "-" {
		name = "standard input"
	} else {
		f, err := os.Open(o.demand)
		if err != nil {
			return usage("--demand: %w", err)
		}
		defer f.Close()
		stdin = f
	}
	samples := forecast.Series(stdin, o.gaps == "idle")
	next, stop := iter.Pull2(samples)
	defer stop()
	first, err, ok := next()
	if err != nil || !ok {
		return usage("%s: %w", name, err)
	}
	all := func(yield func(forecast.Sample, error) bool) {
		for s, err := first, err; ok; s, err, ok = next() {
			if !yield(s, err) {
				return
			}
		}
	}
	for flag, cell := range map[string]string{"size": first.Size, "type": first.Type} {
		if given(flag) && cell != "" {
			return usage("%s has a column %s: leave out --%s", name, flag, flag)
		}
	}
	if first.Volume != "" {
		if given("warn") {
			return usage("--warn goes with one volume: the forecast of a fleet names no alarm")
		}
		return forecastFleet(o, name, all, stdout)
	}
	o.volumeType, o.size = or(first.Type, o.volumeType), or(first.Size, o.size)
	q, err := o.question()
	if err != nil {
		return usageError{err}
	}
	q.Form = forecast.LoadForm{Kind: forecast.SeriesLoad, Source: name}
	var failed error
	q.Load = func(yield func(forecast.Interval) bool) {
		for s, err := range all {
			if failed = err; err != nil || !yield(s.Interval) {
				return
			}
		}
	}
	d := q.Answer()
	if failed != nil {
		return usage("%s: %w", name, failed)
	}
	return showForecast(stdout, d, o.output)
}

func forecastFleet(o forecastOptions, name string, samples iter.Seq2[forecast.Sample, error], stdout io.Writer) error {
	if o.output == "html" {
		return usage("--output html shows one volume; use text or json for a fleet")
	}
	if o.instance != "" {
		return usage("--instance goes with one volume; which of a fleet share one, the series does not say")
	}
	members, err := forecast.Fleet(samples, func(s forecast.Sample) (forecast.Candidate, model.Fluid, error) {
		of := o
		of.volumeType, of.size = or(s.Type, o.volumeType), or(s.Size, o.size)
		q, err := of.question()
		if err != nil {
			return forecast.Candidate{}, model.Fluid{}, fmt.Errorf("volume %s: %w", s.Volume, err)
		}
		return q.Candidate, q.Start(q.Candidate), nil
	})
	if err != nil {
		return usage("%s: %w", name, err)
	}
	d := forecast.DescribeFleet(members)
	if o.output == "json" {
		return writeJSON(stdout, d)
	}
	width, colour := canvas(stdout)
	return report.FleetTerminal(stdout, d, width, colour)
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

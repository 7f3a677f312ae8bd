package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/intake"
	"ebscope/internal/report"
	"ebscope/internal/result"
)

// loadReadings reads and analyzes what any tool wrote at the paths.
func loadReadings(ctx context.Context, paths []string, o analyzeOptions, stdin io.Reader) (report.Report, error) {
	catalog := o.catalog
	if catalog == nil {
		catalog = ebs.Embedded()
	}
	given, err := o.given(catalog)
	if err != nil {
		return report.Report{}, err
	}
	unit, err := o.unit()
	if err != nil {
		return report.Report{}, err
	}
	for _, path := range paths {
		if jobs, _ := filepath.Glob(filepath.Join(path, "phases", "*", result.JobFile)); len(jobs) > 0 && !isRunDirectory(path) {
			return report.Report{}, usage("%s is a run directory whose %s is missing; restore that, or give %s to take its files for anyone's",
				path, result.RunFile, filepath.Join(path, "phases"))
		}
	}
	readings, notes, err := intake.Open(ctx, paths, stdin, intake.Options{LatencyUnit: unit})
	var missing *intake.MissingError
	var argument *intake.ArgumentError
	if errors.As(err, &missing) || errors.As(err, &argument) {
		return report.Report{}, usageError{err}
	}
	if err != nil {
		return report.Report{}, err
	}
	readings = analyze.Plausible(readings)
	return report.Report{
		Run: result.Run{Target: result.Imported, Compress: 1}, Catalog: catalog,
		Document: analyze.Readings(catalog, readings, notes, given), Readings: readings,
	}, nil
}

// unit is that of latencies in logs that do not show it, zero where the user does not say.
func (o analyzeOptions) unit() (time.Duration, error) {
	switch strings.ToLower(o.latencyUnit) {
	case "":
		return 0, nil
	case "ns":
		return time.Nanosecond, nil
	case "us", "µs", "μs": // the micro sign, and the Greek letter
		return time.Microsecond, nil
	case "ms":
		return time.Millisecond, nil
	}
	return 0, usage("--latency-unit %q: use ns (fio 3 and later), us (before fio 3) or ms", o.latencyUnit)
}

// given reads what the user says that was measured.
func (o analyzeOptions) given(catalog *ebs.Catalog) (given analyze.Given, err error) {
	if o.volume != "" {
		kind, rest, sized := strings.Cut(o.volume, ":")
		if sized {
			kind = strings.ToLower(kind) + ":"
		}
		volume, err := volumeSpec(kind + rest)
		if err == nil {
			err = catalog.Validate(volume)
		}
		if err != nil {
			return given, usageError{fmt.Errorf("--volume %q: %w", o.volume, err)}
		}
		given.Volume = &volume
	}
	if o.instance != "" {
		instance, err := catalog.Instance(strings.ToLower(o.instance))
		if err != nil {
			return given, fmt.Errorf("--instance: %w", err)
		}
		given.Instance = &instance
	}
	return given, nil
}

// volumeSpec reads a volume such as "gp2:500GiB", "gp3:500GiB:6000:250" or "gp3:500GiB,iops=6000,throughput=250MiB/s".
func volumeSpec(text string) (ebs.Volume, error) {
	parts := strings.Split(text, ":")
	if len(parts) > 4 {
		return ebs.Volume{}, fmt.Errorf("has %d parts; write it like TYPE:SIZE:IOPS:MiB/s, such as gp3:500GiB:6000:250", len(parts))
	}
	if len(parts) <= 2 {
		return parseVolume(text)
	}
	long := parts[0] + ":" + parts[1]
	for i, setting := range []struct{ key, unit string }{{"iops", ""}, {"throughput", "MiB/s"}} {
		if at := 2 + i; at < len(parts) && parts[at] != "" {
			number := strings.TrimSuffix(strings.ReplaceAll(parts[at], ",", ""), setting.unit)
			long += "," + setting.key + "=" + number + setting.unit
		}
	}
	return parseVolume(long)
}

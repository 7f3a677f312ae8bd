package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"ebscope/internal/device"
	"ebscope/internal/nvmestats"
)

// shortestInterval is how often a volume may be asked for its statistics (EBS user guide).
const shortestInterval = time.Second

func newStatsCommand() *cobra.Command {
	var (
		interval time.Duration
		output   string
	)
	cmd := &cobra.Command{
		Use:   "stats DEVICE",
		Short: "Show what an EBS volume has counted itself",
		Long: `Shows the counters of an EBS volume or instance store on NVMe since it was attached: operations, bytes, latencies, and for
how long it was asked for more than the volume or the instance allows. The device may be in use. It needs Linux and root.

With --interval it goes on until Ctrl-C and shows what was counted in each interval; -o openmetrics shows the counters
themselves, as Prometheus wants them.`,
		Example: `  ebscope stats /dev/nvme1n1
  ebscope stats /dev/nvme1n1 --interval 5s
  ebscope stats /dev/nvme1n1 -o openmetrics`,
		Args: oneArg("a device"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("interval") && interval < shortestInterval {
				return usage("--interval %v: a volume may be asked once a second; use 1s or more", interval)
			}
			counters, err := device.This().OpenCounters(args[0])
			if err != nil {
				return err
			}
			defer counters.Close()
			d := counters.Device()
			volume := d.VolumeID
			if volume == "" {
				volume = d.Serial
			}
			return watchStats(cmd.Context(), counters, statsPrinter{w: cmd.OutOrStdout(), format: output, device: d.Name, volume: volume}, interval)
		},
	}
	cmd.Flags().DurationVar(&interval, "interval", 0, "go on, and show what was counted in each interval")
	outputFlag(cmd, &output, "text", "json", "openmetrics")
	return cmd
}

// pages gives the statistics page of a volume.
type pages interface{ Page() ([]byte, error) }

// watchStats prints the counters, and goes on where an interval is given.
func watchStats(ctx context.Context, source pages, p statsPrinter, interval time.Duration) error {
	before, err := readStats(source)
	if err != nil {
		return err
	}
	if interval == 0 || p.format == "openmetrics" {
		if err := p.print(before); err != nil || interval == 0 {
			return err
		}
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(interval):
		}
		now, err := readStats(source)
		if err != nil {
			return err
		}
		shown := now
		if p.format != "openmetrics" {
			if shown, err = now.Since(before); err != nil {
				return err
			}
		}
		if err := p.print(shown); err != nil {
			return err
		}
		before = now
	}
}

func readStats(source pages) (nvmestats.Page, error) {
	text, err := source.Page()
	if err != nil {
		return nvmestats.Page{}, err
	}
	return nvmestats.Decode(text)
}

// statsPrinter writes pages in a format.
type statsPrinter struct {
	w              io.Writer
	format         string
	device, volume string
}

func (s statsPrinter) print(p nvmestats.Page) error {
	switch s.format {
	case "json": // a document on each line, for whoever reads them one by one
		return json.NewEncoder(s.w).Encode(struct {
			Device string `json:"device"`
			Volume string `json:"volume,omitempty"`
			nvmestats.Page
		}{s.device, s.volume, p})
	case "openmetrics":
		return s.openMetrics(p)
	default:
		return s.text(p)
	}
}

func (s statsPrinter) text(p nvmestats.Page) error {
	_, err := fmt.Fprintf(s.w, `%s %s
reads                %12d   %s   mean %v
writes               %12d   %s   mean %v
volume exceeded      IOPS %v   throughput %v
instance exceeded    IOPS %v   throughput %v
queue now            %12d

`, s.device, s.volume, p.Read.Operations, bytesWords(p.Read.Bytes), p.Read.Mean(), p.Write.Operations, bytesWords(p.Write.Bytes), p.Write.Mean(),
		p.Volume.IOPS, p.Volume.Throughput, p.Instance.IOPS, p.Instance.Throughput, p.QueueLength)
	return err
}

func bytesWords(n uint64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

func (s statsPrinter) openMetrics(p nvmestats.Page) error {
	labels := fmt.Sprintf("device=%q,volume=%q", s.device, s.volume)
	type sample struct {
		label string
		value any
	}
	for _, m := range []struct {
		name, kind, unit, help string
		samples                []sample
	}{
		{"ebscope_volume_operations", "counter", "", "Operations completed.", []sample{{`op="read"`, p.Read.Operations}, {`op="write"`, p.Write.Operations}}},
		{"ebscope_volume_bytes", "counter", "bytes", "Bytes moved.", []sample{{`op="read"`, p.Read.Bytes}, {`op="write"`, p.Write.Bytes}}},
		{"ebscope_volume_time_seconds", "counter", "seconds", "Time of all operations together.", []sample{{`op="read"`, p.Read.Time.Seconds()}, {`op="write"`, p.Write.Time.Seconds()}}},
		{"ebscope_volume_exceeded_seconds", "counter", "seconds", "Time for which more was asked for than a limit allows.", []sample{
			{`of="volume",limit="iops"`, p.Volume.IOPS.Seconds()}, {`of="volume",limit="throughput"`, p.Volume.Throughput.Seconds()},
			{`of="instance",limit="iops"`, p.Instance.IOPS.Seconds()}, {`of="instance",limit="throughput"`, p.Instance.Throughput.Seconds()}}},
		{"ebscope_volume_queue_length", "gauge", "", "Operations in the queue at this moment.", []sample{{"", p.QueueLength}}},
	} {
		fmt.Fprintf(s.w, "# TYPE %s %s\n", m.name, m.kind)
		if m.unit != "" {
			fmt.Fprintf(s.w, "# UNIT %s %s\n", m.name, m.unit)
		}
		fmt.Fprintf(s.w, "# HELP %s %s\n", m.name, m.help)
		name := m.name
		if m.kind == "counter" {
			name += "_total"
		}
		for _, sample := range m.samples {
			all := labels
			if sample.label != "" {
				all += "," + sample.label
			}
			fmt.Fprintf(s.w, "%s{%s} %v\n", name, all, sample.value)
		}
	}
	_, err := fmt.Fprintln(s.w, "# EOF")
	return err
}

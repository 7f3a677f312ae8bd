package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ebscope/internal/bench"
	"ebscope/internal/ebs"
	"ebscope/internal/emulate"
	"ebscope/internal/model"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

type emulateOptions struct {
	volumeType string
	size       string
	iops       float64
	throughput float64
	instance   string
	credits    string
	compress   float64
	image      string
	latency    string // file
	mount      string
	mkfs       string
	failAfter  time.Duration
}

func newEmulateCommand() *cobra.Command {
	var o emulateOptions
	cmd := &cobra.Command{
		Use:   "emulate",
		Short: "Keep an emulated volume up until interrupted",
		Long: `Makes a block device that behaves like an EBS volume: rate limits, latency and, for gp2, a burst-credit bucket. Run
your own database on it and watch it meet the cliff. It needs Linux and /dev/fuse; without root it is a file instead of a
block device, which cannot be mounted.

When the volume is ready, prints the device and, with --mount, the directory; on a terminal also, once a second, what the
volume does. Ctrl-C takes it down again.`,
		Example: `  ebscope emulate --type gp2 --size 100GiB --credits 5% --mkfs xfs --mount /mnt/gp2
  ebscope emulate --type gp3 --size 200GiB --iops 6000 --throughput 250 --instance m5.xlarge`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			catalog, err := catalogOf(cmd)
			if err != nil {
				return err
			}
			return runEmulate(cmd.Context(), o, catalog, cmd.Flags().Changed, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.volumeType, "type", "gp2", "volume type: gp2, gp3, io1, io2, st1, sc1, standard")
	f.StringVar(&o.size, "size", "100GiB", "volume size")
	f.Float64Var(&o.iops, "iops", 0, "provisioned IOPS (gp3, default 3000; io1, io2)")
	f.Float64Var(&o.throughput, "throughput", 0, "provisioned throughput in MiB/s (gp3; default 125)")
	f.StringVar(&o.instance, "instance", "", "EC2 instance type whose EBS limits apply too")
	f.StringVar(&o.credits, "credits", "100%", "share of the burst credits at the start")
	f.Float64Var(&o.compress, "compress", 1, "divide every time constant by this")
	f.StringVar(&o.image, "image", "", "file that keeps the data (default: a temporary one, deleted at the end)")
	latencyFlag(cmd, &o.latency)
	f.StringVar(&o.mount, "mount", "", "directory to mount the volume at; needs root")
	f.StringVar(&o.mkfs, "mkfs", "", "format the volume first: "+strings.Join(emulate.FileSystems(), ", ")+"; this erases what --image holds; needs root")
	f.DurationVar(&o.failAfter, "fail-after", 0, "let every I/O fail with EIO from then on, to see what a program does about it")
	return cmd
}

func runEmulate(ctx context.Context, o emulateOptions, catalog *ebs.Catalog, given func(flag string) bool, stdout, stderr io.Writer) error {
	cfg, err := emulateConfig(o, catalog, stderr)
	if err != nil {
		return usageError{err}
	}
	credits, err := workload.ParsePercent(o.credits)
	if err != nil {
		return usage("--credits: %w", err)
	}
	if reason := workload.NoCredits(catalog, cfg.Volume); reason != "" && given("credits") {
		return usage("--credits is the share of burst credits, and %s; leave it out", reason)
	}
	sweep(ctx, stderr)
	// After the sweep: a dead file system at the directory would answer with errors.
	if err := checkMount(o); err != nil {
		return err
	}
	if err := checkImage(o.image, cfg.Volume.Size); err != nil {
		return err
	}
	device, err := emulate.Attach(ctx, cfg)
	if err != nil {
		return err
	}
	err = serve(ctx, device, o, credits, stdout, stderr)
	// The interrupt that ends the volume's life must not end its taking down.
	return errors.Join(err, device.Close(context.WithoutCancel(ctx)))
}

func emulateConfig(o emulateOptions, catalog *ebs.Catalog, stderr io.Writer) (emulate.Config, error) {
	size, unitGiven, err := units.ParseSize(o.size, units.GiB)
	if err != nil {
		return emulate.Config{}, fmt.Errorf("--size: %w", err)
	}
	if !unitGiven {
		fmt.Fprintf(stderr, "ebscope: --size %s has no unit; read as %v\n", o.size, size)
	}
	volume := ebs.Volume{Type: ebs.Type(o.volumeType), Size: size, IOPS: units.IOPS(o.iops),
		Throughput: units.Throughput(o.throughput) * units.MiBPerSecond}
	if err := catalog.Validate(volume); err != nil {
		return emulate.Config{}, err
	}
	if !(o.compress >= 1 && o.compress <= emulate.MaxCompress) {
		return emulate.Config{}, fmt.Errorf("--compress %v: use 1 (not compressed) to %v", o.compress, emulate.MaxCompress)
	}
	var limits *ebs.Instance
	if o.instance != "" {
		instance, err := catalog.Instance(o.instance)
		if err != nil {
			return emulate.Config{}, err
		}
		limits = &instance
	}
	latencies, err := readLatencies(o.latency)
	if err != nil {
		return emulate.Config{}, err
	}
	kinds := latencies.Service(volume.Type)
	if latencies != nil && kinds == nil {
		return emulate.Config{}, fmt.Errorf("--latency-profile %s has no latency of %s", o.latency, volume.Type)
	}
	if o.failAfter < 0 {
		return emulate.Config{}, fmt.Errorf("--fail-after %v: time does not go back; leave it out for a volume that does not fail", o.failAfter)
	}
	return emulate.Config{
		Name: o.volumeType, Volume: volume, Catalog: catalog, Host: emulate.NewHost(limits, o.compress), Compress: o.compress,
		Image: o.image, Latency: model.DefaultLatency, Kinds: kinds, Seed: 1, FailAfter: o.failAfter,
	}, nil
}

// checkImage refuses a file that cannot be the data of a volume of a size. A file without content becomes one.
func checkImage(path string, size units.Bytes) error {
	if path == "" {
		return nil
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		info, err = os.Stat(filepath.Dir(path))
		if err == nil && info.IsDir() {
			return nil
		}
	}
	switch {
	case err != nil:
		return usage("--image: %w", err)
	case info.IsDir():
		return usage("--image %s: it is a directory; name a file in it", path)
	case info.Mode().IsRegular() && info.Size() != 0 && units.Bytes(info.Size()) != size:
		return usage("--image %s holds a volume of %v, not of %v; give that size, or name another file", path, units.Bytes(info.Size()), size)
	}
	return nil
}

// checkMount finds out what would keep the volume from being formatted and mounted while nothing is erased yet.
func checkMount(o emulateOptions) error {
	kinds := strings.Join(emulate.FileSystems(), ", ")
	switch {
	case o.mount == "" && o.mkfs == "":
		return nil
	case o.mount == "":
		return usage("--mkfs needs --mount DIR")
	case o.mkfs != "" && !slices.Contains(emulate.FileSystems(), o.mkfs):
		return usage("--mkfs %s: use one of %s", o.mkfs, kinds)
	}
	if _, err := os.Stat(o.image); o.mkfs == "" && err != nil {
		return usage("--mount of a new volume needs --mkfs, one of %s", kinds)
	}
	if dir, err := os.Stat(o.mount); err != nil {
		return usage("--mount: %w; make the directory first", err)
	} else if !dir.IsDir() {
		return usage("--mount %s: it is not a directory", o.mount)
	}
	if err := vacant(o.mount); err != nil {
		return err
	}
	return emulate.CheckMount(o.mkfs)
}

// vacant declines a directory whose content a mount would hide from those who use it.
func vacant(dir string) error {
	kind, mounted, err := emulate.Mounted(dir)
	if err != nil {
		return fmt.Errorf("--mount: %w", err)
	}
	if mounted {
		return &bench.DeclinedError{Reason: fmt.Sprintf("--mount %s: the %s that is mounted there would be hidden; unmount it, or name another directory", dir, kind)}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("--mount: %w", err)
	}
	if len(entries) > 0 {
		return &bench.DeclinedError{Reason: fmt.Sprintf("--mount %s: it is not empty, and what is in it (%s) would be hidden; name an empty directory", dir, entries[0].Name())}
	}
	return nil
}

// serve mounts the volume, starts its clock and keeps it up until ctx ends.
func serve(ctx context.Context, device *emulate.Device, o emulateOptions, credits float64, stdout, stderr io.Writer) error {
	if o.mkfs != "" {
		if err := device.Format(ctx, o.mkfs); err != nil {
			return err
		}
	}
	ready := device.Path() + "\n"
	if o.mount != "" {
		dir, err := filepath.Abs(o.mount)
		if err != nil {
			return err
		}
		if _, err := device.Mount(o.mkfs, dir); err != nil {
			return err
		}
		ready += dir + "\n"
	}
	device.SetCredits(credits)
	if err := device.Host().Start(); err != nil {
		return err
	}
	if _, err := io.WriteString(stdout, ready); err != nil {
		return fmt.Errorf("printing where the volume is: %w", err)
	}
	if o.compress != 1 {
		fmt.Fprintf(stderr, "ebscope: compressed %g times: credits and bucket depth are divided by it, rates and latencies stay\n", o.compress)
	}
	fmt.Fprintln(stderr, "ebscope: up; Ctrl-C takes it down")
	watch(ctx, device, stderr)
	return nil
}

// watch shows once a second, on a terminal, what the volume does, until ctx ends.
func watch(ctx context.Context, device *emulate.Device, stderr io.Writer) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	before := device.Stats()
	for {
		select {
		case <-ctx.Done():
			if _, live := terminal(stderr); live {
				fmt.Fprintln(stderr)
			}
			return
		case <-ticker.C:
		}
		now := device.Stats()
		if width, live := terminal(stderr); live {
			fmt.Fprintf(stderr, "\r%s\x1b[K", cut(statusLine(before, now), width))
		}
		before = now
	}
}

// cut shortens a line to less than the width of a terminal, where that is known: a full line would wrap.
func cut(line string, width int) string {
	if width <= 0 {
		return line
	}
	return line[:min(len(line), width-1)]
}

// statusLine is what a volume did between two looks at it.
func statusLine(before, now emulate.Stats) string {
	seconds := (now.Clock - before.Clock).Seconds()
	if seconds <= 0 {
		return ""
	}
	ios := float64(now.Reads + now.Writes - before.Reads - before.Writes)
	data := now.ReadBytes + now.WrittenBytes - before.ReadBytes - before.WrittenBytes
	line := fmt.Sprintf("%12s %8.1f MiB/s  queue %3d", units.IOPS(ios/seconds), data.MiB()/seconds, now.InFlight)
	if now.CreditCapacity > 0 {
		line += fmt.Sprintf("  burst balance %5.1f %%", 100*float64(now.Credits/now.CreditCapacity))
	}
	return line
}

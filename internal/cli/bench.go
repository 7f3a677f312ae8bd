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
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"ebscope/internal/bench"
	"ebscope/internal/ebs"
	"ebscope/internal/fio/process"
	"ebscope/internal/report"
	"ebscope/internal/result"
	"ebscope/internal/workload"
)

// The demonstration that a bare "ebscope bench" runs.
const (
	defaultProfile  = "gp2-vs-gp3"
	defaultCompress = 60
)

// maxRepeat keeps a typing mistake from running for ever.
const maxRepeat = 1000

type benchOptions struct {
	profile  string
	target   string
	paths    map[string]string
	volumes  []string
	latency  string // file
	compress float64
	resume   string
	repeat   int
	runs     string
	fio      string
	engine   string
	catalog  string // as on the command line
	output   string

	noMetadata bool
	device     deviceOptions
	kubernetes kubernetesOptions
}

func newBenchCommand() *cobra.Command {
	var o benchOptions
	var kubernetesFlags []string
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure volumes with fio and report what limited them",
		Long: `Runs a profile, phase by phase and one volume at a time, with real fio, and writes a run directory with the raw
results, the analysis and a report.

Without options it runs gp2-vs-gp3, 60 times compressed, on two emulated volumes: every time constant is divided by 60,
rates and latencies stay. On real volumes nothing is compressed, and the profile takes 70 minutes.

With --target device whole block devices are measured (Linux, as root). One that is in use is refused, and so is one that
carries a file system, a partition table, RAID or LVM, unless the profile only reads. To be overwritten, a device must be
named again with --destructive; which one it is, and of what size, is shown first.

With --target kubernetes the profile runs on PersistentVolumeClaims, in a pod that needs nothing but the cluster: when the
connection is lost, or this program ends, attach finds the run again. Everything that was made is removed at the end.

A run that was cut goes on with --resume.

With --repeat N the profile runs N times, each into a run directory of its own: runs/ID-r1 to -rN, which compare takes
as 'runs/ID-r*'. Emulated volumes start with the same credits each time; a real one goes on as the last repeat left it.
-o json prints a document for each.`,
		Example: `  ebscope bench
  ebscope bench --profile quick -o json
  ebscope bench --target path --path gp2=/mnt/gp2 --path gp3=/mnt/gp3
  ebscope bench --target device --device gp2=/dev/nvme1n1 --destructive /dev/nvme1n1
  ebscope bench --profile quick --repeat 5
  ebscope bench --target kubernetes --storage-class gp2=gp2 --storage-class gp3=gp3
  ebscope bench --target kubernetes --dry-run | kubectl apply --server-side -f -
  ebscope bench --resume runs/20261130T120000Z-gp2-vs-gp3-emulated`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.catalog = catalogArgument(cmd)
			catalog, err := catalogOf(cmd)
			if err != nil {
				return err
			}
			if result.Target(o.target) == result.Kubernetes {
				return runBenchKubernetes(cmd.Context(), o, catalog, cmd.Flags().Changed, cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			if err := onlyKubernetes(kubernetesFlags, o.target, cmd.Flags().Changed); err != nil {
				return err
			}
			return runBench(cmd.Context(), o, catalog, cmd.Flags().Changed, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.profile, "profile", "p", defaultProfile, "profile: "+strings.Join(workload.Names(), ", ")+", or a YAML file")
	f.StringVarP(&o.target, "target", "t", string(result.Emulated), "what to measure: emulated (volumes made here), path (a directory per volume), device (a block device per volume), kubernetes (claims)")
	f.StringToStringVar(&o.paths, "path", nil, "NAME=DIR: directory on the volume NAME of the profile, for --target path; volumes without one are left out")
	f.StringToStringVar(&o.device.devices, "device", nil, "NAME=DEVICE: block device of the volume NAME of the profile, for --target device; volumes without one are left out")
	f.StringArrayVar(&o.device.destructive, "destructive", nil, "DEVICE: repeats a device that --device names, so that a profile may overwrite it")
	f.StringArrayVar(&o.volumes, "volume", nil, "a volume instead of the profile's of that name: NAME=TYPE:SIZE[,iops=N][,throughput=NMiB/s]")
	latencyFlag(cmd, &o.latency)
	f.Float64Var(&o.compress, "compress", 1, "divide every time constant by this; emulated volumes only (default 60 for "+defaultProfile+")")
	f.StringVar(&o.resume, "resume", "", "go on with the run in this directory")
	f.IntVar(&o.repeat, "repeat", 1, "run the profile so many times, for compare")
	f.StringVar(&o.runs, "runs", "runs", "folder for run directories")
	f.StringVar(&o.fio, "fio", "fio", "fio program")
	f.StringVar(&o.engine, "engine", process.DefaultEngine, "fio I/O engine")
	f.BoolVar(&o.noMetadata, "no-metadata", false, "do not ask the instance metadata service which EC2 instance this is")
	outputFlag(cmd, &o.output, "text", "json")
	kubernetesFlags = o.kubernetes.add(cmd)
	namesOnce(f)
	return cmd
}

func runBench(ctx context.Context, o benchOptions, catalog *ebs.Catalog, given func(flag string) bool, stdout, stderr io.Writer) (err error) {
	var directory *bench.Directory
	var fio process.Fio
	var devices deviceClaims
	defer func() { err = errors.Join(err, devices.close()) }()
	if o.resume != "" {
		for _, flag := range []string{"profile", "target", "path", "volume", "latency-profile", "device", "compress", "repeat", "runs", "engine", catalogFlag} {
			if given(flag) {
				return usage("--resume goes on with the run as it was; leave out --%s", flag)
			}
		}
		if _, err := os.Stat(filepath.Join(o.resume, result.RunFile)); isOneOf(err, fs.ErrNotExist, syscall.ENOTDIR) {
			return usage("--resume %s is not a run directory: it has no %s", o.resume, result.RunFile)
		}
		d, err := bench.Resume(o.resume, time.Now())
		if err != nil {
			return err
		}
		directory = d
		if fio, err = process.Find(ctx, o.fio, d.Run.Environment.Engine); err == nil {
			devices, err = claimDevices(ctx, undone(d.Run), d.Run.Devices, o.device.destructive, stderr)
		}
		if err != nil {
			return errors.Join(err, d.Release())
		}
	} else {
		plan, err := newPlan(o, catalog, given, stderr)
		if err != nil {
			return usageError{err}
		}
		if fio, err = process.Find(ctx, o.fio, o.engine); err != nil {
			return err
		}
		if devices, err = claimDevices(ctx, plan.Profile, plan.Devices, o.device.destructive, stderr); err != nil {
			return err
		}
		if directory, err = bench.Create(plan, environment(ctx, plan, fio, !o.noMetadata), time.Now()); err != nil {
			return err
		}
	}

	for directory != nil {
		if err := measure(ctx, o, fio, devices, directory, stdout, stderr); err != nil {
			return err
		}
		if directory, err = bench.Next(directory, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// measure runs what is not done yet of a run directory and reports it.
func measure(ctx context.Context, o benchOptions, fio process.Fio, devices deviceClaims, directory *bench.Directory, stdout, stderr io.Writer) error {
	if directory.Run.Target == result.Emulated {
		sweep(ctx, stderr)
	}
	progress := newProgress(stderr, directory.Run)
	before := done(directory.Run)
	err := bench.Bench{Fio: fio, Progress: progress, Now: time.Now, Devices: devices}.Run(ctx, directory)
	progress.close()
	if directory.New && !slices.ContainsFunc(directory.Run.Phases, func(p result.Phase) bool { return p.State != result.Pending }) {
		return errors.Join(err, directory.Discard())
	}
	if release := directory.Release(); err == nil {
		err = release
	}
	if declined(err) && done(directory.Run) == before { // a resume that cannot be; what there is has been reported before
		return err
	}
	// What was measured is reported even when the user has interrupted the rest.
	return finish(context.WithoutCancel(ctx), directory, err, o.output, stdout, stderr)
}

// finish reports what was measured, even where the run did not come to its end because of runErr.
func finish(ctx context.Context, d *bench.Directory, runErr error, format string, stdout, stderr io.Writer) error {
	done := done(d.Run)
	if _, err := os.Stat(d.Path); err != nil {
		return errors.Join(runErr, fmt.Errorf("the run directory is gone, and what was measured with it: %w", err))
	}
	if done < len(d.Run.Phases) {
		fmt.Fprintf(stderr, "ebscope: %d of %d phases are done and kept; go on with: ebscope bench --resume %s%s\n", done, len(d.Run.Phases), quoted(d.Path), destructiveAgain(d.Run))
	}
	if done == 0 {
		return runErr
	}
	r, err := load(ctx, d.Path, nil)
	if err == nil {
		err = present(d.Path, r, format, stdout)
	}
	if runErr != nil {
		return errors.Join(partError{runErr}, err)
	}
	return err
}

// done counts the phases that have their result.
func done(run result.Run) (n int) {
	for _, p := range run.Phases {
		if p.State == result.Done {
			n++
		}
	}
	return n
}

// present saves and shows the findings of a run that was just made.
func present(dir string, r report.Report, format string, stdout io.Writer) error {
	if err := save(dir, r); err != nil {
		return err
	}
	return presentSaved(dir, r, format, stdout)
}

// presentSaved shows the findings of a run.
func presentSaved(dir string, r report.Report, format string, stdout io.Writer) error {
	if err := show(stdout, r, format); err != nil {
		return err
	}
	if format == "text" {
		if _, err := fmt.Fprintf(stdout, "\nReport: %s\n", filepath.Join(dir, result.HTMLFile)); err != nil {
			return err
		}
	}
	return skipped(r.Document.Notes)
}

// firstLine returns the first line of a file that starts with a key, without the key; empty where there is none.
func firstLine(path, key string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, key); ok {
			return strings.TrimSpace(strings.TrimLeft(value, "\t :"))
		}
	}
	return ""
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"ebscope/internal/bench"
	"ebscope/internal/ebs"
	"ebscope/internal/report"
	"ebscope/internal/result"
	"ebscope/internal/simulate"
	"ebscope/internal/workload"
)

type simulateOptions struct {
	profile  string
	instance string
	volumes  []string
	compress float64
	against  string
	runs     string
	output   string
	latency  string // file
	catalog  string // as on the command line
}

func newSimulateCommand() *cobra.Command {
	var o simulateOptions
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Run a profile in virtual time, without any I/O",
		Long: `Runs a profile on model volumes in virtual time, I/O by I/O, and writes a run directory like a measured one. It is
the same model that throttles emulated volumes. Beyond what bench can measure, volumes can run together, striped, or
restored from a snapshot.

With --against, it predicts a run that was measured, and prints prediction and measurement side by side.`,
		Example: `  ebscope simulate
  ebscope simulate --profile quick -o json
  ebscope simulate --instance m5.large --volume gp2=gp2:500GiB
  ebscope simulate --against runs/20261130T120000Z-gp2-vs-gp3-emulated`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.catalog = catalogArgument(cmd)
			if o.against != "" {
				for _, flag := range []string{"profile", "instance", "volume", "compress", "latency-profile"} {
					if cmd.Flags().Changed(flag) {
						return usage("--against predicts the run as it was; leave out --%s", flag)
					}
				}
				given, err := givenCatalog(cmd)
				if err != nil {
					return err
				}
				return runAgainst(cmd.Context(), o, given, cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			catalog, err := catalogOf(cmd)
			if err != nil {
				return err
			}
			return runSimulate(cmd.Context(), o, catalog, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.profile, "profile", "p", defaultProfile, "profile: "+strings.Join(workload.Names(), ", ")+", or a YAML file")
	f.StringVar(&o.instance, "instance", "", "EC2 instance type, instead of the profile's")
	f.StringArrayVar(&o.volumes, "volume", nil, "a volume instead of the profile's of that name: NAME=TYPE:SIZE[,iops=N][,throughput=NMiB/s]")
	f.Float64Var(&o.compress, "compress", 1, "divide every time constant by this")
	f.StringVar(&o.against, "against", "", "predict the run in this directory, and compare")
	f.StringVar(&o.runs, "runs", "runs", "folder for run directories")
	latencyFlag(cmd, &o.latency)
	outputFlag(cmd, &o.output, "text", "json")
	return cmd
}

func runSimulate(ctx context.Context, o simulateOptions, catalog *ebs.Catalog, stdout, stderr io.Writer) error {
	// An I/O allocates nothing: collecting often costs no time, and keeps memory near what the series take.
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	profile, err := loadProfile(catalog, o.profile)
	if err != nil {
		return usageError{err}
	}
	command := fmt.Sprintf("ebscope simulate --profile %s --compress %g", o.profile, o.compress)
	if o.instance != "" {
		profile.Instance = o.instance
		command += " --instance " + o.instance
	}
	if profile, err = override(profile, o.volumes); err != nil {
		return usageError{err}
	}
	for _, v := range o.volumes {
		command += " --volume " + v
	}
	if profile, err = withLatencies(profile, o.latency, stderr); err != nil {
		return usageError{err}
	}
	if o.latency != "" {
		command += " --latency-profile " + quoted(o.latency)
	}
	command += o.catalog
	plan := bench.Plan{
		Profile: profile, Catalog: catalog, Compress: o.compress, Target: result.Simulated, Runs: o.runs, Tool: tool(), Command: command,
	}
	if err := plan.Validate(); err != nil {
		return usageError{err}
	}
	dir, r, err := simulated(ctx, plan, stderr)
	if err != nil {
		return err
	}
	return presentSaved(dir, r, o.output, stdout)
}

// runAgainst predicts a run that was measured and compares the two.
func runAgainst(ctx context.Context, o simulateOptions, given *ebs.Catalog, stdout, stderr io.Writer) error {
	if _, err := os.Stat(filepath.Join(o.against, result.RunFile)); isOneOf(err, fs.ErrNotExist, syscall.ENOTDIR) {
		return usage("--against %s is not a run directory: it has no %s", o.against, result.RunFile)
	}
	measured, err := load(ctx, o.against, given)
	if err != nil {
		return err
	}
	if measured.Run.Target == result.Simulated {
		return usage("%s was simulated: its prediction is itself; give a run that was measured", o.against)
	}
	plan := bench.Plan{
		Profile: measured.Run.Profile, Catalog: measured.Catalog, Compress: measured.Run.Compress, Target: result.Simulated,
		Runs: o.runs, Tool: tool(), Command: "ebscope simulate --against " + o.against + o.catalog,
	}
	if _, _, err := simulated(ctx, plan, stderr); err != nil {
		return err
	}
	return showAgainst(stdout, measured, o.output)
}

// simulated carries a plan out and writes its run directory with the findings. Nothing is written before the whole of it is
// known, and nothing is left where it cannot be written.
func simulated(ctx context.Context, plan bench.Plan, stderr io.Writer) (dir string, r report.Report, err error) {
	bar := newVirtualProgress(stderr)
	phases, err := simulate.Run(ctx, plan.Catalog, plan.Profile, plan.Compress, bar.show)
	bar.close()
	if err != nil {
		return "", report.Report{}, err
	}
	d, err := bench.Create(plan, result.Environment{Instance: plan.Profile.Instance}, time.Now())
	if err != nil {
		return "", report.Report{}, noSpace(err)
	}
	if r, err = saveSimulated(d, plan.Catalog, phases); err != nil {
		return "", report.Report{}, errors.Join(noSpace(err), d.Discard())
	}
	return d.Path, r, d.Release()
}

// saveSimulated writes what was simulated into its run directory. A simulation is its own prediction.
func saveSimulated(d *bench.Directory, catalog *ebs.Catalog, phases []simulate.Phase) (report.Report, error) {
	measured := make([]*result.Measurement, len(phases))
	for i, p := range phases {
		if err := result.SaveMeasurement(filepath.Join(d.Path, d.Run.Phases[i].Dir), p.Measurement); err != nil {
			return report.Report{}, err
		}
		d.Run.Phases[i].State, d.Run.Phases[i].Credits = result.Done, p.Credits
		measured[i] = &p.Measurement
	}
	now := time.Now().UTC()
	d.Run.Finished = &now
	if err := d.Run.Save(d.Path); err != nil {
		return report.Report{}, err
	}
	r := analyzed(catalog, d.Run, measured, phases)
	return r, save(d.Path, r)
}

// noSpace declines what cannot be done for want of space.
func noSpace(err error) error {
	if !isOneOf(err, syscall.ENOSPC, syscall.EDQUOT) {
		return err
	}
	return &bench.DeclinedError{Reason: err.Error() + "; free some, or name another folder with --runs"}
}

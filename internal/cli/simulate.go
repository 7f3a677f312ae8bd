package cli

import (
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"ebscope/internal/bench"
	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/result"
	"ebscope/internal/simulate"
)

type simulateOptions struct {
	profile  string
	compress float64
	runs     string
	output   string
}

func newSimulateCommand() *cobra.Command {
	var o simulateOptions
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Run a profile in virtual time, without any I/O",
		Long: `Runs a profile on model volumes in virtual time, I/O by I/O, and writes a run directory like a measured one. It is
the same model that throttles emulated volumes.`,
		Example: `  ebscope simulate
  ebscope simulate --profile quick -o json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			catalog, err := catalogOf(cmd)
			if err != nil {
				return err
			}
			return runSimulate(o, catalog, cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.profile, "profile", "p", defaultProfile, "profile: the name of one that ships, or a YAML file")
	f.Float64Var(&o.compress, "compress", 1, "divide every time constant by this")
	f.StringVar(&o.runs, "runs", "runs", "folder for run directories")
	outputFlag(cmd, &o.output, "text", "json")
	return cmd
}

func runSimulate(o simulateOptions, catalog *ebs.Catalog, stdout io.Writer) error {
	profile, err := loadProfile(catalog, o.profile)
	if err != nil {
		return usageError{err}
	}
	plan := bench.Plan{
		Profile: profile, Catalog: catalog, Compress: o.compress, Target: result.Simulated, Runs: o.runs, Tool: tool(),
		Command: "ebscope simulate --profile " + o.profile,
	}
	if err := plan.Validate(); err != nil {
		return usageError{err}
	}
	phases, err := simulate.Run(catalog, profile, o.compress, model.DefaultLatency)
	if err != nil {
		return err
	}
	d, err := bench.Create(plan, result.Environment{Instance: profile.Instance}, time.Now())
	if err != nil {
		return err
	}
	for i, p := range phases {
		if err := result.SaveMeasurement(filepath.Join(d.Path, d.Run.Phases[i].Dir), p.Measurement); err != nil {
			return err
		}
		d.Run.Phases[i].State, d.Run.Phases[i].Credits = result.Done, p.Credits
	}
	now := time.Now().UTC()
	d.Run.Finished = &now
	if err := d.Run.Save(d.Path); err != nil {
		return err
	}
	if err := d.Release(); err != nil {
		return err
	}
	return finish(d, nil, o.output, stdout, io.Discard)
}

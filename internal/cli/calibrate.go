package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"ebscope/internal/calibrate"
	"ebscope/internal/result"
	"ebscope/internal/workload"
)

func newCalibrateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "calibrate RUN…",
		Short: "Derive the service latency of volumes from runs, for simulate, bench and emulate",
		Long: `Prints a latency profile as YAML: what an I/O takes on each volume type, by direction and block size, while no limit holds
it back. It comes from the phases of the runs in which queue depth and latency alone set the rate; those that a limit held
are named and left out. With each curve stands what it rests on, and how far its mean can be off (95 % confidence).`,
		Example: `  ebscope calibrate runs/20261130T120000Z-quick-path > here.yaml
  ebscope simulate --latency-profile here.yaml
  ebscope emulate --type gp3 --latency-profile here.yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("%s takes at least one run directory; see %[1]s --help", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runCalibrate(cmd.Context(), args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
}

func runCalibrate(ctx context.Context, dirs []string, stdout, stderr io.Writer) error {
	var runs []calibrate.Run
	var notes []result.Note
	about := tool() + " derived this from"
	for _, dir := range dirs {
		if !isRunDirectory(dir) {
			return usage("%s is not a run directory", dir)
		}
		r, err := load(ctx, dir, nil)
		if err != nil {
			return err
		}
		runs = append(runs, calibrate.Run{Profile: r.Run.Profile, Document: r.Document, Measured: r.Measured})
		notes = append(notes, r.Document.Notes...)
		about += fmt.Sprintf("\n%s (%s)", r.Run.ID, r.Run.Target)
	}
	profile, leftOut, err := calibrate.Derive(runs)
	for _, s := range leftOut {
		fmt.Fprintf(stderr, "ebscope: left out %s\n", s)
	}
	if err != nil {
		return err
	}
	if err := profile.Write(stdout, about); err != nil {
		return err
	}
	return skipped(notes)
}

// latencyFlag adds the flag that names a latency profile.
func latencyFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "latency-profile", "", "YAML file with the service latency of volume types, such as calibrate prints")
}

// readLatencies reads a latency profile, nil where no file is named.
func readLatencies(path string) (calibrate.Profile, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--latency-profile: %w", err)
	}
	defer f.Close()
	p, err := calibrate.Parse(f)
	if err != nil {
		return nil, fmt.Errorf("--latency-profile %s: %w", path, err)
	}
	return p, nil
}

// withLatencies gives the volumes of a profile the service latency that a file states for their types.
func withLatencies(profile workload.Profile, path string, stderr io.Writer) (workload.Profile, error) {
	latencies, err := readLatencies(path)
	if err != nil || latencies == nil {
		return profile, err
	}
	profile, unknown := latencies.Apply(profile)
	if len(unknown) > 0 {
		fmt.Fprintf(stderr, "ebscope: --latency-profile %s has no latency of the type of %s, which keeps its own\n", path, strings.Join(unknown, ", "))
	}
	return profile, nil
}

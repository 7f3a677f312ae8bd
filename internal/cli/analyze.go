package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"ebscope/internal/analyze"
	"ebscope/internal/bench"
	"ebscope/internal/ebs"
	"ebscope/internal/intake"
	"ebscope/internal/result"
)

// analyzeOptions is what the user gives beside the paths.
type analyzeOptions struct {
	output, volume, instance string
	latencyUnit              string
	catalog                  *ebs.Catalog // nil where the user gave none
}

// flags adds those that say what results cannot say themselves.
func (o *analyzeOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.volume, "volume", "", "volume that was measured, as TYPE:SIZE[:IOPS[:MiB/s]], such as gp3:500GiB:6000:250")
	f.StringVar(&o.instance, "instance", "", "EC2 instance type that it was measured from, such as m5.xlarge")
	latencyUnitFlag(cmd, &o.latencyUnit)
}

func latencyUnitFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "latency-unit", "", "unit of latencies in logs that do not show it: ns (fio 3 and later), us (before fio 3) or ms")
}

// says tells whether any was given.
func (o analyzeOptions) says() bool { return o.volume != "" || o.instance != "" || o.latencyUnit != "" }

func newAnalyzeCommand() *cobra.Command {
	var o analyzeOptions
	cmd := &cobra.Command{
		Use:   "analyze PATH…",
		Short: "Find the cliff, the limits and the causes in a run directory, or in anyone's fio results",
		Long: `Analyzes results of fio (JSON, terse, logs) and of CrystalDiskMark, whoever measured them and with whatever version: files,
folders, globs, archives, a prefix of logs, or - for the standard input. --volume and --instance say what they were measured
on; without them, the volumes and instances are named that would explain the figures.

One run directory of ebscope is analyzed anew from its raw files, and its analysis and reports are rewritten.`,
		Example: `  ebscope analyze runs/20261130T120000Z-gp2-vs-gp3-emulated
  ebscope analyze results/ --volume gp3:500GiB:6000:250 --instance m5.xlarge
  kubectl logs fio | ebscope analyze - -o json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("%s takes at least one path: a run directory, files or folders with results, or -; see %s --help", cmd.CommandPath(), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if o.catalog, err = givenCatalog(cmd); err != nil {
				return err
			}
			if err := notEmpty(cmd, "volume", "instance", "latency-unit"); err != nil {
				return err
			}
			if len(args) == 1 && isRunDirectory(args[0]) {
				if o.says() {
					return usage("%s is a run directory, which says itself what was measured; leave out --volume, --instance and --latency-unit", args[0])
				}
				return runAnalyze(cmd.Context(), args[0], o.catalog, o.output, cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			return analyzeAnyone(cmd.Context(), args, o, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	outputFlag(cmd, &o.output, "text", "json")
	o.flags(cmd)
	return cmd
}

// notEmpty refuses flags that were given without a value, as a script does whose variable is not set.
func notEmpty(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if f := cmd.Flag(name); f.Changed && strings.TrimSpace(f.Value.String()) == "" {
			return usage("--%s is empty; leave it out, or give it a value", name)
		}
	}
	return nil
}

func isRunDirectory(path string) bool {
	_, err := os.Stat(filepath.Join(path, result.RunFile))
	return err == nil
}

func runAnalyze(ctx context.Context, dir string, catalog *ebs.Catalog, output string, stdout, stderr io.Writer) error {
	directory, err := bench.Hold(dir)
	readOnly := errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
	if err != nil && !readOnly {
		return err
	}
	r, err := load(ctx, dir, catalog)
	switch {
	case err != nil:
	case readOnly:
		fmt.Fprintf(stderr, "ebscope: %s cannot be written to; its analysis and reports stay as they are\n", dir)
	default:
		err = save(dir, r)
	}
	if !readOnly {
		err = errors.Join(err, directory.Release())
	}
	if err != nil {
		return err
	}
	if err := show(stdout, r, output); err != nil {
		return err
	}
	return skipped(r.Document.Notes)
}

// analyzeAnyone analyzes what any tool wrote. Where something was skipped, an error says so after the rest was shown.
func analyzeAnyone(ctx context.Context, paths []string, o analyzeOptions, stdin io.Reader, stdout io.Writer) error {
	r, err := loadReadings(ctx, paths, o, stdin)
	if err != nil {
		return err
	}
	if o.output == "json" {
		err = show(stdout, r, o.output)
	} else {
		err = writeReadings(stdout, r.Document, textWidth(stdout))
	}
	if err != nil {
		return err
	}
	if err := allFailed(r.Document.Phases); err != nil {
		return err
	}
	return skipped(r.Document.Notes)
}

// allFailed is the error that every result is one of a run that failed, nil where one is not.
func allFailed(phases []analyze.Phase) error {
	for _, p := range phases {
		if p.State != string(result.Failed) {
			return nil
		}
	}
	if len(phases) == 0 {
		return nil
	}
	return fmt.Errorf("nothing can be concluded: all of the results (%d) are of runs that failed; each is named above with its cause", len(phases))
}

// skipped is the error that tells of input that is not in the result, nil where all is.
func skipped(notes []result.Note) error {
	var all []string
	for _, n := range notes {
		if n.Skipped {
			all = append(all, intake.Line(n))
		}
	}
	if len(all) == 0 {
		return nil
	}
	text := all[0]
	if len(all) > 1 {
		text += fmt.Sprintf(" (and %d more, see above)", len(all)-1)
	}
	return partError{fmt.Errorf("the rest was analyzed, but not all: %s", text)}
}

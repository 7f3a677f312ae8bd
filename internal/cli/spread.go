package cli

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"ebscope/internal/analyze"
	"ebscope/internal/compare"
	"ebscope/internal/report"
	"ebscope/internal/result"
)

func newSpreadCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "spread RUN...",
		Short: "Say how far runs of one plan lie apart: median, range and outliers of every figure",
		Long: `Reads the run directories of one plan, volumes measured side by side (bench --replicas) or one after another (bench
--repeat), and prints the median, the least and the most of every phase's IOPS, p99 latency and fall, and which runs lie
far from the others: beyond 1.5 interquartile ranges and 2 % of the median, where there are five or more.`,
		Example: `  ebscope spread 'runs/20261201T120000Z-quick-kubernetes-r*'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("%s takes run directories; see %s --help", cmd.CommandPath(), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dirs, err := runDirectories(args)
			if err != nil {
				return err
			}
			return showSpread(cmd.Context(), dirs, output, cmd.OutOrStdout())
		},
	}
	outputFlag(cmd, &output, "text", "json", "markdown")
	return cmd
}

// runDirectories expands patterns that the shell has not.
func runDirectories(args []string) (dirs []string, err error) {
	for _, arg := range args {
		if !strings.ContainsAny(arg, "*?[") {
			dirs = append(dirs, arg)
			continue
		}
		found, err := filepath.Glob(arg)
		if err != nil {
			return nil, usage("%q is no pattern: %w", arg, err)
		}
		if len(found) == 0 {
			return nil, usage("no run directory is named like %q", arg)
		}
		dirs = append(dirs, found...)
	}
	return dirs, nil
}

func showSpread(ctx context.Context, dirs []string, format string, stdout io.Writer) error {
	var documents []analyze.Document
	var notes []result.Note
	for _, dir := range dirs {
		r, err := load(ctx, dir, nil)
		if err != nil {
			return err
		}
		notes = append(notes, r.Document.Notes...)
		if len(documents) > 0 && (r.Document.Run.Profile != documents[0].Run.Profile || r.Document.Run.Compress != documents[0].Run.Compress || r.Document.Run.Target != documents[0].Run.Target) {
			return usage("%s is no run of the same plan as %s: use ebscope compare", dir, dirs[0])
		}
		documents = append(documents, r.Document)
	}
	if err := writeSpread(stdout, compare.SpreadOf(documents), format); err != nil {
		return err
	}
	return skipped(notes)
}

func writeSpread(w io.Writer, d compare.SpreadDocument, format string) error {
	switch format {
	case "json":
		return writeJSON(w, d)
	case "markdown":
		return report.SpreadMarkdown(w, d)
	default:
		width, colour := canvas(w)
		return report.SpreadTerminal(w, d, width, colour)
	}
}

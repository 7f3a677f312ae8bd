package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"ebscope/internal/ebs"
)

func newAnalyzeCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "analyze RUN",
		Short: "Find the cliff, the limits and the causes in a run directory",
		Long:  "Analyzes a run directory anew from its raw files, and rewrites its analysis and reports.",
		Args:  oneArg("a run directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			catalog, err := givenCatalog(cmd)
			if err != nil {
				return err
			}
			return runAnalyze(cmd.Context(), args[0], catalog, output, cmd.OutOrStdout())
		},
	}
	outputFlag(cmd, &output, "text", "json")
	return cmd
}

func runAnalyze(ctx context.Context, dir string, catalog *ebs.Catalog, output string, stdout io.Writer) error {
	r, err := load(ctx, dir, catalog)
	if err != nil {
		return err
	}
	if err := save(dir, r); err != nil {
		return err
	}
	return show(stdout, r, output)
}

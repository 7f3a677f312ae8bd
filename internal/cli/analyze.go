package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"github.com/spf13/cobra"

	"ebscope/internal/bench"
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
			return runAnalyze(cmd.Context(), args[0], catalog, output, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	outputFlag(cmd, &output, "text", "json")
	return cmd
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
	return show(stdout, r, output)
}

package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"ebscope/internal/emulate"
)

func newCleanupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "cleanup",
		Short: "Remove mounts and devices that a killed ebscope left behind",
		Long: `Removes the mounts, loop devices and temporary files of emulated volumes whose process was killed. It touches only what
ebscope has recorded as its own. bench and emulate do the same when they start.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			removed, err := emulate.Sweep(cmd.Context())
			return printRemoved(cmd.OutOrStdout(), removed, err)
		},
	}
}

func printRemoved(w io.Writer, removed []string, err error) error {
	for _, r := range removed {
		fmt.Fprintln(w, "removed", r)
	}
	if err == nil && len(removed) == 0 {
		fmt.Fprintln(w, "nothing to remove")
	}
	return err
}

// sweep removes what killed runs left behind, before something new is made. What cannot be removed is in nobody's way.
func sweep(ctx context.Context, stderr io.Writer) {
	if _, err := emulate.Sweep(ctx); err != nil {
		fmt.Fprintln(stderr, "ebscope: warning: what an earlier run left behind could not be removed:", indent(err.Error()))
	}
}

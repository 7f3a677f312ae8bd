package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"ebscope/internal/emulate"
)

func newCleanupCommand() *cobra.Command {
	var (
		where clusterFlags
		all   bool
	)
	cmd := &cobra.Command{
		Use:   "cleanup [RUN]",
		Short: "Remove what killed runs left on this machine, or a run from a cluster",
		Long: `Without a run it removes the mounts, loop devices and temporary files of emulated volumes whose process was killed. It
touches only what ebscope has recorded as its own. bench and emulate do the same when they start.

With a run, or --all, it removes runs from a cluster: what carries the labels of the run, volumes and results with it, and
nothing else. It waits until the volumes are gone, and says what could not be removed and why.`,
		Example: `  ebscope cleanup
  ebscope cleanup 20261201T120000Z-gp2-vs-gp3-kubernetes
  ebscope cleanup --all -n storage`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && all {
				return usage("%s takes one run, or --all; see %s --help", cmd.CommandPath(), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !all {
				for _, flag := range []string{"kubeconfig", "context", "namespace"} {
					if cmd.Flags().Changed(flag) {
						return usage("--%s is for a run in a cluster: name it, or use --all", flag)
					}
				}
				removed, err := emulate.Sweep(cmd.Context())
				return printRemoved(cmd.OutOrStdout(), removed, err)
			}
			client, err := where.connect()
			if err != nil {
				return err
			}
			return cleanupCluster(cmd.Context(), client, args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	where.add(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "remove every run of ebscope from the namespace")
	return cmd
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

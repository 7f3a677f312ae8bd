package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"ebscope/internal/cluster"
)

func newCollectCommand() *cobra.Command {
	var (
		where        clusterFlags
		runs, output string
	)
	cmd := &cobra.Command{
		Use:   "collect RUN",
		Short: "Bring the results of a run in a cluster here, and report them",
		Long: `Brings what a run in a cluster has measured into a run directory, checked by size and SHA-256, and reports it. It works
while the run goes on, when it is over, and for one that was started by kubectl apply. What came before is not fetched
again. Nothing is removed from the cluster.`,
		Example: `  ebscope collect 20261201T120000Z-gp2-vs-gp3-kubernetes`,
		Args:    oneArg("a run, as ebscope status lists them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := where.connect()
			if err != nil {
				return err
			}
			run, err := client.Find(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return collect(cmd.Context(), client, run, runs, output, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	where.add(cmd)
	cmd.Flags().StringVar(&runs, "runs", "runs", "folder for run directories")
	outputFlag(cmd, &output, "text", "json")
	return cmd
}

func collect(ctx context.Context, client *cluster.Client, run cluster.RunStatus, runs, format string, stdout, stderr io.Writer) error {
	dirs, done, err := collectAll(ctx, client, run, runs, nil)
	if err != nil {
		return err
	}
	if done[0] == 0 {
		return errors.Join(fmt.Errorf("run %s has no finished phase yet; ebscope status %[1]s -n %s shows how it comes along", run.ID, run.Namespace), runFailure(run, done, ""))
	}
	if run.State() == cluster.JobActive {
		fmt.Fprintf(stderr, "ebscope: %d of %d phases are measured so far; collect again for more\n", done[0], done[1])
		return reportAll(ctx, dirs, format, stdout)
	}
	return errors.Join(runFailure(run, done, ""), reportAll(ctx, dirs, format, stdout))
}

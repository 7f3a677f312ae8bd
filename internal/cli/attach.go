package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ebscope/internal/cluster"
	"ebscope/internal/fio/process"
	"ebscope/internal/pvcbench"
	"ebscope/internal/result"
)

// attachOptions say what becomes of a run when it is over.
type attachOptions struct {
	cluster       clusterFlags
	runs          string
	output        string
	keep          bool
	keepOnFailure bool
	startTimeout  time.Duration
}

func newAttachCommand() *cobra.Command {
	var o attachOptions
	cmd := &cobra.Command{
		Use:   "attach RUN",
		Short: "Follow a run in a cluster to its end, collect its results and report them",
		Long: `Goes on with a run that was begun by bench --target kubernetes, from any machine with access to the cluster: shows how it
comes along, collects the results when it is over, reports them, and removes the run from the cluster.

Interrupting it leaves the run in the cluster as it is.`,
		Example: `  ebscope attach 20261201T120000Z-gp2-vs-gp3-kubernetes`,
		Args:    oneArg("a run, as ebscope status lists them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := o.cluster.connect()
			if err != nil {
				return err
			}
			run, err := client.Find(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return attach(cmd.Context(), client, run, o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.cluster.add(cmd)
	o.add(cmd)
	outputFlag(cmd, &o.output, "text", "json")
	return cmd
}

func (o *attachOptions) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.runs, "runs", "runs", "folder for run directories")
	cmd.Flags().BoolVar(&o.keep, "keep", false, "leave everything in the cluster when the run is over")
	cmd.Flags().BoolVar(&o.keepOnFailure, "keep-on-failure", false, "leave everything in the cluster when the run has failed")
	startTimeoutFlag(cmd, &o.startTimeout)
}

// startTimeoutFlag says how long a pod may wait for its node, its volumes and its image.
func startTimeoutFlag(cmd *cobra.Command, value *time.Duration) {
	cmd.Flags().DurationVar(value, "start-timeout", 15*time.Minute, "give up when a pod has not started for so long, and nothing is measured")
}

// mostLogs is the number of pods whose logs are read at once, for progress alone.
const mostLogs = 8

// attach follows a run to its end, brings its results here, reports and cleans up.
func attach(ctx context.Context, client *cluster.Client, run cluster.RunStatus, o attachOptions, stdout, stderr io.Writer) error {
	record, err := pvcbench.Record(run)
	if err != nil {
		return err
	}
	following, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	f, err := newFollower(record, max(1, len(run.Pairs)), o.startTimeout, giveUp, stderr)
	if err != nil {
		return err
	}
	options := cluster.FollowOptions{Lines: len(run.Pairs) <= mostLogs, Rate: process.StatusRate}
	ended, err := client.Follow(following, run, options, f.handle)
	f.stop()
	stuck := (*stuckError)(nil)
	if errors.As(err, &stuck) && stuck.why == "" {
		// A pod that waits for the volumes of its claims does not say so.
		waits, asking := client.Unbound(ctx, run)
		stuck.why = strings.Join(waits, "; ")
		err = errors.Join(err, asking)
	}
	if stuck != nil && f.measured == 0 && len(run.Pairs) <= 1 {
		if o.keep || o.keepOnFailure {
			return err
		}
		return errors.Join(err, cleanupRun(context.WithoutCancel(ctx), client, run.Name, stderr))
	}
	if ctx.Err() != nil {
		return leave(client, run, o, err, stderr)
	}
	if err != nil {
		var none *cluster.NoRunError
		if errors.As(err, &none) || removed(err) {
			return err
		}
		return fmt.Errorf("%w\nThe run goes on in the cluster; come back with: ebscope attach %s%s", err, run.ID, o.cluster.words())
	}
	// From here on the measurement is over and must not be lost; a second Ctrl-C ends the program.
	return conclude(context.WithoutCancel(ctx), client, ended, f, o, stdout, stderr)
}

// conclude collects, reports and cleans up a run whose Jobs have ended.
func conclude(ctx context.Context, client *cluster.Client, run cluster.RunStatus, f *follower, o attachOptions, stdout, stderr io.Writer) error {
	fmt.Fprintf(stderr, "collecting the results of run %s\n", run.ID)
	dirs, done, err := collectAll(ctx, client, run, o.runs, f.events)
	if removed(err) {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w\nNothing was removed from the cluster; try again with: ebscope collect %s%s", err, run.ID, o.cluster.words())
	}
	failure := runFailure(run, done, f.failure)
	err = errors.Join(failure, reportAll(ctx, dirs, o.output, stdout))
	if o.keep || o.keepOnFailure && failure != nil {
		fmt.Fprintf(stderr, "the run is left in the cluster; remove it with: ebscope cleanup %s%s\n", run.ID, o.cluster.words())
		return err
	}
	return errors.Join(err, cleanupRun(ctx, client, run.Name, stderr))
}

// collectAll brings the results of every pair here. done says how many phases of how many there are.
func collectAll(ctx context.Context, client *cluster.Client, run cluster.RunStatus, runs string, told []result.Event) (dirs []string, done [2]int, err error) {
	for _, p := range run.Pairs {
		d, err := pvcbench.Collect(ctx, client, run, p.Pair, runs, told)
		if err != nil {
			return nil, done, err
		}
		dirs = append(dirs, d.Path)
		for _, phase := range d.Run.Phases {
			done[1]++
			if phase.State == result.Done {
				done[0]++
			}
		}
		if err := d.Release(); err != nil {
			return nil, done, err
		}
	}
	return dirs, done, nil
}

// removed says whether a run has been removed from the cluster meanwhile.
func removed(err error) bool {
	var gone *cluster.RunRemovedError
	return errors.As(err, &gone)
}

// runFailure is the error that a run ends with, nil where every phase was measured. reason is the runner's own, where it is
// known.
func runFailure(run cluster.RunStatus, done [2]int, reason string) error {
	if done[0] == done[1] && done[1] > 0 {
		return nil
	}
	var why []string
	for _, p := range run.Pairs {
		if p.State != cluster.JobSucceeded {
			why = append(why, strings.TrimRight(fmt.Sprintf("Job %s is %s: %s %s", p.Job, p.State, p.Reason, p.Message), ": "))
		}
	}
	if reason != "" {
		why = []string{reason}
	}
	err := fmt.Errorf("%d of %d phases were measured. %s", done[0], done[1], strings.Join(why, "; "))
	if done[0] > 0 {
		return partError{err}
	}
	return err
}

// reportAll shows the report of one run, or the spread over several.
func reportAll(ctx context.Context, dirs []string, format string, stdout io.Writer) error {
	var events []string
	for _, dir := range dirs {
		r, err := load(ctx, dir, nil)
		if err != nil {
			return err
		}
		if len(dirs) == 1 {
			return present(dir, r, format, stdout)
		}
		if err := save(dir, r); err != nil {
			return err
		}
		for _, e := range r.Run.Events {
			events = append(events, filepath.Base(dir)+": "+e.Text)
		}
	}
	if err := showSpread(ctx, dirs, format, stdout); err != nil || format != "text" {
		return err
	}
	for _, e := range events {
		fmt.Fprint(stdout, wrapped(visible(e), "", textWidth(stdout)))
	}
	fmt.Fprintln(stdout, "\nReports:")
	for _, dir := range dirs {
		fmt.Fprintln(stdout, " ", filepath.Join(dir, result.HTMLFile))
	}
	return nil
}

// leave says what becomes of a run that its follower leaves, or asks where there is somebody to ask.
func leave(client *cluster.Client, run cluster.RunStatus, o attachOptions, cause error, stderr io.Writer) error {
	if stop, asked := askToStop(stderr); asked && stop {
		ctx, cancel := context.WithTimeout(context.Background(), stopDeadline)
		defer cancel()
		return errors.Join(cause, cleanupRun(ctx, client, run.Name, stderr))
	}
	fmt.Fprintf(stderr, "the run goes on in the cluster.\n  come back    ebscope attach %s%[2]s\n  remove it    ebscope cleanup %[1]s%[2]s\n", run.ID, o.cluster.words())
	return cause
}

// stopDeadline bounds removing a run that the user has interrupted.
const stopDeadline = 5 * time.Minute

// askToStop asks on a terminal whether the run is to stop. Another Ctrl-C ends the program and leaves the run.
func askToStop(stderr io.Writer) (stop, asked bool) {
	if _, ok := terminal(stderr); !ok {
		return false, false
	}
	if _, ok := terminal(os.Stdin); !ok {
		return false, false
	}
	fmt.Fprint(stderr, "\nLeave the run going (Enter), or stop and remove it (s)? ")
	var answer string
	_, _ = fmt.Fscanln(os.Stdin, &answer) // an empty answer is one
	return strings.EqualFold(answer, "s"), true
}

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ebscope/internal/cloud"
	"ebscope/internal/cluster"
	"ebscope/internal/fleet"
	"ebscope/internal/migrate"
	"ebscope/internal/migration"
)

// applyFlags say how a plan is carried out.
type applyFlags struct {
	kubeconfig  string
	contexts    []string
	noCluster   bool
	inFlight    int
	poll        time.Duration
	retryFailed bool
	dryRun      bool
	journal     string
	output      string
}

func (o *applyFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig file (default $KUBECONFIG or ~/.kube/config)")
	f.StringArrayVar(&o.contexts, "context", nil, "context of the kubeconfig (default its current one); may be repeated, one for each cluster of the plan")
	f.BoolVar(&o.noCluster, "no-cluster", false, "reach no cluster: leave what they would have to do")
	f.IntVar(&o.inFlight, "in-flight", migrate.DefaultInFlight, "how many volumes may be under change at once")
	f.DurationVar(&o.poll, "poll", migrate.DefaultPoll, "time between two looks at the volumes under change")
	f.BoolVar(&o.retryFailed, "retry-failed", false, "try volumes again that failed before")
	f.BoolVar(&o.dryRun, "dry-run", false, "say what would be done, and change nothing")
	f.StringVar(&o.journal, "journal", "", "the plan's journal (default beside it, with .journal added)")
	outputFlag(cmd, &o.output, "text", "json")
}

func (o *applyFlags) validate() error {
	if o.inFlight < 1 {
		return usage("--in-flight %d: use at least 1", o.inFlight)
	}
	if o.poll < 10*time.Millisecond {
		return usage("--poll %v: use at least 10ms", o.poll)
	}
	return nil
}

func newMigrateApplyCommand() *cobra.Command {
	var o applyFlags
	cmd := &cobra.Command{
		Use:   "apply PLAN",
		Short: "Carry out a plan, or go on with it",
		Long: `Makes the classes that the plan needs, moves the default StorageClass, and changes the volumes batch by batch. A volume or
claim that is no longer what the plan was made for is left alone. Before each change a line is written to the journal; a change
whose answer was lost is looked up and not sent again. A volume is done when EBS says completed and the volume, read back, is
what it should be: that can take hours. Ctrl-C ends at any time; the same command goes on.

It ends with exit code 5 where some volumes could not be changed, and 3 where more failed than the plan allows.`,
		Example: `  ebscope migrate apply plan.json --dry-run
  ebscope migrate apply plan.json --context prod-a --context prod-b`,
		Args: oneArg("a plan"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			p, err := openPlan(cmd, args[0])
			if err != nil {
				return err
			}
			return carryOut(cmd.Context(), p, p.journal(o.journal), o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.add(cmd)
	return cmd
}

func newMigrateRollbackCommand() *cobra.Command {
	var o applyFlags
	cmd := &cobra.Command{
		Use:   "rollback PLAN",
		Short: "Give the volumes of a plan back what they were",
		Long: `Takes back what the plan's journal says was done, the last batch first: each volume gets the type, IOPS and throughput that
the plan recorded, and a claim whose class was refused for good asks for what it had.

Each change back uses one of the 4 changes that AWS allows a volume within 24 hours. The credits of a gp2 volume do not come
back, and a volume that was made larger stays so.`,
		Example: `  ebscope migrate rollback plan.json --dry-run
  ebscope migrate rollback plan.json`,
		Args: oneArg("a plan"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			p, err := openPlan(cmd, args[0])
			if err != nil {
				return err
			}
			path := p.journal(o.journal)
			back, err := reversed(cmd, p, path)
			if err != nil {
				return err
			}
			return carryOut(cmd.Context(), back, rollbackJournal(path), o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.add(cmd)
	return cmd
}

// reversed is the plan that takes back what was done of another one. The same journal gives the same plan.
func reversed(cmd *cobra.Command, p planFile, path string) (planFile, error) {
	catalog, err := catalogOf(cmd)
	if err != nil {
		return planFile{}, err
	}
	j, err := migrate.ReadJournal(path, p.digest)
	if err != nil {
		return planFile{}, ended(err)
	}
	carried, underWay := migrate.Carried(&p.plan, j)
	switch {
	case underWay > 0:
		return planFile{}, unmetError{fmt.Errorf("%s under way: see them through by `ebscope migrate apply %s` first; EBS cannot break off a change", counted(underWay, "change"), quoted(p.path))}
	case len(carried) == 0:
		return planFile{}, unmetError{fmt.Errorf("nothing of %s was carried out by this journal: %s", p.path, path)}
	}
	back := planFile{path: p.path}
	var text bytes.Buffer
	err = migration.Write(&text, migration.Reverse(p.plan, p.digest, carried, catalog))
	if err == nil {
		back.plan, back.digest, err = migration.Read(&text, catalog)
	}
	return back, err
}

// carryOut carries out a plan and says how far it came.
func carryOut(ctx context.Context, p planFile, path string, o applyFlags, stdout, stderr io.Writer) error {
	if o.dryRun {
		return showDryRun(p, path, o.output, stdout)
	}
	for _, n := range p.plan.Notes {
		fmt.Fprint(stderr, wrapped(n, "", textWidth(stderr)))
	}
	account, err := cloud.Open(ctx)
	if err != nil {
		return err
	}
	who, err := account.Identity(ctx)
	if err != nil {
		return err
	}
	clusters, err := o.connect(ctx, &p.plan)
	if err != nil {
		return err
	}
	journal, err := migrate.OpenJournal(path, p.digest, tool())
	if err != nil {
		return ended(err)
	}
	told := progressOf(&p.plan, journal, stderr)
	err = migrate.Apply(ctx, &p.plan, account, clusters, journal, migrate.Options{
		InFlight: o.inFlight, Poll: o.poll, RetryFailed: o.retryFailed, Account: who,
		Tell: told.tell,
	})
	told.steps.close()
	shown := showStatus(stdout, statusOf(p, path, journal), o.output)
	return errors.Join(ended(err), shown, journal.Close())
}

// migrationProgress says where the carrying out of a plan is.
type migrationProgress struct {
	steps   *steps
	stderr  io.Writer
	plan    *migration.Plan
	journal *migrate.Journal
	counted time.Time
}

func progressOf(p *migration.Plan, j *migrate.Journal, stderr io.Writer) *migrationProgress {
	return &migrationProgress{steps: newSteps(stderr), stderr: stderr, plan: p, journal: j}
}

// tell says what happened: what needs attention in a line of its own.
func (p *migrationProgress) tell(e migrate.Event) {
	attention := e.Outcome != "" && e.Outcome != migrate.Done && e.Outcome != migrate.Already || e.Kind == migrate.Object || e.Text != "" && e.Kind == migrate.Begin
	if attention {
		p.steps.close()
		text := string(e.Outcome) + ": " + e.Text
		if e.Outcome == "" {
			text = e.Text
		}
		if e.Step != nil {
			text = e.Step.Name() + " " + text
		}
		fmt.Fprint(p.stderr, wrapped(visible(text), "", textWidth(p.stderr)))
		return
	}
	if time.Since(p.counted) < stepOnTerminal { // counting goes through the whole plan
		return
	}
	c := migrate.Count(p.plan, p.journal)
	p.steps.at("%d of %d done, %d under way, %d failed", c.Done+c.Already, c.Steps, c.UnderWay, c.Failed+c.Infeasible)
	p.counted = time.Now()
}

func showDryRun(p planFile, path, output string, stdout io.Writer) error {
	j, err := migrate.ReadJournal(path, p.digest)
	if err != nil {
		return ended(err)
	}
	if output == "json" {
		return writeJSON(stdout, statusOf(p, path, j))
	}
	if err := migrationText(stdout, &p.plan); err != nil {
		return err
	}
	fmt.Fprintln(stdout)
	return showStatus(stdout, statusOf(p, path, j), output)
}

// connect reaches the clusters that a plan has something to do for.
func (o *applyFlags) connect(ctx context.Context, p *migration.Plan) (map[fleet.UID]migrate.Cluster, error) {
	needed := map[fleet.UID]string{}
	for i := range p.Defaults {
		needed[p.Defaults[i].ClusterUID] = p.Defaults[i].Cluster
	}
	for i := range p.Steps {
		if s := &p.Steps[i]; len(s.BlockedBy) == 0 && s.ClusterUID != "" {
			needed[s.ClusterUID] = s.Cluster
		}
	}
	found := map[fleet.UID]migrate.Cluster{}
	if o.noCluster || len(needed) == 0 {
		return found, nil
	}
	contexts := o.contexts
	if len(contexts) == 0 {
		contexts = []string{""}
	}
	for _, name := range contexts {
		client, err := cluster.Connect(cluster.Options{Kubeconfig: o.kubeconfig, Context: name, Version: strings.TrimPrefix(tool(), "ebscope ")})
		if err != nil {
			return nil, err
		}
		uid, err := client.UID(ctx)
		if err != nil {
			return nil, err
		}
		found[uid] = client
	}
	for uid, name := range needed {
		if found[uid] == nil {
			return nil, usage("the plan has something to do for cluster %s, and no context that was given is it: name it by --context, or leave it out by --no-cluster", name)
		}
	}
	return found, nil
}

package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"ebscope/internal/cloud"
	"ebscope/internal/fleet"
	"ebscope/internal/migrate"
	"ebscope/internal/migration"
	"ebscope/internal/result"
)

type migratePlanOptions struct {
	scanOptions
	optIn, trim   bool
	dearer        string
	batch, budget int
	maintenance   string
	journals      []string
	out, emit     string
}

func newMigratePlanCommand() *cobra.Command {
	var o migratePlanOptions
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Say how each gp2 volume becomes gp3, at which price, and what stands in the way",
		Long: `Reads account and clusters as scan does, or a snapshot of it, and changes nothing. Each gp2 volume is changed by a
VolumeAttributesClass where its cluster can do that, else by EC2's ModifyVolume; size, type, IOPS and throughput in one change.

A volume with the tag, or a claim with the annotation, ` + migration.Mark + `=false is left as it is; with --opt-in all are that
are not marked true. AWS allows 4 changes of a volume within 24 hours and tells the latest alone: --journal names the journals
of earlier plans, to count them all.

Without --out the plan is only shown. --emit writes it as commands instead: kubectl, terraform or aws-cli.`,
		Example: `  ebscope migrate plan --out plan.json
  ebscope migrate plan --from fleet.jsonl --sizing observed --dearer cheaper --out plan.yaml
  ebscope migrate plan -n shop --batch 20 --failure-budget 0 --maintenance-window "Sat,Sun 01:00-05:00 Asia/Seoul" --out plan.json
  ebscope migrate plan --from fleet.jsonl --emit kubectl`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if o.catalog, err = catalogOf(cmd); err != nil {
				return err
			}
			if o.from != "" {
				for _, name := range []string{"kubeconfig", "context", "no-cluster", "window"} {
					if cmd.Flags().Changed(name) {
						return usage("--%s says what is read; --from reads nothing but its file", name)
					}
				}
			}
			if o.sizing == string(fleet.Parity) && !cmd.Flags().Changed("window") {
				o.window = "0" // CloudWatch charges for metrics, and parity needs none
			}
			return runMigratePlan(cmd.Context(), o, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.from, "from", "", "work on a snapshot of ebscope scan, without any network; - for standard input")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig file (default $KUBECONFIG or ~/.kube/config)")
	f.StringArrayVar(&o.contexts, "context", nil, "context of the kubeconfig (default its current one); may be repeated")
	f.BoolVar(&o.noCluster, "no-cluster", false, "read the account alone; every volume is changed by EC2 then")
	f.StringSliceVar(&o.regions, "region", nil, "regions, also by pattern, such as eu-* or *")
	f.StringSliceVarP(&o.namespaces, "namespace", "n", nil, "volumes of these namespaces alone, also by pattern")
	f.StringArrayVar(&o.tags, "tag", nil, "volumes with this tag alone, KEY or KEY=VALUE; may be repeated")
	f.StringVar(&o.window, "window", "14d", "how far back a peak is looked for with --sizing observed")
	f.StringVar(&o.sizing, "sizing", string(fleet.Parity), "what a gp3 volume is given: parity with what it is now, or what was observed")
	f.Float64Var(&o.headroom, "headroom", 100*fleet.DefaultHeadroom, "percent that are added to an observed peak")
	f.StringVar(&o.dearer, "dearer", string(migration.MoveDearer), "volumes that would become dearer: move, cheaper (take the cheaper setting) or stay")
	f.BoolVar(&o.trim, "trim", false, "also plan gp3 volumes that have more than they use")
	f.BoolVar(&o.optIn, "opt-in", false, "plan only volumes that are marked "+migration.Mark+"=true")
	f.IntVar(&o.batch, "batch", migration.DefaultBatch, "how many volumes are changed before the next are begun")
	f.IntVar(&o.budget, "failure-budget", migration.DefaultBudget, "how many volumes may fail before no further one is begun")
	f.StringVar(&o.maintenance, "maintenance-window", "", `when changes may be begun, such as "Sat,Sun 01:00-05:00 Asia/Seoul"`)
	f.StringArrayVar(&o.journals, "journal", nil, "journal of an earlier plan, whose changes count; may be repeated")
	f.StringVar(&o.out, "out", "", "file for the plan: JSON, or YAML where it ends in .yaml")
	f.StringVar(&o.emit, "emit", "", "write the plan as commands: kubectl, terraform or aws-cli")
	outputFlag(cmd, &o.output, "text", "json")
	return cmd
}

// made are the options of the plan, as the flags ask for them.
func (o migratePlanOptions) made() (migration.Options, error) {
	m := migration.Options{Catalog: o.catalog, Tool: tool(), OptIn: o.optIn, Trim: o.trim, Dearer: migration.Dearer(o.dearer),
		Rules: migration.Rules{BatchSize: o.batch, FailureBudget: o.budget}, History: map[fleet.VolumeID][]time.Time{}}
	switch {
	case !slices.Contains([]migration.Dearer{migration.MoveDearer, migration.Cheaper, migration.Stay}, m.Dearer):
		return m, fmt.Errorf("--dearer %q: use move, cheaper or stay", o.dearer)
	case o.batch < 1:
		return m, fmt.Errorf("--batch %d: use at least 1", o.batch)
	case o.budget < 0:
		return m, fmt.Errorf("--failure-budget %d: use at least 0", o.budget)
	case o.emit != "" && !slices.Contains(migration.Forms(), migration.Form(o.emit)):
		return m, fmt.Errorf("--emit %q: use kubectl, terraform or aws-cli", o.emit)
	}
	if o.maintenance != "" {
		var err error
		if m.Rules.Window, err = migration.ParseWindow(o.maintenance); err != nil {
			return m, fmt.Errorf("--maintenance-window: %w", err)
		}
	}
	for _, path := range o.journals {
		if _, err := os.Stat(path); err != nil {
			return m, fmt.Errorf("--journal: %w", err)
		}
		j, err := migrate.ReadJournal(path, "")
		if err != nil {
			return m, err
		}
		for id, starts := range j.Starts() {
			m.History[id] = append(m.History[id], starts...)
		}
	}
	return m, nil
}

func runMigratePlan(ctx context.Context, o migratePlanOptions, stdin io.Reader, stdout, stderr io.Writer) error {
	made, err := o.made()
	if err != nil {
		return usageError{err}
	}
	o.sort = string(fleet.Keys[0])
	asked, err := o.plan()
	if err != nil {
		return usageError{err}
	}
	inventory, document, err := asked.inventory(ctx, stdin, stderr)
	if err != nil {
		return err
	}
	rows := document.Select(asked.filter, fleet.Keys[0]).Volumes
	p := migration.Make(&inventory, rows, made)
	if o.emit != "" {
		err = writeOut(o.out, stdout, func(w io.Writer) error { return migration.Emit(w, p, migration.Form(o.emit)) })
	} else {
		err = o.show(p, stdout)
	}
	if err != nil || len(document.Missing) == 0 {
		return err
	}
	return partError{fmt.Errorf("%s could not be read, so the plan is for the rest:\n%w", things(len(document.Missing)), missingError(document.Missing))}
}

// writeOut writes to a file, or where none is named to stdout.
func writeOut(path string, stdout io.Writer, write func(io.Writer) error) error {
	if path == "" {
		return write(stdout)
	}
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	if err := result.WriteFile(path, text.Bytes()); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	return nil
}

func (o migratePlanOptions) show(p migration.Plan, stdout io.Writer) error {
	if o.out != "" {
		if _, err := os.Stat((planFile{path: o.out}).journal("")); err == nil {
			return unmetError{fmt.Errorf("%s has a journal: a plan that was begun is not overwritten; name another file", o.out)}
		}
		write := migration.Write
		if ext := filepath.Ext(o.out); ext == ".yaml" || ext == ".yml" {
			write = migration.WriteYAML
		}
		if err := writeOut(o.out, stdout, func(w io.Writer) error { return write(w, p) }); err != nil {
			return err
		}
	}
	if o.output == "json" {
		return migration.Write(stdout, p)
	}
	if err := migrationText(stdout, &p); err != nil || o.out == "" {
		return err
	}
	_, err := fmt.Fprintf(stdout, "\nThe plan is in %s. To carry it out:\n  ebscope migrate apply %s\n", o.out, quoted(o.out))
	return err
}

// inventory reads the fleet, or a snapshot of it, and looks at it as scan does.
func (p *scanPlan) inventory(ctx context.Context, stdin io.Reader, stderr io.Writer) (fleet.Inventory, fleet.Document, error) {
	if p.from != "" {
		file, done, err := openFile(p.from, stdin)
		if err != nil {
			return fleet.Inventory{}, fleet.Document{}, usage("--from: %w", err)
		}
		defer done()
		saved, err := fleet.Open(file)
		if err != nil {
			return fleet.Inventory{}, fleet.Document{}, usage("%s: %w", p.from, err)
		}
		inventory := fleet.Join(saved.Snapshot())
		scan := fleet.NewScan(inventory, p.options(p.onlyRegion()))
		if err := saved.Metrics(func(m fleet.Metrics) error { scan.Add(m); return nil }); err != nil {
			return fleet.Inventory{}, fleet.Document{}, usage("%s: %w", p.from, err)
		}
		return inventory, scan.Document(saved.Snapshot().Missing), nil
	}
	now := time.Now()
	s := newSteps(stderr)
	defer s.close()
	l := &live{scanPlan: p, steps: s, snapshot: fleet.Snapshot{Tool: tool(), Taken: now.UTC().Truncate(time.Second)}}
	if !p.noCluster {
		// A plan without the clusters would go past them, so that they have to be left out on purpose.
		if err := l.readClusters(ctx); err != nil {
			return fleet.Inventory{}, fleet.Document{}, fmt.Errorf("%w\n--no-cluster plans for the account alone", err)
		}
	}
	if err := l.readAccount(ctx); err != nil {
		return fleet.Inventory{}, fleet.Document{}, err
	}
	if len(l.snapshot.Regions) == 0 && len(l.missing) > 0 {
		return fleet.Inventory{}, fleet.Document{}, unmetError{missingError(l.missing)}
	}
	if p.length > 0 {
		var err error
		if l.snapshot.Window, err = cloud.LatestWindow(now, p.length); err != nil {
			return fleet.Inventory{}, fleet.Document{}, usageError{err}
		}
	}
	inventory := fleet.Join(l.snapshot)
	scan := fleet.NewScan(inventory, p.options(l.priceRegion()))
	err := l.readMetrics(ctx, &inventory, func(m fleet.Metrics) error { scan.Add(m); return nil })
	if err != nil {
		return fleet.Inventory{}, fleet.Document{}, err
	}
	return inventory, scan.Document(l.missing), nil
}

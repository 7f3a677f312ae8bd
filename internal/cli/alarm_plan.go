package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ebscope/internal/alarm"
	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

type alarmPlanOptions struct {
	catalog   *ebs.Catalog
	from      string
	warn      time.Duration
	kinds     []string
	actions   []string
	out, emit string
	output    string
}

// longestWarning is far above what any volume's credits last.
const longestWarning = 24 * time.Hour

func newAlarmPlanCommand() *cobra.Command {
	var o alarmPlanOptions
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Say which alarms a fleet should have, and what has to change",
		Long: `Works out the alarms from a snapshot of ebscope scan and changes nothing. A plan is a file to be read, compared with another,
and applied.

  burst-balance        before a gp2, st1 or sc1 volume has used up its credits
  iops-exceeded        such a volume has held back I/O for 5 minutes, for its
  throughput-exceeded    operations or for its throughput (on Nitro instances)
  io-balance           before an instance falls to its baseline
  byte-balance

The time of warning counts from the moment at which the balance passes the threshold under the volume's highest observed
load, or its burst rate where none was observed. CloudWatch sees it up to a minute later. A volume that is detached has no
data, so that its alarm is in the state INSUFFICIENT_DATA and calls nobody. CloudWatch charges for each alarm.

Who keeps alarms in files gets them by --emit: cloudformation, terraform or prometheusrule.`,
		Example: `  ebscope alarm plan --from fleet.jsonl --action arn:aws:sns:ap-northeast-2:111122223333:pager --out alarms.json
  ebscope alarm plan --from fleet.jsonl --kinds burst-balance --warn 15m
  ebscope alarm plan --from fleet.jsonl --emit terraform --out alarms/`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if o.catalog, err = catalogOf(cmd); err != nil {
				return err
			}
			return runAlarmPlan(o, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.from, "from", "", "snapshot of a fleet, as ebscope scan --snapshot writes it; - for standard input")
	f.DurationVar(&o.warn, "warn", 5*time.Minute, "how long before the credits run out an alarm should come")
	f.StringSliceVar(&o.kinds, "kinds", kindNames(), "kinds of alarms that there should be; the others are deleted")
	f.StringArrayVar(&o.actions, "action", nil, "ARN that an alarm calls, such as an SNS topic's; may be repeated")
	f.StringVar(&o.out, "out", "", "file for the plan; with --emit, a folder for its files")
	f.StringVar(&o.emit, "emit", "", "write the alarms as cloudformation, terraform or prometheusrule")
	outputFlag(cmd, &o.output, "text", "json")
	return cmd
}

func kindNames() []string {
	var names []string
	for _, k := range alarm.Kinds {
		names = append(names, string(k))
	}
	return names
}

// options checks the flags.
func (o alarmPlanOptions) options() (alarm.Options, error) {
	made := alarm.Options{Catalog: o.catalog, Warn: o.warn, Actions: o.actions}
	switch {
	case o.from == "":
		return made, errors.New("--from is missing: name a snapshot, as ebscope scan --snapshot FILE writes it")
	case o.warn < time.Second || o.warn > longestWarning:
		return made, fmt.Errorf("--warn %v: use a second up to a day", o.warn)
	case o.emit != "" && !slices.Contains(alarm.Forms, alarm.Form(o.emit)):
		return made, fmt.Errorf("--emit %q: use cloudformation, terraform or prometheusrule", o.emit)
	}
	for _, name := range o.kinds {
		if !slices.Contains(alarm.Kinds, alarm.Kind(name)) {
			return made, fmt.Errorf("--kinds %q: there are %s", name, strings.Join(kindNames(), ", "))
		}
		made.Kinds = append(made.Kinds, alarm.Kind(name))
	}
	for _, arn := range o.actions {
		if !strings.HasPrefix(arn, "arn:") {
			return made, fmt.Errorf("--action %q is no ARN; write it like arn:aws:sns:ap-northeast-2:111122223333:pager", arn)
		}
	}
	return made, nil
}

func runAlarmPlan(o alarmPlanOptions, stdin io.Reader, stdout io.Writer) error {
	options, err := o.options()
	if err != nil {
		return usageError{err}
	}
	p, err := planFrom(o.from, stdin, options)
	if err != nil {
		return err
	}
	if o.emit != "" {
		err = emitAlarms(&p, alarm.Form(o.emit), o.out, stdout)
	} else {
		err = o.show(&p, stdout)
	}
	if err != nil || len(p.Missing) == 0 {
		return err
	}
	return partError{fmt.Errorf("%s could not be read when the fleet was, so the plan is for the rest:\n%w", counted(len(p.Missing), "thing"), missingError(p.Missing))}
}

// planFrom plans the alarms of a saved fleet.
func planFrom(path string, stdin io.Reader, o alarm.Options) (alarm.Plan, error) {
	file, done, err := openFile(path, stdin)
	if err != nil {
		return alarm.Plan{}, usage("--from: %w", err)
	}
	defer done()
	saved, err := fleet.Open(file)
	if err != nil {
		return alarm.Plan{}, usage("%s: %w", path, err)
	}
	inventory := fleet.Join(saved.Snapshot())
	scan := fleet.NewScan(inventory, fleet.Options{Catalog: o.Catalog})
	if err := saved.Metrics(func(m fleet.Metrics) error { scan.Add(m); return nil }); err != nil {
		return alarm.Plan{}, usage("%s: %w", path, err)
	}
	inventory.Snapshot.Missing = saved.Snapshot().Missing // known only now
	return alarm.New(&inventory, scan.Observed, o), nil
}

// openFile opens a file, or standard input for "-". The caller calls done.
func openFile(path string, stdin io.Reader) (r io.Reader, done func(), err error) {
	if path == "-" {
		return stdin, func() {}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	return f, func() { f.Close() }, nil
}

// show prints a plan, and writes it where a file is named.
func (o alarmPlanOptions) show(p *alarm.Plan, stdout io.Writer) error {
	if o.out != "" {
		var text bytes.Buffer
		if err := alarm.Write(&text, p); err != nil {
			return err
		}
		if err := result.WriteFile(o.out, text.Bytes()); err != nil {
			return fmt.Errorf("write the plan: %w", err)
		}
	}
	if o.output == "json" {
		return alarm.Write(stdout, p)
	}
	if err := alarmPlanText(stdout, p); err != nil || o.out == "" {
		return err
	}
	_, err := fmt.Fprintf(stdout, "\nThe plan is in %s. To carry it out:\n  ebscope alarm apply %s\n", o.out, quoted(o.out))
	return err
}

// emitAlarms writes the files of a form into a folder, or the only one to stdout.
func emitAlarms(p *alarm.Plan, form alarm.Form, folder string, stdout io.Writer) error {
	files, err := alarm.Emit(p, form)
	switch {
	case err != nil:
		return err
	case len(files) == 0:
		return unmetError{errors.New("the plan has no alarms to write")}
	case folder == "" && len(files) > 1:
		return usage("there are %d files, one for each account and region, and not too large: name a folder by --out", len(files))
	case folder == "":
		_, err = stdout.Write(files[0].Content)
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("write the alarms: %w", err)
	}
	for _, f := range files {
		path := filepath.Join(folder, f.Name)
		if err := result.WriteFile(path, f.Content); err != nil {
			return fmt.Errorf("write the alarms: %w", err)
		}
		fmt.Fprintln(stdout, "wrote", path)
	}
	return nil
}

// alarmPlanText prints a plan for people: what changes, and why.
func alarmPlanText(w io.Writer, p *alarm.Plan) error {
	width := textWidth(w)
	_, err := fmt.Fprint(w, wrapped(fmt.Sprintf("%s with %s of warning: %s.",
		counted(len(p.Alarms), "alarm"), short(time.Duration(p.WarnS*float64(time.Second))), alarmCounts(p)), "", width))
	rows := alarmRows(p)
	if len(rows) > 1 && err == nil {
		fmt.Fprintln(w)
		err = writeColumns(w, rows, width)
	}
	var notes []string
	for _, o := range p.Without {
		notes = append(notes, fmt.Sprintf("%s has no %s alarm: %s.", o.Subject, o.Kind, o.Because))
	}
	for _, warning := range p.Warnings {
		notes = append(notes, warning.Text)
	}
	for i, note := range notes {
		if i == 0 {
			fmt.Fprintln(w)
		}
		if _, failed := fmt.Fprint(w, wrapped(visible(note), "", width)); err == nil {
			err = failed
		}
	}
	return err
}

// alarmCounts says in a line how much changes.
func alarmCounts(p *alarm.Plan) string {
	var parts []string
	create, update, remove, keep := p.Changes()
	for _, part := range []struct {
		n    int
		what string
	}{{create, "to create"}, {update, "to update"}, {remove, "to delete"}, {keep, "as they should be"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", units.Thousands(float64(part.n)), part.what))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing to do")
}

// short writes a time without its zeros: "5m", not "5m0s".
func short(d time.Duration) string {
	text := d.String()
	for _, zero := range []struct{ long, short string }{{"m0s", "m"}, {"h0m", "h"}} {
		if rest, ok := strings.CutSuffix(text, zero.long); ok {
			text = rest + zero.short
		}
	}
	return text
}

// alarmRows are what changes, by account and region.
func alarmRows(p *alarm.Plan) [][]string {
	type entry struct {
		where, name string
		cells       []string
	}
	var entries []entry
	for i := range p.Alarms {
		a := &p.Alarms[i]
		if a.Action == alarm.Keep {
			continue
		}
		what, why := string(a.Kind), a.Because
		if a.WarningS != nil {
			what = fmt.Sprintf("%s <= %v %%", a.Kind, a.Alarm.Threshold)
			why = fmt.Sprintf("%v s, %s", *a.WarningS, a.Because)
		}
		if a.Was != nil && a.Was.Threshold != a.Alarm.Threshold {
			why += fmt.Sprintf("; was at %v", a.Was.Threshold)
		}
		entries = append(entries, entry{string(a.Account) + " " + a.Region, a.Alarm.Name, []string{string(a.Action), a.Subject, what, why}})
	}
	for _, r := range p.Delete {
		entries = append(entries, entry{string(r.Account) + " " + r.Region, r.Name, []string{"delete", r.Subject, string(r.Kind), r.Because}})
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Or(cmp.Compare(a.where, b.where), cmp.Compare(a.name, b.name)) })
	rows := [][]string{{"ACTION", "OF", "ALARM", "WARNS BEFORE, AND WHY"}}
	where := ""
	for _, e := range entries {
		if e.where != where {
			where = e.where
			rows = append(rows, []string{"Account and region " + where})
		}
		for i := range e.cells {
			e.cells[i] = visible(e.cells[i])
		}
		rows = append(rows, e.cells)
	}
	return rows
}

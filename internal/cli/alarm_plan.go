package cli

import (
	"bytes"
	"context"
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
)

type alarmPlanOptions struct {
	catalog   *ebs.Catalog
	from      string
	regions   []string
	window    string
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
		Long: `Reads the account, or a snapshot of ebscope scan, works out the alarms, and changes nothing. A plan is a file to be read,
compared with another, and applied.

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
  ebscope alarm plan --region 'ap-*' --kinds burst-balance --warn 15m
  ebscope alarm plan --from fleet.jsonl --emit terraform --out alarms/`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if o.catalog, err = catalogOf(cmd); err != nil {
				return err
			}
			for _, name := range []string{"region", "window"} {
				if o.from != "" && cmd.Flags().Changed(name) {
					return usage("--%s says what is read; --from reads nothing but its file", name)
				}
			}
			return runAlarmPlan(cmd.Context(), o, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.from, "from", "", "work on a snapshot of ebscope scan, without any network; - for standard input")
	f.StringSliceVar(&o.regions, "region", nil, "regions, also by pattern, such as eu-* or * (default: the environment's)")
	f.StringVar(&o.window, "window", "14d", "how far back a volume's peak is looked for, such as 12h or 7d; 0 reads no metrics")
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

func runAlarmPlan(ctx context.Context, o alarmPlanOptions, stdin io.Reader, stdout, stderr io.Writer) error {
	options, err := o.options()
	if err != nil {
		return usageError{err}
	}
	length, err := parseWindow(o.window)
	if err != nil {
		return usageError{err}
	}
	var p alarm.Plan
	if o.from != "" {
		p, err = planFrom(o.from, stdin, options)
	} else {
		p, err = planLive(ctx, o.regions, length, options, stderr)
	}
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
	return partError{fmt.Errorf("%s could not be read, so the plan is for the rest:\n%w", counted(len(p.Missing), "thing"), missingError(p.Missing))}
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

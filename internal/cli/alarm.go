package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"ebscope/internal/alarm"
	"ebscope/internal/cloud"
	"ebscope/internal/fleet"
	"ebscope/internal/units"
)

func newAlarmCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "alarm",
		Short: "Make CloudWatch alarms that warn before burst credits run out",
		Long: `Alarms that follow the volumes: each gp2, st1 and sc1 volume is watched until it has become something else or is gone. Where
an alarm fires is worked out from the volume's own peak, so that it leaves the time of warning that you ask for.

Only alarms that carry ebscope's tag are ever changed or deleted.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAlarmPlanCommand(), newAlarmApplyCommand(), newAlarmDeleteCommand())
	return cmd
}

func newAlarmApplyCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "apply PLAN",
		Short: "Make, update and delete alarms as a plan says",
		Long: `Does what a plan of ebscope alarm plan says, in the account that it is for. What is already so is left alone: a second time
changes nothing, and one that was cut short is done again. An alarm of the same name without ebscope's tag stays as it is.
One that fails does not keep the others from being made; then the exit code is 5.`,
		Example: `  ebscope alarm apply alarms.json`,
		Args:    oneArg("the file of a plan, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := readAlarmPlan(args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			account, err := cloud.Open(cmd.Context())
			if err != nil {
				return err
			}
			return applyAlarms(cmd.Context(), account, &p, output, cmd.OutOrStdout())
		},
	}
	outputFlag(cmd, &output, "text", "json")
	return cmd
}

func readAlarmPlan(path string, stdin io.Reader) (alarm.Plan, error) {
	file, done, err := openFile(path, stdin)
	if err != nil {
		return alarm.Plan{}, usageError{err}
	}
	defer done()
	p, err := alarm.Read(file)
	if err != nil {
		return p, usage("%s: %w", path, err)
	}
	return p, nil
}

func applyAlarms(ctx context.Context, account alarm.Account, p *alarm.Plan, output string, stdout io.Writer) error {
	var all deeds
	if output == "text" {
		all.stdout = stdout
	}
	err := alarm.Apply(ctx, account, p, all.tell)
	var other *alarm.AccountError
	if errors.As(err, &other) {
		return unmetError{err}
	}
	return all.finish(err, output, stdout)
}

func newAlarmDeleteCommand() *cobra.Command {
	var (
		all     bool
		regions []string
		output  string
	)
	cmd := &cobra.Command{
		Use:   "delete {NAME... | --all}",
		Short: "Delete alarms that ebscope made",
		Long: `Deletes the named alarms, or all, of the environment's region or of those given. Only alarms that carry ebscope's tag are
deleted; others of a similar name stay.`,
		Example: `  ebscope alarm delete ebscope-vol-0123456789abcdef0-burst-balance
  ebscope alarm delete --all --region 'ap-*'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return usage("%s takes names of alarms, or --all; see %s --help", cmd.CommandPath(), cmd.CommandPath())
			}
			for _, name := range args {
				if !strings.HasPrefix(name, cloud.AlarmPrefix) {
					return usage("alarm %q is not ebscope's: the names of its alarms begin with %s", name, cloud.AlarmPrefix)
				}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			account, err := cloud.Open(cmd.Context())
			if err != nil {
				return err
			}
			return deleteAlarms(cmd.Context(), account, regions, args, output, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "delete all that carry ebscope's tag")
	cmd.Flags().StringSliceVar(&regions, "region", nil, "regions, also by pattern, such as eu-* (default: the environment's)")
	outputFlag(cmd, &output, "text", "json")
	return cmd
}

func deleteAlarms(ctx context.Context, account cloud.Account, patterns, names []string, output string, stdout, stderr io.Writer) error {
	who, err := account.Identity(ctx)
	if err != nil {
		return err
	}
	regions, lost, err := account.Regions(ctx, who, patterns)
	if err != nil {
		return err
	}
	errs := []error{missingError(lost)}
	var all deeds
	if output == "text" {
		all.stdout = stdout
	}
	found := map[string]bool{}
	for _, region := range regions {
		err := alarm.Delete(ctx, account, region, names, func(d alarm.Done) {
			if d.Deed != alarm.Unchanged { // a name need not be in every region
				found[d.Name] = true
				all.tell(d)
			}
		})
		if err != nil {
			errs = append(errs, err)
		}
	}
	for _, name := range names {
		if !found[name] && ctx.Err() == nil {
			fmt.Fprintf(stderr, "ebscope: no alarm %s carries ebscope's tag in %s: none is deleted\n", name, strings.Join(regions, ", "))
		}
	}
	return all.finish(errors.Join(errs...), output, stdout)
}

// missingError is an error for what could not be read, nil where nothing is missing.
func missingError(lost []fleet.Missing) error {
	var errs []error
	for _, m := range lost {
		errs = append(errs, errors.New(missingText(m)))
	}
	return errors.Join(errs...)
}

// missingText says in a line what could not be read.
func missingText(m fleet.Missing) string {
	var where []string
	for _, part := range []string{string(m.Account), m.Region, m.Cluster, m.Namespace, m.Operation} {
		if part != "" {
			where = append(where, part)
		}
	}
	return visible(strings.Join(where, " ") + ": " + m.Text)
}

// deeds gathers what was done about alarms, and prints it as it comes.
type deeds struct {
	all    []alarm.Done
	stdout io.Writer // nil where nothing is printed before the end
}

func (d *deeds) tell(done alarm.Done) {
	d.all = append(d.all, done)
	if d.stdout == nil || done.Deed == alarm.Unchanged || done.Deed == alarm.Untried {
		return
	}
	fmt.Fprintf(d.stdout, "%s %s in %s\n", done.Deed, visible(done.Name), done.Region)
}

// alarmsDone is what was done, as it is printed in JSON.
type alarmsDone struct {
	Schema  string       `json:"schema"`
	Results []alarm.Done `json:"results"`
}

// finish prints the sum, and says how far it came: something done and something failed is a part.
func (d *deeds) finish(err error, output string, stdout io.Writer) error {
	count := map[alarm.Deed]int{}
	for _, done := range d.all {
		count[done.Deed]++
	}
	var printed error
	if output == "json" {
		printed = writeJSON(stdout, alarmsDone{"ebscope.alarms-done/v1", append([]alarm.Done{}, d.all...)})
	} else {
		var parts []string
		for _, deed := range []alarm.Deed{alarm.Created, alarm.Updated, alarm.Deleted, alarm.Unchanged, alarm.Failed, alarm.Untried} {
			if n := count[deed]; n > 0 {
				parts = append(parts, fmt.Sprintf("%s %s", units.Thousands(float64(n)), deed))
			}
		}
		if len(parts) == 0 {
			parts = []string{"none to change"}
		}
		_, printed = fmt.Fprintf(stdout, "Alarms: %s.\n", strings.Join(parts, ", "))
	}
	if err == nil {
		return printed
	}
	if count[alarm.Created]+count[alarm.Updated]+count[alarm.Deleted]+count[alarm.Unchanged] > 0 && !interrupted(err) {
		return partError{err}
	}
	return err
}

package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ebscope/internal/fleet"
	"ebscope/internal/migrate"
	"ebscope/internal/migration"
)

// migrationStatusSchema names the form of migrationStatus.
const migrationStatusSchema = "ebscope.migration-status/v1"

// migrationStatus is how far a plan is carried out, as JSON.
type migrationStatus struct {
	Schema   string                `json:"schema"`
	Plan     string                `json:"plan"`
	Digest   string                `json:"digest"`
	Journal  string                `json:"journal"`
	Begun    bool                  `json:"begun"`
	Counts   migrate.Counts        `json:"counts"`
	Steps    []migrationStepStatus `json:"steps"`
	Rollback *migrate.Counts       `json:"rollback,omitempty"`
}

type migrationStepStatus struct {
	Volume fleet.VolumeID   `json:"volume_id"`
	Claim  string           `json:"pvc"`
	Batch  int              `json:"batch"`
	Action migration.Action `json:"action"`
	// State is pending, under-way, blocked or an outcome.
	State string    `json:"state"`
	Text  string    `json:"text,omitempty"`
	Until time.Time `json:"until,omitzero"`
	At    time.Time `json:"at,omitzero"`
}

func newMigrateStatusCommand() *cobra.Command {
	var output, journal string
	cmd := &cobra.Command{
		Use:   "status PLAN",
		Short: "Say how far a plan is carried out, from its journal",
		Example: `  ebscope migrate status plan.json
  ebscope migrate status plan.json -o json`,
		Args: oneArg("a plan"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := openPlan(cmd, args[0])
			if err != nil {
				return err
			}
			path := p.journal(journal)
			j, err := migrate.ReadJournal(path, p.digest)
			if err != nil {
				return ended(err)
			}
			d := statusOf(p, path, j)
			if back, err := migrate.ReadJournal(rollbackJournal(path), ""); err == nil && back.Begun() {
				c := migrate.Count(&p.plan, back)
				d.Rollback = &c
			}
			return showStatus(cmd.OutOrStdout(), d, output)
		},
	}
	cmd.Flags().StringVar(&journal, "journal", "", "the plan's journal (default beside it, with .journal added)")
	outputFlag(cmd, &output, "text", "json")
	return cmd
}

func statusOf(p planFile, path string, j *migrate.Journal) migrationStatus {
	d := migrationStatus{Schema: migrationStatusSchema, Plan: p.path, Digest: p.digest, Journal: path, Begun: j.Begun(),
		Counts: migrate.Count(&p.plan, j), Steps: []migrationStepStatus{}}
	for i := range p.plan.Steps {
		s := &p.plan.Steps[i]
		row := migrationStepStatus{Volume: s.Volume, Claim: s.Claim, Batch: s.Batch, Action: s.Action, State: "pending"}
		state, known := j.State(s.Volume)
		switch {
		case len(s.BlockedBy) > 0:
			row.State, row.Text, row.Until = "blocked", s.BlockedBy[0].Text, s.BlockedBy[0].Until
		case known && state.UnderWay():
			row.State, row.At = "under-way", state.At
		case known && state.Kind == migrate.Ended:
			row.State, row.Text, row.Until, row.At = string(state.Outcome), state.Text, state.Until, state.At
		}
		d.Steps = append(d.Steps, row)
	}
	return d
}

func showStatus(w io.Writer, d migrationStatus, format string) error {
	if format == "json" {
		return writeJSON(w, d)
	}
	width, c := textWidth(w), d.Counts
	shown := 0
	for _, s := range d.Steps {
		if s.State == string(migrate.Done) || s.State == string(migrate.Already) || s.State == "pending" {
			continue
		}
		if shown++; shown > mostRows {
			fmt.Fprintln(w, "… and more; -o json has all.")
			break
		}
		name := string(s.Volume)
		if s.Claim != "" {
			name += " (" + s.Claim + ")"
		}
		fmt.Fprint(w, wrapped(visible(name+" "+s.State+until(s.Until)+": "+s.Text), "", width))
	}
	if shown > 0 {
		fmt.Fprintln(w)
	}
	state := "not begun"
	if d.Begun {
		state = "begun"
	}
	_, err := fmt.Fprint(w, wrapped(fmt.Sprintf("The plan is %s. Of %s: %s.", state, counted(c.Steps, "volume"), countsText(c)), "", width))
	if d.Rollback != nil && err == nil {
		_, err = fmt.Fprint(w, wrapped(fmt.Sprintf("It was taken back. Of these: %s.", countsText(*d.Rollback)), "", width))
	}
	return err
}

// countsText names what there is of each.
func countsText(c migrate.Counts) string {
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{
		{c.Done, "done"}, {c.Already, "so before"}, {c.UnderWay, "under way"}, {c.Pending, "pending"}, {c.Postponed, "postponed"},
		{c.Failed, "failed"}, {c.Infeasible, "infeasible"}, {c.Refused, "no longer as planned for"}, {c.Blocked, "blocked beside them"},
	} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

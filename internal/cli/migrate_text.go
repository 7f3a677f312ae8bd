package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"ebscope/internal/fleet"
	"ebscope/internal/migration"
	"ebscope/internal/units"
)

// mostRows is how many steps a text shows.
const mostRows = 50

// migrationText prints a plan for people.
func migrationText(w io.Writer, p *migration.Plan) error {
	width := textWidth(w)
	rows := [][]string{{"VOLUME", "WAY", "USD/MONTH", "CHANGE"}}
	var blocked []string
	for i := range p.Steps {
		s := &p.Steps[i]
		if len(s.BlockedBy) > 0 {
			if len(blocked) < mostRows {
				blocked = append(blocked, visible(s.Name()+": "+s.BlockedBy[0].Text))
			}
			continue
		}
		if len(rows) > mostRows {
			continue
		}
		rows = append(rows, []string{string(s.Volume), string(s.Action), difference(s.Difference), change(s)})
		if s.Claim != "" {
			rows = append(rows, []string{"  claim " + visible(s.Claim)})
		}
		if s.Dearer() && s.Cheaper != nil {
			rows = append(rows, []string{visible(fmt.Sprintf("  dearer; %s costs %s a month: it %s", s.Cheaper.Setting, difference(s.Cheaper.Difference), s.Cheaper.Text))})
		}
	}
	if p.Totals.Ready > 0 {
		if err := writeColumns(w, rows, width); err != nil {
			return err
		}
	}
	say := func(format string, args ...any) { fmt.Fprint(w, wrapped(fmt.Sprintf(format, args...), "", width)) }
	t := p.Totals
	if t.Ready > mostRows {
		say("… and more: %s in all. The plan has them.", counted(t.Ready, "volume"))
	}
	if len(blocked) > 0 {
		fmt.Fprintln(w, "\nNot now:")
		for _, text := range blocked {
			fmt.Fprint(w, wrapped(text, "  ", width))
		}
	}
	for _, d := range p.Defaults {
		verb := "becomes"
		if d.Create != nil {
			verb = "is made and becomes"
		}
		say("Cluster %s: StorageClass %s %s the only default (now: %s).", visible(d.Cluster), d.To, verb, visible(strings.Join(d.From, ", ")))
	}
	for _, c := range p.Templates {
		say("%s", visible(c.Text))
		for line := range strings.SplitSeq(c.Patch, "\n") {
			fmt.Fprintln(w, "  "+visible(line))
		}
	}
	if len(rows) > 1 || len(blocked) > 0 {
		fmt.Fprintln(w)
	}
	say("%s: %d by VolumeAttributesClass, %d by EC2, %d not now; %s, at most %d failures, window: %s.",
		counted(t.Volumes, "volume"), t.ByClass, t.ByAWS, t.Blocked, batchesOf(t.Batches), p.Rules.FailureBudget, p.Rules.Window)
	if t.Ready > t.Unpriced {
		say("$%s a month become $%s: %s.", exact(t.MonthlyBefore), exact(t.MonthlyAfter), difference(&t.Difference))
	}
	if t.Dearer > 0 {
		say("Dearer: %s, by %v a month together.", counted(t.Dearer, "volume"), t.DearerBy.USD())
	}
	for _, n := range p.Notes {
		say("%s", n)
	}
	return nil
}

func batchesOf(n int) string {
	if n == 1 {
		return "1 batch"
	}
	return units.Thousands(float64(n)) + " batches"
}

// difference prints an amount with its sign.
func difference(m *fleet.Money) string {
	switch {
	case m == nil:
		return "unknown"
	case *m > 0:
		return "+" + m.USD().String()
	case *m < 0:
		return "-" + (-*m).USD().String()
	}
	return "+0"
}

// exact prints an amount with all its decimals: sums of rounded ones would not add up.
func exact(m fleet.Money) string {
	text, err := m.MarshalJSON()
	if err != nil {
		return m.USD().String()
	}
	return string(text)
}

// change says what becomes of what.
func change(s *migration.Step) string {
	to := s.To.String()
	if s.Withdraw {
		return "the claim asks for what it had"
	}
	return fmt.Sprintf("%s %d GiB to %s", s.From.Type, s.From.SizeGiB, to)
}

// until says when something ends; empty where that is not known.
func until(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " (until " + t.UTC().Format(time.RFC3339) + ")"
}

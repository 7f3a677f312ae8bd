package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"ebscope/internal/alarm"
	"ebscope/internal/units"
)

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

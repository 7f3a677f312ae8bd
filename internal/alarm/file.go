package alarm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// largestFile is far above the plan of the largest account.
const largestFile = 1 << 30

// Write writes a plan as a file.
func Write(w io.Writer, p *Plan) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(p)
}

// Read reads a plan strictly: a field that is not known, or an alarm that ebscope would not make, is an error.
func Read(r io.Reader) (Plan, error) {
	var p Plan
	d := json.NewDecoder(io.LimitReader(r, largestFile))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, fmt.Errorf("read the plan: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return p, errors.New("read the plan: something follows its end")
	}
	if p.Schema != Schema {
		return p, fmt.Errorf("read the plan: its schema is %q; this version reads %s, as `ebscope alarm plan --out FILE` writes it", p.Schema, Schema)
	}
	seen := map[key]bool{}
	for i := range p.Alarms {
		w := &p.Alarms[i]
		if err := w.check(); err != nil {
			return p, fmt.Errorf("read the plan: alarm %q: %w", w.Alarm.Name, err)
		}
		at := key{w.Account, w.Region, w.Alarm.Name}
		if seen[at] {
			return p, fmt.Errorf("read the plan: alarm %q of %s is there twice", at.name, at.region)
		}
		seen[at] = true
	}
	for _, gone := range p.Delete {
		at := key{gone.Account, gone.Region, gone.Name}
		switch {
		case gone.Account == "" || gone.Region == "":
			return p, fmt.Errorf("read the plan: alarm %q, to be deleted, has no account or no region", gone.Name)
		case gone.Name != name(gone.Subject, gone.Kind):
			return p, fmt.Errorf("read the plan: alarm %q, to be deleted, is not ebscope's: that would be %q", gone.Name, name(gone.Subject, gone.Kind))
		case seen[at]:
			return p, fmt.Errorf("read the plan: alarm %q of %s is wanted, and to be deleted", at.name, at.region)
		}
		seen[at] = true
	}
	return p, nil
}

// check says what is wrong with an alarm of a plan that was edited. What AWS alone knows, AWS refuses.
func (w *Wanted) check() error {
	k, subject, ok := kindOf(&w.Alarm)
	a := &w.Alarm
	switch {
	case w.Account == "" || w.Region == "":
		return errors.New("it has no account or no region")
	case !ok || k != w.Kind || subject != w.Subject:
		return errors.New("its name, metric, dimensions, kind and subject do not go together: make a new plan")
	case w.Action != Create && w.Action != Update && w.Action != Keep:
		return fmt.Errorf("action %q: there are create, update and keep", w.Action)
	case math.IsNaN(a.Threshold) || a.Threshold < 0 || a.Threshold > 100:
		return fmt.Errorf("threshold %v: use 0 to 100", a.Threshold)
	case a.Comparison != atMost && a.Comparison != atLeast:
		return fmt.Errorf("comparison %q: use %s or %s", a.Comparison, atMost, atLeast)
	case a.PeriodS < 1 || a.PeriodS > 86400 || a.EvaluationPeriods < 1 || a.EvaluationPeriods > 86400:
		return fmt.Errorf("%d periods of %d s: use 1 or more, within a day", a.EvaluationPeriods, a.PeriodS)
	}
	return nil
}

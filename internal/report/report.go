// Package report renders the findings about a run for people: as text for a terminal, as Markdown, and as one HTML
// page that needs nothing else. The renderers are pure: they read no clock and no file, and add no finding of their own.
package report

import (
	"fmt"
	"slices"
	"strings"

	"ebscope/internal/analyze"
	"ebscope/internal/cost"
	"ebscope/internal/ebs"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// Report is what is known about a run.
type Report struct {
	Run      result.Run
	Catalog  *ebs.Catalog // the limits and prices that hold
	Document analyze.Document
	// Measured and Predicted hold the series to draw, at the index of the phase in Run.Phases; nil where there is none.
	Measured, Predicted []*result.Measurement
	// Readings are the results of other tools, at the index of their phase in Document.Phases; nil for a run of ebscope.
	Readings []result.Reading
	// Title takes the place of the headline; empty: the headline is what was found.
	Title string
	// Theme is the colour scheme of pages and pictures.
	Theme Theme
	// Tool and Command are the program that draws and its command line; empty: those of the run.
	Tool, Command string
}

// compress is how many times the run was compressed, 1 where it was not.
func (r Report) compress() float64 { return max(1, r.Document.Run.Compress) }

// prices returns the prices of the profile's region, and false where the run names none.
func (r Report) prices() (ebs.Prices, bool) {
	if r.Run.Profile.Region == "" {
		return ebs.Prices{}, false
	}
	p, err := r.Catalog.Prices(r.Run.Profile.Region)
	return p, err == nil
}

// pricesDate is the oldest date of the prices that are shown.
func (r Report) pricesDate() string {
	var types []ebs.Type
	for _, o := range r.options() {
		types = append(types, o.Volume.Type)
	}
	p, _ := r.prices()
	return p.Date(types...)
}

// options returns the priced configurations, none where the region is not known.
func (r Report) options() []cost.Option {
	p, ok := r.prices()
	if !ok {
		return nil
	}
	options := cost.ForProfile(r.Catalog, r.Run.Profile, p)
	for i, o := range options {
		options[i].Sustained, _ = r.held(o.Sustained)
		options[i].Throughput, _ = r.passed(r.Catalog.Performance(o.Volume).BaselineThroughput)
	}
	return options
}

// held returns what the run's instance holds for ever of a volume's IOPS, and whether that is less.
func (r Report) held(volume units.IOPS) (units.IOPS, bool) {
	instance, err := r.Catalog.Instance(r.Run.Profile.Instance)
	if err != nil || instance.BaselineIOPS >= volume {
		return volume, false
	}
	return instance.BaselineIOPS, true
}

// passed is held for a volume's throughput.
func (r Report) passed(volume units.Throughput) (units.Throughput, bool) {
	instance, err := r.Catalog.Instance(r.Run.Profile.Instance)
	if err != nil || instance.BaselineThroughput >= volume {
		return volume, false
	}
	return instance.BaselineThroughput, true
}

// heldNote says of a table of options that the instance holds less than some of the volumes; else it is empty.
func (r Report) heldNote() string {
	p, ok := r.prices()
	if !ok {
		return ""
	}
	var rate, data string
	for _, o := range cost.ForProfile(r.Catalog, r.Run.Profile, p) {
		if held, capped := r.held(o.Sustained); capped {
			rate = held.String()
		}
		if held, capped := r.passed(r.Catalog.Performance(o.Volume).BaselineThroughput); capped {
			data = mibps(held.MiBps()) + " MiB/s"
		}
	}
	what, most := "Sustained IOPS", rate
	switch {
	case rate == "" && data == "":
		return ""
	case rate == "":
		what, most = "MiB/s", data
	case data != "":
		what, most = what+" and MiB/s", most+" and "+data
	}
	return fmt.Sprintf("%s are at most the %s that %s holds for all its volumes.", what, most, r.Run.Profile.Instance)
}

// warning is a kind of doubt, with its cases. Where there are many, one stands for all, and Likewise names the phases of
// the others: they differ in a figure.
type warning struct {
	Code     string
	Cases    []warningCase
	Likewise []string
}

// manyCases is how many cases of a kind are each shown in words.
const manyCases = 3

// warningCase is a doubt in words, and the phases that it is about; none where it is about the whole run.
type warningCase struct {
	Text  string
	Where []string
}

// generic says for every phase at once what differs between them only in a figure that hardly matters. The analysis has
// them all.
var generic = map[string]string{
	"first-sample-excluded": "The first sample is left out of mean, minimum and maximum: it can hold the one-off burst of a full rate bucket.",
}

// remarks are warnings about how the run was made. The labels of a report say that too, so they need no alarm.
var remarks = map[string]bool{"emulated": true, "simulated": true, "compressed": true, "incomplete": true, "first-sample-excluded": true}

// warnings returns all doubts about the run, each once.
func (r Report) warnings() []warning {
	var all []warning
	add := func(w result.Warning, where ...string) {
		if text, ok := generic[w.Code]; ok {
			w.Text = text
		}
		kind := slices.IndexFunc(all, func(k warning) bool { return k.Code == w.Code })
		if kind < 0 {
			kind = len(all)
			all = append(all, warning{Code: w.Code})
		}
		cases := all[kind].Cases
		i := slices.IndexFunc(cases, func(c warningCase) bool { return c.Text == w.Text })
		if i < 0 {
			i = len(cases)
			cases = append(cases, warningCase{Text: w.Text})
		}
		cases[i].Where = append(cases[i].Where, where...)
		all[kind].Cases = cases
	}
	for _, w := range r.Document.Warnings {
		add(w)
	}
	names := r.names()
	for i, p := range r.Document.Phases {
		where := strings.TrimSpace(p.Volume + " " + p.Name)
		if where == "" { // a log alone
			where = names[i]
		}
		for _, w := range p.Warnings {
			add(w, where)
		}
	}
	for i := range all {
		w := &all[i]
		if len(w.Cases) <= manyCases || len(w.Cases[0].Where) == 0 {
			continue
		}
		for _, c := range w.Cases[1:] {
			w.Likewise = append(w.Likewise, c.Where...)
		}
		w.Cases = w.Cases[:1]
	}
	return all
}

// alarms counts the kinds of warning that are more than remarks.
func alarms(warnings []warning) int {
	n := 0
	for _, w := range warnings {
		if !remarks[w.Code] {
			n++
		}
	}
	return n
}

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/fio/output"
	"ebscope/internal/report"
	"ebscope/internal/result"
	"ebscope/internal/simulate"
)

// load reads a run directory, predicts what the model expects of it, and analyzes it, within the limits that it was
// made with, or those of given, which may be nil. What it could not read is in the notes of the analysis.
func load(ctx context.Context, dir string, given *ebs.Catalog) (report.Report, error) {
	l, err := loadMeasured(dir, given)
	if err != nil {
		return report.Report{}, err
	}
	predicted, err := simulate.Run(ctx, l.catalog, l.run.Profile, l.run.Compress, nil)
	if err != nil {
		return report.Report{}, fmt.Errorf("predict %s: %w", dir, err)
	}
	r := analyzed(l.catalog, l.run, l.measured, predicted)
	r.Document.Notes = l.notes
	return r, nil
}

// loaded is a run with the figures of the phases that are done. A phase whose files cannot be read counts as failed, and
// has a note.
type loaded struct {
	catalog  *ebs.Catalog
	run      result.Run
	measured []*result.Measurement
	notes    []result.Note
}

// loadMeasured reads a run directory, and finds the limits as load does. It fails where nothing of it can be read.
func loadMeasured(dir string, given *ebs.Catalog) (l loaded, err error) {
	if l.run, err = result.Load(dir); err != nil {
		return loaded{}, err
	}
	if l.catalog, err = l.run.Limits(); err != nil {
		return loaded{}, err
	}
	if given != nil {
		l.catalog = given
		if err := l.run.Profile.Validate(given); err != nil {
			return loaded{}, usageError{fmt.Errorf("--catalog does not fit the run %s: %w", dir, err)}
		}
	}
	l.measured = make([]*result.Measurement, len(l.run.Phases))
	read := output.ReadPhase
	if l.run.Target == result.Simulated {
		read = result.LoadMeasurement
	}
	var unread []error
	for i, p := range l.run.Phases {
		if p.State != result.Done {
			continue
		}
		m, err := read(filepath.Join(dir, p.Dir))
		if err != nil {
			unread = append(unread, err)
			l.run.Phases[i].State, l.run.Phases[i].Error = result.Failed, err.Error()
			l.notes = append(l.notes, result.Note{Source: result.Source{File: filepath.Join(dir, p.Dir)}, Text: err.Error(), Skipped: true})
			continue
		}
		l.measured[i] = &m
	}
	if len(unread) > 0 && !slices.ContainsFunc(l.measured, func(m *result.Measurement) bool { return m != nil }) {
		return loaded{}, errors.Join(unread...)
	}
	return l, nil
}

// analyzed holds what was measured against the prediction.
func analyzed(catalog *ebs.Catalog, run result.Run, measured []*result.Measurement, predicted []simulate.Phase) report.Report {
	r := report.Report{Run: run, Catalog: catalog, Document: analyze.Run(catalog, run, measured, predicted), Measured: measured}
	for i := range predicted {
		r.Predicted = append(r.Predicted, &predicted[i].Measurement)
	}
	return r
}

// save writes the findings of a run into its directory: the analysis and the reports.
func save(dir string, r report.Report) error {
	text, err := json.MarshalIndent(r.Document, "", "  ")
	if err != nil {
		return fmt.Errorf("write the analysis: %w", err)
	}
	return errors.Join(
		result.WriteFile(filepath.Join(dir, result.AnalysisFile), append(text, '\n')),
		writeReport(filepath.Join(dir, result.HTMLFile), r, report.HTML),
		writeReport(filepath.Join(dir, result.MarkdownFile), r, report.Markdown),
	)
}

// show prints the findings in the format that was asked for.
func show(w io.Writer, r report.Report, format string) error {
	switch format {
	case "json":
		return writeJSON(w, r.Document)
	case "markdown":
		return report.Markdown(w, r)
	case "html":
		return report.HTML(w, r)
	default:
		width, colour := canvas(w)
		return report.Terminal(w, r, width, colour)
	}
}

// plainWidth is the width of tables that do not go to a terminal.
const plainWidth = 80

// canvas returns the columns that a report has, and whether it may use styles and colours.
func canvas(w io.Writer) (width int, colour bool) {
	width, ok := terminal(w)
	if !ok {
		return plainWidth, false
	}
	return width, colours()
}

// colours says whether the user's terminal understands styles, and the user wants them (https://no-color.org).
func colours() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }

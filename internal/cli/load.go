package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/fio/output"
	"ebscope/internal/report"
	"ebscope/internal/result"
	"ebscope/internal/simulate"
)

// load reads a run directory, predicts what the model expects of it, and analyzes it, within the limits that it was
// made with, or those of given, which may be nil.
func load(ctx context.Context, dir string, given *ebs.Catalog) (report.Report, error) {
	catalog, run, measured, err := loadMeasured(dir, given)
	if err != nil {
		return report.Report{}, err
	}
	predicted, err := simulate.Run(ctx, catalog, run.Profile, run.Compress, nil)
	if err != nil {
		return report.Report{}, fmt.Errorf("predict %s: %w", dir, err)
	}
	return analyzed(catalog, run, measured, predicted), nil
}

// loadMeasured reads a run directory, and finds the limits as load does.
func loadMeasured(dir string, given *ebs.Catalog) (*ebs.Catalog, result.Run, []*result.Measurement, error) {
	fail := func(err error) (*ebs.Catalog, result.Run, []*result.Measurement, error) {
		return nil, result.Run{}, nil, err
	}
	run, err := result.Load(dir)
	if err != nil {
		return fail(err)
	}
	catalog, err := run.Limits()
	if err != nil {
		return fail(err)
	}
	if given != nil {
		catalog = given
		if err := run.Profile.Validate(catalog); err != nil {
			return fail(usageError{fmt.Errorf("--catalog does not fit the run %s: %w", dir, err)})
		}
	}
	measured := make([]*result.Measurement, len(run.Phases))
	for i, p := range run.Phases {
		if p.State != result.Done {
			continue
		}
		read := output.ReadPhase
		if run.Target == result.Simulated {
			read = result.LoadMeasurement
		}
		m, err := read(filepath.Join(dir, p.Dir))
		if err != nil {
			return fail(err)
		}
		measured[i] = &m
	}
	return catalog, run, measured, nil
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

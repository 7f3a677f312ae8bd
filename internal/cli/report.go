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
	"unicode/utf8"

	"github.com/spf13/cobra"

	"ebscope/docs/schema"
	"ebscope/internal/intake"
	"ebscope/internal/report"
	"ebscope/internal/result"
)

type reportOptions struct {
	analyzeOptions
	theme  string
	title  string
	dir    string
	schema bool
}

func newReportCommand() *cobra.Command {
	var o reportOptions
	cmd := &cobra.Command{
		Use:   "report PATH…",
		Short: "Draw results: a table, a page, pictures, or data",
		Long: `Draws run directories, or what analyze reads of anyone's results, as a table, Markdown, or one HTML page; each chart as an
SVG or PNG picture; every sample as CSV; the figures as OpenMetrics or JSON. Everything states what it was made from: run,
options, program and times.

Pictures go to files in --dir; a single one may go to stdout. With --theme auto, a page follows its reader's settings,
and pictures are light.`,
		Example: `  ebscope report runs/20261130T120000Z-gp2-vs-gp3-emulated
  ebscope report runs/20261130T120000Z-gp2-vs-gp3-emulated -o html > cliff.html
  ebscope report runs/20261130T120000Z-gp2-vs-gp3-emulated -o png --theme dark --dir pictures
  ebscope report runs/* -o csv > samples.csv
  ebscope report fio.json fio_iops.1.log --volume gp2:100GiB -o html > results.html
  ebscope report --schema`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !o.schema {
				return usage("%s takes at least one path: a run directory, files or folders with results, or -; see %s --help", cmd.CommandPath(), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.schema {
				_, err := cmd.OutOrStdout().Write(schema.Analysis)
				return err
			}
			err := notEmpty(cmd, "volume", "instance", "latency-unit", "title", "dir")
			if err != nil {
				return err
			}
			if n := utf8.RuneCountInString(o.title); n > longestTitle {
				return usage("--title has %d characters; a title has %d at most", n, longestTitle)
			}
			if o.catalog, err = givenCatalog(cmd); err != nil {
				return err
			}
			reports, err := o.load(cmd.Context(), args, cmd.InOrStdin())
			if err != nil {
				return err
			}
			for i := range reports {
				reports[i].Title, reports[i].Theme, reports[i].Tool, reports[i].Command = o.title, report.Theme(o.theme), tool(), commandLine()
			}
			return o.draw(reports, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	o.flags(cmd)
	f.StringVar(&o.theme, "theme", string(report.Auto), "colours of a page or picture: auto, light, dark")
	f.StringVar(&o.title, "title", "", "title, instead of what was found")
	f.StringVar(&o.dir, "dir", "", "folder for pictures, which is made if needed")
	f.BoolVar(&o.schema, "schema", false, "print the JSON Schema of -o json, and do nothing else")
	outputFlag(cmd, &o.output, "text", "markdown", "html", "svg", "png", "csv", "openmetrics", "json")
	check := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		switch report.Theme(o.theme) {
		case report.Auto, report.Light, report.Dark:
			return check(cmd, args)
		}
		return usage("--theme %q: use auto, light or dark", o.theme)
	}
	return cmd
}

// longestTitle is how many characters of a title a page can show without hiding what it is of.
const longestTitle = 200

// commandLine is how the program was called, for what it makes to record.
func commandLine() string {
	words := []string{"ebscope"}
	for _, word := range os.Args[min(1, len(os.Args)):] {
		words = append(words, quoted(word))
	}
	return strings.Join(words, " ")
}

// load reads run directories, or else what any tool wrote as one report.
func (o reportOptions) load(ctx context.Context, paths []string, stdin io.Reader) ([]report.Report, error) {
	if !slices.ContainsFunc(paths, isRunDirectory) {
		r, err := loadReadings(ctx, paths, o.analyzeOptions, stdin)
		return []report.Report{r}, err
	}
	if o.says() {
		return nil, usage("a run directory says itself what was measured; leave out --volume, --instance and --latency-unit")
	}
	var reports []report.Report
	for _, path := range paths {
		if !exists(path) {
			return nil, usage("%s does not exist; give the path of a run directory", path)
		}
		if !isRunDirectory(path) {
			return nil, usage("%s is not a run directory: it has no %s; give run directories, or other results, at a time", path, result.RunFile)
		}
		r, err := load(ctx, path, o.catalog)
		if err != nil {
			return nil, err
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// draw writes the reports in the format that was asked for. Where input was skipped, an error says so after the rest.
func (o reportOptions) draw(reports []report.Report, stdout, stderr io.Writer) error {
	r := reports[0]
	several := o.output == "csv" || o.output == "openmetrics"
	if len(reports) > 1 && !several {
		return usage("-o %s draws one run at a time, and there are %d; -o csv and -o openmetrics take several", o.output, len(reports))
	}
	for _, n := range r.Document.Notes {
		fmt.Fprintln(stderr, "ebscope:", intake.Line(n))
	}
	var err error
	switch o.output {
	case "csv":
		err = report.CSV(stdout, reports...)
	case "openmetrics":
		err = report.OpenMetrics(stdout, reports...)
	case "svg":
		err = o.pictures(r.Pictures(), report.Picture.SVG, stdout, stderr)
	case "png":
		err = o.pictures(r.Pictures(), report.Picture.PNG, stdout, stderr)
	case "json":
		err = report.JSON(stdout, r)
	default:
		err = show(stdout, r, o.output)
	}
	if err != nil {
		return err
	}
	if r.Readings != nil {
		if err := allFailed(r.Document.Phases); err != nil {
			return err
		}
	}
	return skipped(r.Document.Notes)
}

// pictures writes each picture to a file in a folder, or a single one to stdout where no folder is given.
func (o reportOptions) pictures(all []report.Picture, draw func(report.Picture, io.Writer) error, stdout, stderr io.Writer) error {
	if len(all) == 0 {
		return errors.New("there is nothing to draw: no series and no distribution is known")
	}
	if o.dir == "" {
		if len(all) == 1 {
			return draw(all[0], stdout)
		}
		return usage("-o %s draws %d pictures; name a folder for them with --dir", o.output, len(all))
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return fmt.Errorf("cannot make the folder for pictures: %w; name another with --dir", err)
	}
	for _, p := range all {
		var b bytes.Buffer
		path := filepath.Join(o.dir, p.Name+"."+o.output)
		if err := draw(p, &b); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := result.WriteFile(path, b.Bytes()); err != nil {
			return err
		}
		fmt.Fprintln(stderr, path)
	}
	return nil
}

// writeReport renders a report in full before it replaces the file.
func writeReport(path string, r report.Report, render func(io.Writer, report.Report) error) error {
	var b bytes.Buffer
	if err := render(&b, r); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return result.WriteFile(path, b.Bytes())
}

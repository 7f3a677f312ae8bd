package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"ebscope/docs/schema"
	"ebscope/internal/ebs"
	"ebscope/internal/report"
	"ebscope/internal/result"
)

type reportOptions struct {
	output string
	theme  string
	title  string
	dir    string
	schema bool
}

func newReportCommand() *cobra.Command {
	var o reportOptions
	cmd := &cobra.Command{
		Use:   "report PATH…",
		Short: "Draw the report of a run: a table, a page, pictures, or data",
		Long: `Draws run directories as a table, Markdown, or one HTML page; each chart as an SVG or PNG picture; every sample as CSV;
the figures as OpenMetrics or JSON. Everything states what it was made from: run, options, program and times.

Pictures go to files in --dir; a single one may go to stdout. With --theme auto, a page follows its reader's settings,
and pictures are light.`,
		Example: `  ebscope report runs/20261130T120000Z-gp2-vs-gp3-emulated
  ebscope report runs/20261130T120000Z-gp2-vs-gp3-emulated -o html > cliff.html
  ebscope report runs/20261130T120000Z-gp2-vs-gp3-emulated -o png --theme dark --dir pictures
  ebscope report runs/* -o csv > samples.csv
  ebscope report --schema`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !o.schema {
				return usage("%s takes at least one argument, a run directory; see %s --help", cmd.CommandPath(), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.schema {
				_, err := cmd.OutOrStdout().Write(schema.Analysis)
				return err
			}
			catalog, err := givenCatalog(cmd)
			if err != nil {
				return err
			}
			return runReport(cmd.Context(), args, o, catalog, commandLine(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
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

// commandLine is how the program was called, for what it makes to record.
func commandLine() string {
	words := []string{"ebscope"}
	for _, word := range os.Args[min(1, len(os.Args)):] {
		words = append(words, quoted(word))
	}
	return strings.Join(words, " ")
}

func runReport(ctx context.Context, paths []string, o reportOptions, given *ebs.Catalog, command string, stdout, stderr io.Writer) error {
	var reports []report.Report
	for _, path := range paths {
		if err := isRun(path); err != nil {
			return err
		}
		r, err := load(ctx, path, given)
		if err != nil {
			return err
		}
		r.Title, r.Theme, r.Tool, r.Command = o.title, report.Theme(o.theme), tool(), command
		reports = append(reports, r)
	}
	switch o.output {
	case "csv":
		return report.CSV(stdout, reports...)
	case "openmetrics":
		return report.OpenMetrics(stdout, reports...)
	}
	if len(reports) > 1 {
		return usage("-o %s draws one run at a time, and there are %d; -o csv and -o openmetrics take several", o.output, len(reports))
	}
	r := reports[0]
	switch o.output {
	case "svg":
		return pictures(r.Pictures(), o, report.Picture.SVG, stdout, stderr)
	case "png":
		return pictures(r.Pictures(), o, report.Picture.PNG, stdout, stderr)
	case "json":
		return report.JSON(stdout, r)
	}
	return show(stdout, r, o.output)
}

// pictures writes each picture to a file in a folder, or a single one to stdout where no folder is given.
func pictures(all []report.Picture, o reportOptions, draw func(report.Picture, io.Writer) error, stdout, stderr io.Writer) error {
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

// isRun says of a path that is no run directory what is wrong with it.
func isRun(path string) error {
	_, err := os.Stat(filepath.Join(path, result.RunFile))
	switch {
	case err == nil:
		return nil
	case isOneOf(err, fs.ErrNotExist, syscall.ENOTDIR):
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return usage("%s is not there; give a run directory, as bench and simulate name it", path)
		}
		return usage("%s is not a run directory: it has no %s; give one that bench or simulate made", path, result.RunFile)
	default:
		return err
	}
}

// writeReport renders a report in full before it replaces the file.
func writeReport(path string, r report.Report, render func(io.Writer, report.Report) error) error {
	var b bytes.Buffer
	if err := render(&b, r); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return result.WriteFile(path, b.Bytes())
}

package cli

import (
	"bytes"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"ebscope/internal/report"
	"ebscope/internal/result"
)

func newReportCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "report RUN",
		Short: "Print the report of a run directory as a table, Markdown or a page",
		Example: `  ebscope report runs/20261130T120000Z-gp2-vs-gp3-emulated
  ebscope report runs/20261130T120000Z-gp2-vs-gp3-emulated -o html > cliff.html`,
		Args: oneArg("a run directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			catalog, err := givenCatalog(cmd)
			if err != nil {
				return err
			}
			r, err := load(cmd.Context(), args[0], catalog)
			if err != nil {
				return err
			}
			return show(cmd.OutOrStdout(), r, output)
		},
	}
	outputFlag(cmd, &output, "text", "markdown", "html", "json")
	return cmd
}

// writeReport renders a report in full before it replaces the file.
func writeReport(path string, r report.Report, render func(io.Writer, report.Report) error) error {
	var b bytes.Buffer
	if err := render(&b, r); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return result.WriteFile(path, b.Bytes())
}

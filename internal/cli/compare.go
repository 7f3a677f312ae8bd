package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"ebscope/internal/compare"
	"ebscope/internal/intake"
	"ebscope/internal/report"
	"ebscope/internal/result"
)

func newCompareCommand() *cobra.Command {
	var output, failOn string
	var o analyzeOptions
	cmd := &cobra.Command{
		Use:   "compare BASELINE OTHER...",
		Short: "Hold runs or files against a baseline, and say which differences are proved",
		Long: `Compares each further run or file with the first, phase by phase, and shows the options that differ before any figure.

A subject is a run directory, or a file of results that analyze reads. RUN:VOLUME is one volume of a run. Several that
repeat each other are one subject, separated by commas or as a pattern in quotes: 'runs/ID-r*', as bench --repeat
makes them.

Repeated runs, four a side or more, are tested by the Mann-Whitney U test, one run a side by a bootstrap over its series.
A difference that is not proved is shown as ~.

--fail-on names changes that are not acceptable, of iops, throughput, mean, p50, p95, p99 or max, separated by commas;
one that is proved, or cannot be tested, ends with exit code 3, and so does a phase that failed or is missing. PHASE:iops<-5% is about one phase.`,
		Example: `  ebscope compare runs/before runs/after --fail-on 'iops<-5%,p99>+10%'
  ebscope compare runs/20261130T120000Z-gp2-vs-gp3-emulated:gp3 runs/20261130T120000Z-gp2-vs-gp3-emulated:gp2
  ebscope compare 'runs/20261130T120000Z-quick-path-r*' 'runs/20261201T120000Z-quick-path-r*' -o markdown`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usage("%s takes two runs or files, or more, the baseline first; see %s --help", cmd.CommandPath(), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var thresholds []compare.Threshold
			if cmd.Flags().Changed("fail-on") {
				var err error
				if thresholds, err = compare.ParseThresholds(failOn); err != nil {
					return usage("--fail-on %q: %w", failOn, err)
				}
			}
			if err := notEmpty(cmd, "latency-unit"); err != nil {
				return err
			}
			_, err := o.unit()
			if err != nil {
				return err
			}
			if o.catalog, err = givenCatalog(cmd); err != nil {
				return err
			}
			return runCompare(cmd.Context(), args, o, thresholds, output, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	latencyUnitFlag(cmd, &o.latencyUnit)
	cmd.Flags().StringVar(&failOn, "fail-on", "", "changes that are not acceptable, such as 'iops<-5%,p99>+10%'")
	outputFlag(cmd, &output, "text", "json", "markdown", "csv", "html")
	return cmd
}

func runCompare(ctx context.Context, args []string, o analyzeOptions, thresholds []compare.Threshold, output string, stdin io.Reader, stdout io.Writer) error {
	subjects := make([]compare.Subject, len(args))
	var notes []result.Note
	for i, arg := range args {
		s, of, err := loadSubject(ctx, arg, o, stdin)
		if err != nil {
			return err
		}
		subjects[i] = s
		notes = append(notes, of...)
	}
	distinguish(subjects)
	d := compare.Compare(subjects[0], subjects[1:], thresholds)
	for _, n := range notes {
		if n.Skipped {
			d.Notes = append(d.Notes, "Skipped: "+intake.Line(n))
		}
	}
	if err := showComparison(stdout, d, subjects, output); err != nil {
		return err
	}
	switch {
	case d.Regression:
		return thresholdError{fmt.Errorf("past --fail-on: %s", d.Regressions[0]+andMore(len(d.Regressions)-1))}
	case len(d.Rows) == 0:
		return errors.New("no phase of one has its like in another: there is nothing to compare")
	case len(d.Unjudged) > 0:
		return partError{fmt.Errorf("--fail-on: no figure to judge %s by", strings.Join(d.Unjudged, ", "))}
	default:
		return skipped(notes)
	}
}

// andMore says that there are more than the one that is named.
func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d more", n)
}

// distinguish numbers subjects of one name: rows name the subject that they are about.
func distinguish(subjects []compare.Subject) {
	seen := map[string]int{}
	for i := range subjects {
		name := subjects[i].Name
		if seen[name]++; seen[name] > 1 {
			subjects[i].Name = fmt.Sprintf("%s (%d)", name, seen[name])
		}
	}
}

func showComparison(w io.Writer, d compare.Document, subjects []compare.Subject, format string) error {
	switch format {
	case "json":
		return writeJSON(w, d)
	case "markdown":
		return report.ComparisonMarkdown(w, d)
	case "csv":
		return report.ComparisonCSV(w, d)
	case "html":
		return report.ComparisonHTML(w, d, subjects, tool())
	default:
		width, colour := canvas(w)
		return report.Comparison(w, d, width, colour)
	}
}

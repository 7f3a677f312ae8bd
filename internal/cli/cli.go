// Package cli is the command line: one file per command. It is the only place that wires the edges (fio, emulated
// volumes, files) to the logic, and the only one that prints. Results go to stdout, everything else to stderr.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Main runs ebscope and returns its exit code.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRootCommand()
	root.SetArgs(args[1:])
	out := &resultWriter{Writer: stdout}
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = out.err // of help, whose errors cobra keeps
	}
	if readerGone(err) {
		return exitReaderGone
	}
	if err != nil {
		fmt.Fprintln(stderr, "ebscope:", indent(message(err)))
	}
	return exitCode(err)
}

// message says what failed; where it was the user's Ctrl-C, in words that are not the program's own.
func message(err error) string {
	if interrupted(err) {
		return strings.ReplaceAll(err.Error(), context.Canceled.Error(), "interrupted")
	}
	return err.Error()
}

// indent keeps the further lines of a joined error apart from what follows.
func indent(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") }

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "ebscope",
		Short: "Measure, explain, predict and remove the gp2 burst-credit cliff",
		Long: `ebscope measures EBS volumes with fio, says which limit held and when burst credits run out, and what gp3 would do
and cost. Without an AWS account it shows it on emulated volumes.

  ebscope bench     gp2 against gp3 on two emulated volumes, in two minutes

Exit codes: 0 done, 1 failed, 2 wrong use, 3 a threshold or comparison failed, 4 declined: it would harm data or
cannot apply here, 5 done in part, 130 interrupted, 141 the reader of the output went away.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	fitHelp(root)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage("%w; see %s --help", err, cmd.CommandPath())
	})
	root.PersistentFlags().String(catalogFlag, "", "YAML file with limits and prices that are added to those that ship, or override them")
	root.AddCommand(newBenchCommand(), newStatusCommand(), newAttachCommand(), newCollectCommand(), newEmulateCommand(), newStatsCommand(), newSimulateCommand(), newCalibrateCommand(), newAnalyzeCommand(), newReportCommand(), newLimitsCommand(),
		newCompareCommand(), newSpreadCommand(), newScanCommand(), newForecastCommand(), newSizeCommand(), newCheckCommand(), newAlarmCommand(), newMigrateCommand(), newCleanupCommand(), newVersionCommand())
	return root
}

// usageError is a wrong use of the command line.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && cmd.HasSubCommands() {
		text := fmt.Sprintf("unknown command %q for %s", args[0], cmd.CommandPath())
		cmd.SuggestionsMinimumDistance = 2
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			text += "; did you mean " + strings.Join(near, ", ") + "?"
		}
		return usage("%s; see %s --help", text, cmd.CommandPath())
	}
	if len(args) > 0 {
		return usage("%s takes no argument %q; see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	return nil
}

func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usage("%s takes one argument, %s; see %s --help", cmd.CommandPath(), what, cmd.CommandPath())
		}
		return nil
	}
}

// outputFlag adds -o, which takes one of the formats; the first is the default.
func outputFlag(cmd *cobra.Command, value *string, formats ...string) {
	cmd.Flags().StringVarP(value, "output", "o", formats[0], "output format: "+strings.Join(formats, ", "))
	check := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		for _, f := range formats {
			if *value == f {
				if check != nil {
					return check(cmd, args)
				}
				return nil
			}
		}
		return usage("--output %q: use %s", *value, strings.Join(formats, " or "))
	}
}

// terminal returns the width of the terminal behind w, and false where w is none.
func terminal(w io.Writer) (width int, ok bool) {
	if o, ok := w.(*resultWriter); ok {
		w = o.Writer
	}
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	return width, err == nil
}

// interrupted says whether an error comes from the user's Ctrl-C.
func interrupted(err error) bool { return errors.Is(err, context.Canceled) }

package cli

import (
	"bytes"
	"strings"

	"github.com/spf13/cobra"
)

// fitHelp keeps help within the width of a plain terminal. Examples stay as they are: a command is copied as one line.
func fitHelp(root *cobra.Command) {
	cobra.AddTemplateFunc("reflowed", reflowed)
	root.SetHelpTemplate(strings.Replace(root.HelpTemplate(), "(or .Long .Short)", "(or .Long .Short | reflowed)", 1))
	usages := root.UsageTemplate()
	for _, flags := range []string{".LocalFlags", ".InheritedFlags"} {
		usages = strings.Replace(usages, flags+".FlagUsages ", "("+flags+".FlagUsagesWrapped 80) ", 1)
	}
	cobra.AddTemplateFunc("hanging", hanging)
	usages = strings.ReplaceAll(usages, "{{rpad .Name .NamePadding }} {{.Short}}", "{{rpad .Name .NamePadding }} {{hanging .Short .NamePadding}}")
	root.SetUsageTemplate(usages)

	usual := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		stdout := cmd.OutOrStdout()
		var text bytes.Buffer
		cmd.SetOut(&text)
		usual(cmd, args)
		cmd.SetOut(stdout)
		_, _ = stdout.Write(text.Bytes()) // Main sees to the error, which cobra would only print
	})
}

// hanging breaks what a command does into lines below its first, which begins behind a name of so many columns.
func hanging(text string, name int) string {
	indent := strings.Repeat(" ", 2+name+1)
	return strings.TrimSpace(wrapped(text, indent, plainWidth))
}

// reflowed breaks the paragraphs of a text anew; indented lines, such as examples, are left alone.
func reflowed(text string) string {
	var b strings.Builder
	var paragraph []string
	flush := func() {
		if len(paragraph) > 0 {
			b.WriteString(wrapped(strings.Join(paragraph, " "), "", plainWidth))
			paragraph = nil
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" && line[0] != ' ' {
			paragraph = append(paragraph, line)
			continue
		}
		flush()
		b.WriteString(line + "\n")
	}
	flush()
	return b.String()
}

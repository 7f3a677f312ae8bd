package alarm

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// terraform writes resources of the AWS provider. They belong to the account and region of the provider's configuration.
func terraform(all []Wanted, of part) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Made by ebscope alarm plan --emit terraform, for a provider of account %s and region %s.\n", of.account, of.region)
	for i := range all {
		w, a := &all[i], &all[i].Alarm
		fmt.Fprintf(&b, "\nresource \"aws_cloudwatch_metric_alarm\" %s {\n", quoted(strings.ReplaceAll(a.Name, "-", "_")))
		rows := [][2]string{
			{"alarm_name", quoted(a.Name)}, {"alarm_description", quoted(w.Describe())},
			{"namespace", quoted(a.Namespace)}, {"metric_name", quoted(a.Metric)}, {"statistic", quoted(a.Statistic)},
			{"period", strconv.FormatInt(a.PeriodS, 10)}, {"evaluation_periods", strconv.FormatInt(a.EvaluationPeriods, 10)},
		}
		if a.DatapointsToAlarm > 0 {
			rows = append(rows, [2]string{"datapoints_to_alarm", strconv.FormatInt(a.DatapointsToAlarm, 10)})
		}
		rows = append(rows, [2]string{"threshold", strconv.FormatFloat(a.Threshold, 'f', -1, 64)}, [2]string{"comparison_operator", quoted(a.Comparison)},
			[2]string{"treat_missing_data", quoted(a.MissingData)})
		if len(a.Actions) > 0 {
			var actions []string
			for _, action := range a.Actions {
				actions = append(actions, quoted(action))
			}
			rows = append(rows, [2]string{"alarm_actions", "[" + strings.Join(actions, ", ") + "]"})
		}
		writeAligned(&b, "  ", rows)
		b.WriteString("\n  dimensions = {\n")
		var dimensions [][2]string
		for _, name := range slices.Sorted(maps.Keys(a.Dimensions)) {
			dimensions = append(dimensions, [2]string{name, quoted(a.Dimensions[name])})
		}
		writeAligned(&b, "    ", dimensions)
		b.WriteString("  }\n}\n")
	}
	return b.Bytes(), nil
}

// writeAligned writes arguments with their equals signs below each other, as terraform fmt has them.
func writeAligned(b *bytes.Buffer, indent string, rows [][2]string) {
	widest := 0
	for _, row := range rows {
		widest = max(widest, len(row[0]))
	}
	for _, row := range rows {
		fmt.Fprintf(b, "%s%-*s = %s\n", indent, widest, row[0], row[1])
	}
}

// quoted writes a text as HCL does: ${ and %{ would begin a template.
func quoted(s string) string {
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(strconv.Quote(s))
}

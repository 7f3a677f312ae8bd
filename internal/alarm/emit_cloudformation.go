package alarm

import (
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/yaml"
)

type (
	template struct {
		Version     string              `json:"AWSTemplateFormatVersion"`
		Description string              `json:"Description"`
		Resources   map[string]resource `json:"Resources"`
	}
	resource struct {
		Type       string     `json:"Type"`
		Properties properties `json:"Properties"`
	}
	properties struct {
		AlarmName          string      `json:"AlarmName"`
		AlarmDescription   string      `json:"AlarmDescription"`
		Namespace          string      `json:"Namespace"`
		MetricName         string      `json:"MetricName"`
		Dimensions         []dimension `json:"Dimensions"`
		Statistic          string      `json:"Statistic"`
		Period             int64       `json:"Period"`
		EvaluationPeriods  int64       `json:"EvaluationPeriods"`
		DatapointsToAlarm  int64       `json:"DatapointsToAlarm,omitempty"`
		Threshold          float64     `json:"Threshold"`
		ComparisonOperator string      `json:"ComparisonOperator"`
		TreatMissingData   string      `json:"TreatMissingData"`
		AlarmActions       []string    `json:"AlarmActions,omitempty"`
	}
	dimension struct {
		Name  string `json:"Name"`
		Value string `json:"Value"`
	}
)

// cloudFormation writes a template for one account and region.
func cloudFormation(all []Wanted, of part) ([]byte, error) {
	t := template{"2010-09-09", fmt.Sprintf("Alarms on EBS credits in account %s, region %s", of.account, of.region), map[string]resource{}}
	for i := range all {
		w, a := &all[i], &all[i].Alarm
		p := properties{
			AlarmName: a.Name, AlarmDescription: w.Describe(), Namespace: a.Namespace, MetricName: a.Metric, Statistic: a.Statistic,
			Period: a.PeriodS, EvaluationPeriods: a.EvaluationPeriods, DatapointsToAlarm: a.DatapointsToAlarm, Threshold: a.Threshold,
			ComparisonOperator: a.Comparison, TreatMissingData: a.MissingData, AlarmActions: a.Actions,
		}
		for _, name := range slices.Sorted(maps.Keys(a.Dimensions)) {
			p.Dimensions = append(p.Dimensions, dimension{name, a.Dimensions[name]})
		}
		t.Resources[identifier(a.Name)] = resource{"AWS::CloudWatch::Alarm", p}
	}
	text, err := yaml.Marshal(t)
	return append([]byte("# Made by ebscope alarm plan --emit cloudformation.\n"), text...), err
}

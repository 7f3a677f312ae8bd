package alarm

import (
	"fmt"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

type (
	rules struct {
		Version  string    `json:"apiVersion"`
		Kind     string    `json:"kind"`
		Metadata metadata  `json:"metadata"`
		Spec     rulesSpec `json:"spec"`
	}
	metadata struct {
		Name string `json:"name"`
	}
	rulesSpec struct {
		Groups []group `json:"groups"`
	}
	group struct {
		Name  string `json:"name"`
		Rules []rule `json:"rules"`
	}
	rule struct {
		Alert       string            `json:"alert"`
		Expression  string            `json:"expr"`
		For         string            `json:"for,omitempty"`
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	}
)

// source says by which names a kind is known to Prometheus.
type source struct {
	alert string
	// exporter and yace are the metric's names by prometheus/cloudwatch_exporter, which takes % out, and by
	// prometheus-community/yet-another-cloudwatch-exporter, which spells it.
	exporter, yace string
	// driver is the counter of seconds that the EBS CSI driver's node plugin has of the same; empty where it has none.
	driver string
}

var sources = map[Kind]source{
	BurstBalance:       {"EBSBurstBalanceLow", "aws_ebs_burst_balance_minimum", "aws_ebs_burst_balance_minimum", ""},
	IOPSExceeded:       {"EBSVolumeIOPSExceeded", "aws_ebs_volume_iopsexceeded_check_maximum", "aws_ebs_volume_iopsexceeded_check_maximum", "aws_ebs_csi_exceeded_iops_seconds_total"},
	ThroughputExceeded: {"EBSVolumeThroughputExceeded", "aws_ebs_volume_throughput_exceeded_check_maximum", "aws_ebs_volume_throughput_exceeded_check_maximum", "aws_ebs_csi_exceeded_tp_seconds_total"},
	IOBalance:          {"EBSInstanceIOBalanceLow", "aws_ec2_ebsiobalance__minimum", "aws_ec2_ebsiobalance_percent_minimum", ""},
	ByteBalance:        {"EBSInstanceByteBalanceLow", "aws_ec2_ebsbyte_balance__minimum", "aws_ec2_ebsbyte_balance_percent_minimum", ""},
}

// Figures of CloudWatch come with its own time, some ten minutes old, at which Prometheus no longer looks: hence the
// latest of a quarter of an hour. Two scrapes a minute apart are within three minutes.
const (
	latestOf  = "15m"
	scrapesOf = "3m"
)

// prometheusHead says what the rules need.
const prometheusHead = `# Made by ebscope alarm plan --emit prometheusrule, for account %s and region %s.
#
# Names of metrics, as they are called by
#   aws_ebs_csi_…        the EBS CSI driver's node plugin (node.enableMetrics), on nodes with NVMe
#   …{volume_id=…}       prometheus/cloudwatch_exporter
#   …{dimension_VolumeId=…}  prometheus-community/yet-another-cloudwatch-exporter
# The two exporters must export the statistics Minimum (balances) and Maximum (checks), the checks by VolumeId and
# InstanceId both. Their delay (delay_seconds, delay) takes away from the time of warning: set it low.
`

// prometheusRule writes an object of the Prometheus operator.
func prometheusRule(all []Wanted, of part) ([]byte, error) {
	r := rules{Version: "monitoring.coreos.com/v1", Kind: "PrometheusRule", Metadata: metadata{of.name()}, Spec: rulesSpec{[]group{{Name: of.name()}}}}
	for i := range all {
		w := &all[i]
		label := "volume_id"
		if w.Kind == IOBalance || w.Kind == ByteBalance {
			label = "instance_id"
		}
		one := rule{
			Alert: sources[w.Kind].alert, Expression: w.expression(),
			Labels:      map[string]string{"severity": "warning", label: w.Subject, "region": of.region, "account": string(of.account)},
			Annotations: map[string]string{"summary": w.Describe()},
		}
		if w.Alarm.EvaluationPeriods > 1 {
			one.For = fmt.Sprintf("%ds", w.Alarm.PeriodS*w.Alarm.EvaluationPeriods)
		}
		r.Spec.Groups[0].Rules = append(r.Spec.Groups[0].Rules, one)
	}
	text, err := yaml.Marshal(r)
	return append(fmt.Appendf(nil, prometheusHead, of.account, of.region), text...), err
}

// expression asks each exporter that may be there.
func (w *Wanted) expression() string {
	s := sources[w.Kind]
	ours, theirs := "volume_id", "dimension_VolumeId"
	if w.Kind == IOBalance || w.Kind == ByteBalance {
		ours, theirs = "instance_id", "dimension_InstanceId"
	}
	compare := map[string]string{atMost: "<=", atLeast: ">="}[w.Alarm.Comparison]
	threshold := strconv.FormatFloat(w.Alarm.Threshold, 'f', -1, 64)
	var either []string
	if s.driver != "" {
		either = append(either, fmt.Sprintf("increase(%s{volume_id=%q}[%s]) > 0", s.driver, w.Subject, scrapesOf))
	}
	either = append(either,
		fmt.Sprintf("last_over_time(%s{%s=%q}[%s]) %s %s", s.exporter, ours, w.Subject, latestOf, compare, threshold),
		fmt.Sprintf("last_over_time(%s{%s=%q}[%s]) %s %s", s.yace, theirs, w.Subject, latestOf, compare, threshold))
	return strings.Join(either, "\nor ")
}

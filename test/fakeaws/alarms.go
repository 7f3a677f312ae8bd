package fakeaws

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/fxamacker/cbor/v2"
)

// The limits of alarms.
const (
	maxAlarmNames = 100
	maxEvaluation = 7 * 24 * 3600 // seconds of periods of an hour and more
	dayEvaluation = 24 * 3600     // of shorter ones
)

type keyValue struct{ Key, Value string }

func (s *Server) putMetricAlarm(q *request) ([]byte, *refusal) {
	var in struct {
		Alarm
		ActionsEnabled *bool
		Tags           []keyValue
	}
	if err := cbor.Unmarshal(q.body, &in); err != nil {
		return nil, unread(err)
	}
	a, name := in.Alarm, in.AlarmName
	q.resources, q.parameters["AlarmName"] = []string{name}, name
	arn := alarmARN(q.region, name)
	if no := s.forbidden(q, arn); no != nil {
		return nil, no
	}
	if len(in.Tags) > 0 {
		if no := s.forbiddenAction(q, "TagResource", arn); no != nil {
			return nil, no
		}
	}
	span := a.Period * a.EvaluationPeriods
	switch {
	case name == "" || a.MetricName == "" || a.Namespace == "" || a.Statistic == "":
		return nil, invalid("The parameters AlarmName, MetricName, Namespace and Statistic are required.")
	case !slices.Contains([]string{"GreaterThanOrEqualToThreshold", "GreaterThanThreshold", "LessThanThreshold", "LessThanOrEqualToThreshold"}, a.ComparisonOperator):
		return nil, invalid("The parameter ComparisonOperator has the value %q.", a.ComparisonOperator)
	case a.Period != 10 && a.Period != 30 && (a.Period <= 0 || a.Period%60 != 0):
		return nil, invalid("The parameter Period must be 10, 30 or a multiple of 60.")
	case a.EvaluationPeriods < 1 || span > dayEvaluation && a.Period < 3600 || span > maxEvaluation:
		return nil, invalid("Metrics cannot be checked across more than a day (EvaluationPeriods * Period must be <= 86400).")
	case a.DatapointsToAlarm > a.EvaluationPeriods:
		return nil, invalid("DatapointsToAlarm must be less than or equal to EvaluationPeriods.")
	case a.TreatMissingData != "" && !slices.Contains([]string{"breaching", "notBreaching", "ignore", "missing"}, a.TreatMissingData):
		return nil, invalid("The parameter TreatMissingData has the value %q.", a.TreatMissingData)
	}
	r := s.region(q.region)
	a.AlarmArn, a.StateValue, a.Tags, a.AlarmConfigurationUpdatedTimestamp = arn, "INSUFFICIENT_DATA", map[string]string{}, s.clock.now()
	a.ActionsEnabled = in.ActionsEnabled == nil || *in.ActionsEnabled
	for _, t := range in.Tags {
		a.Tags[t.Key] = t.Value
	}
	if was := r.alarms[name]; was != nil {
		a.Tags, a.StateValue = was.Tags, was.StateValue // tags of an update are ignored, as AWS does
	}
	r.alarms[name] = &a
	return answerCBOR(map[string]any{})
}

func (s *Server) describeAlarms(q *request) ([]byte, *refusal) {
	if no := s.forbidden(q, "*"); no != nil {
		return nil, no
	}
	var in struct {
		AlarmNames                 []string
		AlarmNamePrefix, NextToken string
		MaxRecords                 int
	}
	if err := cbor.Unmarshal(q.body, &in); err != nil {
		return nil, unread(err)
	}
	if len(in.AlarmNames) > maxAlarmNames {
		return nil, invalid("The collection AlarmNames must not have a size greater than %d.", maxAlarmNames)
	}
	size := min(s.Page, maxAlarmNames)
	if in.MaxRecords > 0 {
		size = min(size, in.MaxRecords)
	}
	alarms, found, next := s.region(q.region).alarms, []Alarm{}, ""
	for _, name := range slices.Sorted(maps.Keys(alarms)) {
		if name < in.NextToken || !strings.HasPrefix(name, in.AlarmNamePrefix) || len(in.AlarmNames) > 0 && !slices.Contains(in.AlarmNames, name) {
			continue
		}
		if len(found) == size {
			next = name
			break
		}
		found = append(found, *alarms[name])
	}
	answer := map[string]any{"MetricAlarms": found, "CompositeAlarms": []string{}}
	if next != "" {
		answer["NextToken"] = next
	}
	return answerCBOR(answer)
}

// deleteAlarms deletes all that are named, or none.
func (s *Server) deleteAlarms(q *request) ([]byte, *refusal) {
	var in struct{ AlarmNames []string }
	if err := cbor.Unmarshal(q.body, &in); err != nil {
		return nil, unread(err)
	}
	q.resources, q.parameters["AlarmNames"] = in.AlarmNames, strings.Join(in.AlarmNames, ",")
	alarms := s.region(q.region).alarms
	if len(in.AlarmNames) > maxAlarmNames {
		return nil, invalid("The collection AlarmNames must not have a size greater than %d.", maxAlarmNames)
	}
	for _, name := range in.AlarmNames {
		if no := s.forbidden(q, alarmARN(q.region, name)); no != nil {
			return nil, no
		}
		if alarms[name] == nil {
			return nil, &refusal{http.StatusNotFound, "ResourceNotFound", "Alarm " + name + " does not exist"}
		}
	}
	for _, name := range in.AlarmNames {
		delete(alarms, name)
	}
	return answerCBOR(map[string]any{})
}

func (s *Server) listTagsForResource(q *request) ([]byte, *refusal) {
	a, no := s.tagged(q, nil)
	if no != nil {
		return nil, no
	}
	tags := []keyValue{}
	for _, key := range slices.Sorted(maps.Keys(a.Tags)) {
		tags = append(tags, keyValue{key, a.Tags[key]})
	}
	return answerCBOR(map[string]any{"Tags": tags})
}

func (s *Server) tagResource(q *request) ([]byte, *refusal) {
	var in struct{ Tags []keyValue }
	a, no := s.tagged(q, &in)
	if no != nil {
		return nil, no
	}
	for _, t := range in.Tags {
		if a.Tags == nil {
			a.Tags = map[string]string{}
		}
		a.Tags[t.Key] = t.Value
	}
	return answerCBOR(map[string]any{})
}

// tagged returns the alarm whose tags are asked about, and reads the rest of the request.
func (s *Server) tagged(q *request, rest any) (*Alarm, *refusal) {
	var in struct{ ResourceARN string }
	if err := cbor.Unmarshal(q.body, &in); err != nil {
		return nil, unread(err)
	}
	if rest != nil {
		if err := cbor.Unmarshal(q.body, rest); err != nil {
			return nil, unread(err)
		}
	}
	q.parameters["ResourceARN"] = in.ResourceARN
	if no := s.forbidden(q, in.ResourceARN); no != nil {
		return nil, no
	}
	a := s.region(q.region).alarmOf(in.ResourceARN)
	if a == nil {
		return nil, &refusal{http.StatusNotFound, "ResourceNotFoundException", "Unknown resource " + in.ResourceARN}
	}
	return a, nil
}

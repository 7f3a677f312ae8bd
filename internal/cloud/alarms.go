package cloud

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"ebscope/internal/fleet"
)

// By its name and its tag an alarm is known as ebscope's. The name is what an IAM policy can bind the permissions to; the
// tag is what is looked at before an alarm is changed or deleted.
const (
	AlarmPrefix = "ebscope-"
	AlarmTag    = "ebscope"
	alarmValue  = "alarm"
)

// The most alarms that CloudWatch gives, or deletes, at once.
const alarmsPage = 100

// namespaces are those that an alarm on a volume or its instance can have.
var namespaces = []string{"AWS/EBS", "AWS/EC2"}

// allAlarms reads the alarms on volumes and instances, anybody's, without their tags.
func (a Account) allAlarms(ctx context.Context, region string) ([]fleet.Alarm, error) {
	all, err := a.describeAlarms(ctx, region, &cloudwatch.DescribeAlarmsInput{})
	return slices.DeleteFunc(all, func(m fleet.Alarm) bool { return !slices.Contains(namespaces, m.Namespace) }), err
}

// Alarms reads the alarms that carry our tag.
func (a Account) Alarms(ctx context.Context, region string) ([]fleet.Alarm, error) {
	all, err := a.describeAlarms(ctx, region, &cloudwatch.DescribeAlarmsInput{AlarmNamePrefix: aws.String(AlarmPrefix)})
	if err != nil {
		return nil, err
	}
	var ours []fleet.Alarm
	for _, alarm := range all {
		if alarm.Tags, err = a.alarmTags(ctx, region, alarm.ARN); err != nil {
			if errors.Is(err, errGone) {
				continue
			}
			return nil, err
		}
		if alarm.Tags[AlarmTag] == alarmValue {
			ours = append(ours, alarm)
		}
	}
	return ours, nil
}

// PutAlarm makes an alarm with our tag, or puts it in the place of one of ours: what that had and this one has not, is gone.
// Its name begins with AlarmPrefix. An alarm of that name without our tag is ErrForeignAlarm.
func (a Account) PutAlarm(ctx context.Context, region string, alarm fleet.Alarm) error {
	var failed error
	err := a.PutAlarms(ctx, region, []fleet.Alarm{alarm}, func(_ fleet.Alarm, err error) error { failed = err; return nil })
	return errors.Join(err, failed)
}

// PutAlarms puts many as PutAlarm puts one, and hands over what became of each. It looks at 100 at a time whether they are
// ours: CloudWatch admits few requests. It ends at an error of done, or where it cannot look.
func (a Account) PutAlarms(ctx context.Context, region string, alarms []fleet.Alarm, done func(fleet.Alarm, error) error) error {
	for some := range slices.Chunk(alarms, alarmsPage) {
		names := make([]string, len(some))
		for i, alarm := range some {
			names[i] = alarm.Name
		}
		_, foreign, err := a.known(ctx, region, names)
		if err != nil {
			return err
		}
		for _, alarm := range some {
			if err := done(alarm, a.put(ctx, region, alarm, foreign[alarm.Name])); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a Account) put(ctx context.Context, region string, alarm fleet.Alarm, foreign bool) error {
	if !strings.HasPrefix(alarm.Name, AlarmPrefix) {
		return fmt.Errorf("alarm %q: its name must begin with %s", alarm.Name, AlarmPrefix)
	}
	if foreign {
		return foreignAlarm(region, alarm.Name)
	}
	if _, err := a.watch(region).PutMetricAlarm(ctx, inputOfAlarm(alarm), a.watchWith(a.patient(region, "PutMetricAlarm"))); err != nil {
		return fmt.Errorf("put alarm %s in %s: %w", alarm.Name, region, meaning(err))
	}
	return nil
}

func foreignAlarm(region, name string) error {
	return fmt.Errorf("alarm %s in %s: %w", name, region, ErrForeignAlarm)
}

func inputOfAlarm(alarm fleet.Alarm) *cloudwatch.PutMetricAlarmInput {
	input := &cloudwatch.PutMetricAlarmInput{
		AlarmName: aws.String(alarm.Name), Namespace: aws.String(alarm.Namespace), MetricName: aws.String(alarm.Metric),
		Statistic: types.Statistic(alarm.Statistic), ComparisonOperator: types.ComparisonOperator(alarm.Comparison),
		Threshold: aws.Float64(alarm.Threshold), Period: aws.Int32(int32(alarm.PeriodS)), EvaluationPeriods: aws.Int32(int32(alarm.EvaluationPeriods)),
		AlarmActions: alarm.Actions, OKActions: alarm.OKActions, InsufficientDataActions: alarm.NoDataActions, ActionsEnabled: aws.Bool(!alarm.Silenced),
	}
	if alarm.Description != "" {
		input.AlarmDescription = aws.String(alarm.Description)
	}
	if alarm.DatapointsToAlarm > 0 {
		input.DatapointsToAlarm = aws.Int32(int32(alarm.DatapointsToAlarm))
	}
	if alarm.MissingData != "" {
		input.TreatMissingData = aws.String(alarm.MissingData)
	}
	for _, name := range slices.Sorted(maps.Keys(alarm.Dimensions)) {
		input.Dimensions = append(input.Dimensions, types.Dimension{Name: aws.String(name), Value: aws.String(alarm.Dimensions[name])})
	}
	tags := maps.Clone(alarm.Tags)
	if tags == nil {
		tags = map[string]string{}
	}
	tags[AlarmTag] = alarmValue
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		input.Tags = append(input.Tags, types.Tag{Key: aws.String(key), Value: aws.String(tags[key])})
	}
	return input
}

// DeleteAlarms deletes alarms with our tag. One that is gone is no error; one without our tag is ErrForeignAlarm, and
// then none of the hundred around it is deleted.
func (a Account) DeleteAlarms(ctx context.Context, region string, names []string) error {
	for some := range slices.Chunk(names, alarmsPage) {
		err := a.deleteAlarms(ctx, region, some)
		// One that somebody else deletes in between keeps AWS from deleting any: those that are left are looked for anew.
		if codeOf(err) == "ResourceNotFound" {
			err = a.deleteAlarms(ctx, region, some)
		}
		if err != nil {
			return fmt.Errorf("delete alarms in %s: %w", region, meaning(err))
		}
	}
	return nil
}

func (a Account) deleteAlarms(ctx context.Context, region string, names []string) error {
	ours, foreign, err := a.known(ctx, region, names)
	if err != nil {
		return err
	}
	for _, name := range names {
		if foreign[name] {
			return foreignAlarm(region, name)
		}
	}
	if len(ours) == 0 {
		return nil
	}
	_, err = a.watch(region).DeleteAlarms(ctx, &cloudwatch.DeleteAlarmsInput{AlarmNames: ours}, a.watchWith(a.patient(region, "DeleteAlarms")))
	return err
}

// known says which of the named alarms there are, and are ours or somebody else's.
func (a Account) known(ctx context.Context, region string, names []string) (ours []string, foreign map[string]bool, err error) {
	found, err := a.describeAlarms(ctx, region, &cloudwatch.DescribeAlarmsInput{AlarmNames: names})
	if err != nil {
		return nil, nil, err
	}
	foreign = map[string]bool{}
	for _, alarm := range found {
		if !strings.HasPrefix(alarm.Name, AlarmPrefix) {
			foreign[alarm.Name] = true
			continue
		}
		tags, err := a.alarmTags(ctx, region, alarm.ARN)
		switch {
		case errors.Is(err, errGone):
		case err != nil:
			return nil, nil, err
		case tags[AlarmTag] == alarmValue:
			ours = append(ours, alarm.Name)
		default:
			foreign[alarm.Name] = true
		}
	}
	return ours, foreign, nil
}

func (a Account) describeAlarms(ctx context.Context, region string, input *cloudwatch.DescribeAlarmsInput) ([]fleet.Alarm, error) {
	input.MaxRecords, input.AlarmTypes = aws.Int32(alarmsPage), []types.AlarmType{types.AlarmTypeMetricAlarm}
	var all []fleet.Alarm
	for pages := cloudwatch.NewDescribeAlarmsPaginator(a.watch(region), input); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx, a.watchWith(a.patient(region, "DescribeAlarms")))
		if err != nil {
			return all, fmt.Errorf("alarms of %s: %w", region, meaning(err))
		}
		for i := range page.MetricAlarms {
			all = append(all, alarmOf(&page.MetricAlarms[i]))
		}
	}
	return all, nil
}

var errGone = errors.New("the alarm is gone")

func (a Account) alarmTags(ctx context.Context, region, arn string) (map[string]string, error) {
	answer, err := a.watch(region).ListTagsForResource(ctx, &cloudwatch.ListTagsForResourceInput{ResourceARN: aws.String(arn)},
		a.watchWith(a.patient(region, "ListTagsForResource")))
	if code := codeOf(err); code == "ResourceNotFoundException" || code == "ResourceNotFound" {
		return nil, errGone
	}
	if err != nil {
		return nil, fmt.Errorf("tags of alarm %s: %w", arn, meaning(err))
	}
	tags := make(map[string]string, len(answer.Tags))
	for _, t := range answer.Tags {
		tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return tags, nil
}

func alarmOf(m *types.MetricAlarm) fleet.Alarm {
	found := fleet.Alarm{
		Name: aws.ToString(m.AlarmName), ARN: aws.ToString(m.AlarmArn), Namespace: aws.ToString(m.Namespace), Metric: aws.ToString(m.MetricName),
		Statistic: string(m.Statistic), Comparison: string(m.ComparisonOperator), Threshold: aws.ToFloat64(m.Threshold),
		PeriodS: int64(aws.ToInt32(m.Period)), EvaluationPeriods: int64(aws.ToInt32(m.EvaluationPeriods)),
		DatapointsToAlarm: int64(aws.ToInt32(m.DatapointsToAlarm)), MissingData: aws.ToString(m.TreatMissingData),
		Actions: m.AlarmActions, OKActions: m.OKActions, NoDataActions: m.InsufficientDataActions, Description: aws.ToString(m.AlarmDescription),
		Silenced: m.ActionsEnabled != nil && !*m.ActionsEnabled, State: string(m.StateValue),
	}
	if len(m.Dimensions) > 0 {
		found.Dimensions = make(map[string]string, len(m.Dimensions))
		for _, d := range m.Dimensions {
			found.Dimensions[aws.ToString(d.Name)] = aws.ToString(d.Value)
		}
	}
	return found
}

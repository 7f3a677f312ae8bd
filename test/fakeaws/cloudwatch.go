package fakeaws

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fxamacker/cbor/v2"
)

// Metric names a metric as CloudWatch does.
type Metric struct {
	Namespace, Name string
	Dimensions      map[string]string
}

// Series gives a statistic of a metric over the period that begins at a time; false where there is no data point.
type Series func(statistic string, start time.Time, period time.Duration) (float64, bool)

// key is the same for the same metric, whatever the order of its dimensions.
func (m Metric) key() string {
	text := m.Namespace + "\x00" + m.Name
	for _, name := range slices.Sorted(maps.Keys(m.Dimensions)) {
		text += "\x00" + name + "=" + m.Dimensions[name]
	}
	return text
}

// AddMetric gives a metric its data.
func (s *Server) AddMetric(regionName string, m Metric, data Series) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.region(regionName).metrics[m.key()] = data
}

// Constant is a series that has one value at all times.
func Constant(value float64) Series {
	return func(string, time.Time, time.Duration) (float64, bool) { return value, true }
}

// The limits of GetMetricData.
const (
	maxQueries = 500
	maxPoints  = 100_800
	retention  = 15 * 24 * time.Hour // of points by the minute
)

type metricQuery struct {
	ID         string `cbor:"Id"`
	MetricStat *struct {
		Metric struct {
			Namespace, MetricName string
			Dimensions            []pair
		}
		Period int
		Stat   string
	}
}

type pair struct{ Name, Value string }

type metricResult struct {
	ID         string `cbor:"Id"`
	Label      string
	StatusCode string
	Timestamps []time.Time
	Values     []float64
}

var idForm = regexp.MustCompile(`^[a-z][a-zA-Z0-9_]*$`)

var encoder = mustEncoder()

// mustEncoder writes times as tag 1, as the protocol has them.
func mustEncoder() cbor.EncMode {
	mode, err := cbor.EncOptions{Time: cbor.TimeUnix, TimeTag: cbor.EncTagRequired}.EncMode()
	if err != nil {
		panic(err) // the options are constants
	}
	return mode
}

func answerCBOR(answer any) ([]byte, *refusal) {
	body, err := encoder.Marshal(answer)
	if err != nil {
		return nil, &refusal{http.StatusInternalServerError, "InternalServiceFault", err.Error()}
	}
	return body, nil
}

func invalid(format string, args ...any) *refusal { return refuse("ValidationError", format, args...) }

func unread(err error) *refusal {
	return refuse("SerializationException", "the request cannot be read: %v", err)
}

// getMetricData checks a request; the data are found when the lock is free again.
func (s *Server) getMetricData(q *request) ([]byte, *refusal) {
	if no := s.forbidden(q, "*"); no != nil {
		return nil, no
	}
	var in struct {
		StartTime, EndTime time.Time
		MetricDataQueries  []metricQuery
		MaxDatapoints      int
		NextToken, ScanBy  string
	}
	if err := cbor.Unmarshal(q.body, &in); err != nil {
		return nil, unread(err)
	}
	q.parameters["Queries"] = strconv.Itoa(len(in.MetricDataQueries))
	r := window{s.region(q.region), in.StartTime, in.EndTime, s.clock.now(), in.ScanBy != "TimestampAscending", s.ByTime, maxPoints, s.Metric}
	if in.MaxDatapoints > 0 {
		r.most = min(r.most, in.MaxDatapoints)
	}
	if n := len(in.MetricDataQueries); n == 0 || n > maxQueries {
		return nil, invalid("The collection MetricDataQueries must not have a size greater than %d, nor be empty.", maxQueries)
	}
	if !in.StartTime.Before(in.EndTime) {
		return nil, invalid("The parameter EndTime must be greater than StartTime.")
	}
	seen, asked := map[string]bool{}, make([]series, 0, len(in.MetricDataQueries))
	for _, one := range in.MetricDataQueries {
		switch {
		case !idForm.MatchString(one.ID) || seen[one.ID]:
			return nil, invalid("The values for parameter id in MetricDataQueries must be unique and match [a-z][a-zA-Z0-9_]*: %q", one.ID)
		case one.MetricStat == nil:
			return nil, invalid("The fake knows no expressions.")
		case one.MetricStat.Period <= 0 || one.MetricStat.Period%60 != 0:
			return nil, invalid("The parameter Period must be a multiple of 60.")
		}
		seen[one.ID] = true
		asked = append(asked, r.find(one))
	}
	from, _ := strconv.Atoi(in.NextToken)
	q.later = func() ([]byte, *refusal) { return r.answer(asked, from) }
	return nil, nil
}

// window is a GetMetricData request.
type window struct {
	region          *region
	start, end, now time.Time
	newest          bool // first
	byTime          bool
	most            int
	other           func(string, Metric) Series
}

type series struct {
	id, label, stat string
	period          time.Duration
	start           time.Time
	points          int
	data            Series
}

func (w window) find(one metricQuery) series {
	m := Metric{one.MetricStat.Metric.Namespace, one.MetricStat.Metric.MetricName, map[string]string{}}
	for _, d := range one.MetricStat.Metric.Dimensions {
		m.Dimensions[d.Name] = d.Value
	}
	found := series{id: one.ID, label: m.Name, stat: one.MetricStat.Stat, period: time.Duration(one.MetricStat.Period) * time.Second}
	found.start = w.start.Truncate(found.period)
	if found.data = w.region.metrics[m.key()]; found.data == nil && w.other != nil {
		found.data = w.other(w.region.name, m)
	}
	if found.data != nil && (found.period >= 5*time.Minute || w.now.Sub(w.start) <= retention) {
		found.points = int(math.Ceil(w.end.Sub(found.start).Seconds() / found.period.Seconds()))
	}
	return found
}

// answer gives the points from a position on: of the first metric, then of the second; or of all in turn, where the page
// is by time.
func (w window) answer(all []series, from int) ([]byte, *refusal) {
	results, next := []metricResult{}, ""
	if w.byTime {
		each := max(1, w.most/len(all))
		for _, one := range all {
			r := one.take(from, from+each, w.newest)
			if from+each < one.points {
				r.StatusCode, next = "PartialData", strconv.Itoa(from+each)
			}
			results = append(results, r)
		}
	} else {
		position, left := 0, w.most
		for _, one := range all {
			first := max(0, from-position)
			last := min(one.points, first+left)
			if first < one.points || one.points == 0 && from <= position {
				r := one.take(first, last, w.newest)
				left -= last - first
				if last < one.points {
					r.StatusCode = "PartialData"
					results, next = append(results, r), strconv.Itoa(position+last)
					break
				}
				results = append(results, r)
			}
			position += one.points
		}
	}
	answer := map[string]any{"MetricDataResults": results, "Messages": []string{}}
	if next != "" {
		answer["NextToken"] = next
	}
	return answerCBOR(answer)
}

func (s series) take(from, to int, newest bool) metricResult {
	r := metricResult{ID: s.id, Label: s.label, StatusCode: "Complete", Timestamps: []time.Time{}, Values: []float64{}}
	for i := from; i < min(to, s.points); i++ {
		n := i
		if newest {
			n = s.points - 1 - i
		}
		at := s.start.Add(time.Duration(n) * s.period)
		if value, ok := s.data(s.stat, at, s.period); ok {
			r.Timestamps, r.Values = append(r.Timestamps, at), append(r.Values, value)
		}
	}
	return r
}

// Alarm is an alarm on a metric.
type Alarm struct {
	AlarmName                          string
	AlarmArn                           string
	AlarmDescription                   string `cbor:",omitempty"`
	Namespace, MetricName              string
	Dimensions                         []pair
	Statistic                          string `cbor:",omitempty"`
	ComparisonOperator                 string
	Threshold                          float64
	Period, EvaluationPeriods          int
	DatapointsToAlarm                  int    `cbor:",omitempty"`
	TreatMissingData                   string `cbor:",omitempty"`
	ActionsEnabled                     bool
	AlarmActions, OKActions            []string
	InsufficientDataActions            []string
	StateValue                         string
	Tags                               map[string]string `cbor:"-"`
	AlarmConfigurationUpdatedTimestamp time.Time
}

// AddAlarm makes an alarm as somebody else would.
func (s *Server) AddAlarm(regionName string, a Alarm) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.AlarmArn, a.StateValue, a.Tags = alarmARN(regionName, a.AlarmName), "OK", maps.Clone(a.Tags)
	s.region(regionName).alarms[a.AlarmName] = &a
}

// Alarms returns the alarms of a region by their names.
func (s *Server) Alarms(regionName string) map[string]Alarm {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]Alarm{}
	for name, a := range s.region(regionName).alarms {
		seen := *a
		seen.Tags = maps.Clone(a.Tags)
		all[name] = seen
	}
	return all
}

func alarmARN(regionName, name string) string {
	return fmt.Sprintf("arn:aws:cloudwatch:%s:%s:alarm:%s", regionName, account, name)
}

// alarmOf returns the alarm of an ARN.
func (r *region) alarmOf(arn string) *Alarm {
	_, name, _ := strings.Cut(arn, ":alarm:")
	return r.alarms[name]
}

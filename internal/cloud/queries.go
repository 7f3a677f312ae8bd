package cloud

import (
	"iter"
	"math"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
)

// maxQueries is the most metrics of a request.
const maxQueries = 500

// batch is what one request asks for: whole volumes.
type batch struct {
	volumes []fleet.Volume
	queries []query
}

// query is a metric of a volume, at an instance where the metric has that dimension too.
type query struct {
	volume     int // in the batch
	id         fleet.VolumeID
	name, stat string
	instance   fleet.InstanceID
	series     func(*fleet.Metrics) *fleet.Series
}

// The metrics of every volume, and their statistics. On Nitro too, counts and bytes are sums over the period.
var everyVolume = []query{
	{name: "VolumeReadOps", stat: "Sum", series: func(m *fleet.Metrics) *fleet.Series { return &m.ReadOps }},
	{name: "VolumeWriteOps", stat: "Sum", series: func(m *fleet.Metrics) *fleet.Series { return &m.WriteOps }},
	{name: "VolumeReadBytes", stat: "Sum", series: func(m *fleet.Metrics) *fleet.Series { return &m.ReadBytes }},
	{name: "VolumeWriteBytes", stat: "Sum", series: func(m *fleet.Metrics) *fleet.Series { return &m.WriteBytes }},
}

// burstBalance is a metric of types with a bucket only.
var burstBalance = query{name: "BurstBalance", stat: "Minimum", series: func(m *fleet.Metrics) *fleet.Series { return &m.BurstBalance }}

var hasBucket = map[ebs.Type]bool{"gp2": true, "st1": true, "sc1": true}

// The metrics of a volume at an instance. With the volume alone CloudWatch has no data for them.
var attachedVolume = []query{
	{name: "VolumeIOPSExceededCheck", stat: "Maximum", series: func(m *fleet.Metrics) *fleet.Series { return &m.IOPSExceeded }},
	{name: "VolumeThroughputExceededCheck", stat: "Maximum", series: func(m *fleet.Metrics) *fleet.Series { return &m.ThroughputExceeded }},
}

// queriesOf lists the metrics of a volume. A volume can be attached to 16 instances: these are 37.
func queriesOf(v fleet.Volume) []query {
	all := append([]query{}, everyVolume...)
	if hasBucket[v.Type] {
		all = append(all, burstBalance)
	}
	for _, a := range v.Attachments {
		for _, q := range attachedVolume {
			q.instance = a.Instance
			all = append(all, q)
		}
	}
	return all
}

// MetricQueries is how many metrics Metrics asks CloudWatch for, which charges by them, whatever the window.
func MetricQueries(volumes []fleet.Volume) int {
	n := 0
	for _, v := range volumes {
		n += len(queriesOf(v))
	}
	return n
}

// batchesOf cuts volumes into requests.
func batchesOf(volumes []fleet.Volume) iter.Seq[batch] {
	return func(yield func(batch) bool) {
		var b batch
		for _, v := range volumes {
			queries := queriesOf(v)
			if len(b.queries)+len(queries) > maxQueries {
				if !yield(b) {
					return
				}
				b = batch{}
			}
			for i := range queries {
				queries[i].volume, queries[i].id = len(b.volumes), v.ID
			}
			b.volumes, b.queries = append(b.volumes, v), append(b.queries, queries...)
		}
		if len(b.volumes) > 0 {
			yield(b)
		}
	}
}

func (q query) query(id string, step time.Duration) types.MetricDataQuery {
	dimensions := []types.Dimension{{Name: aws.String("VolumeId"), Value: aws.String(string(q.id))}}
	if q.instance != "" {
		dimensions = append(dimensions, types.Dimension{Name: aws.String("InstanceId"), Value: aws.String(string(q.instance))})
	}
	return types.MetricDataQuery{Id: aws.String(id), MetricStat: &types.MetricStat{
		Metric: &types.Metric{Namespace: aws.String("AWS/EBS"), MetricName: aws.String(q.name), Dimensions: dimensions},
		Period: aws.Int32(int32(step / time.Second)), Stat: aws.String(q.stat),
	}}
}

// metrics joins the series of a batch into those of its volumes.
func (b batch) metrics(found []fleet.Series) []fleet.Metrics {
	all := make([]fleet.Metrics, len(b.volumes))
	for i, v := range b.volumes {
		all[i].Volume = v.ID
	}
	for i, q := range b.queries {
		if s := q.series(&all[q.volume]); *s == nil {
			*s = found[i]
		} else {
			highest(*s, found[i])
		}
	}
	return all
}

// highest joins the checks of a volume that several instances share: it was exceeded where one of them says so.
func highest(s, other fleet.Series) {
	for i, v := range other {
		if !math.IsNaN(v) && !(s[i] >= v) { // not a number is not ≥
			s[i] = v
		}
	}
}

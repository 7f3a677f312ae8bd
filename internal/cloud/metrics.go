package cloud

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	limit "golang.org/x/time/rate"

	"ebscope/internal/fleet"
)

// MetricStep is the finest step that is read: CloudWatch keeps it for 63 days.
const MetricStep = 5 * time.Minute

// MaxWindow is the longest window that is read.
const MaxWindow = 14 * 24 * time.Hour

// LatestWindow returns the window of a length that ends at a time, in whole steps.
func LatestWindow(end time.Time, length time.Duration) (fleet.Window, error) {
	if length < MetricStep || length > MaxWindow {
		return fleet.Window{}, fmt.Errorf("a window of %v: it must have %v to %v", length, MetricStep, MaxWindow)
	}
	points := int(length / MetricStep)
	return fleet.Window{Start: end.UTC().Truncate(MetricStep).Add(-time.Duration(points) * MetricStep), Step: MetricStep, Points: points}, nil
}

// Quota is how much CloudWatch gives an account in a region. It can be raised, each for itself.
type Quota struct {
	CallsPerSecond, PointsPerSecond float64
}

// DefaultQuota is that of GetMetricData for data older than three hours, from the AWS knowledge center's page "cloudwatch
// getmetricdata api": 50 calls and 396,000 points a second.
var DefaultQuota = Quota{CallsPerSecond: 50, PointsPerSecond: 396_000}

// batchesAtOnce is how many GetMetricData requests are under way at the same time: enough to keep two processors busy with
// their answers. Each holds a batch: 500 series of up to 14 days are 16 MiB.
const batchesAtOnce = 4

// Metrics reads the metrics of volumes in a region over a window, and hands them over a volume at a time, in no certain
// order but never two at once. What cannot be read is missing, with its volumes; an error is only what each returns.
func (a Account) Metrics(ctx context.Context, region fleet.Region, volumes []fleet.Volume, w fleet.Window, q Quota, each func(fleet.Metrics) error) ([]fleet.Missing, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	r := &metricReader{
		account: a, region: region.Name, owner: region.Account, window: w, each: each, stop: stop,
		calls:  limit.NewLimiter(limit.Limit(q.CallsPerSecond), max(1, int(q.CallsPerSecond))),
		points: limit.NewLimiter(limit.Limit(q.PointsPerSecond), max(maxPoints, int(q.PointsPerSecond))),
	}
	batches := make(chan batch)
	var workers sync.WaitGroup
	for range batchesAtOnce {
		workers.Go(func() {
			for b := range batches {
				r.read(ctx, b)
			}
		})
	}
	for b := range batchesOf(volumes) {
		batches <- b
	}
	close(batches)
	workers.Wait()
	return r.lost, r.failed
}

// maxPoints is the most data points of an answer.
const maxPoints = 100_800

// metricReader reads batches, several at once.
type metricReader struct {
	account       Account
	region        string
	owner         fleet.AccountID
	window        fleet.Window
	calls, points *limit.Limiter
	stop          context.CancelFunc

	mu     sync.Mutex // over the rest
	each   func(fleet.Metrics) error
	lost   []fleet.Missing
	failed error
	denied bool
}

const operationMetrics = "cloudwatch:GetMetricData"

// read reads a batch and hands over its volumes. One that is read in part counts as not read: half a window would look
// like a volume at rest.
func (r *metricReader) read(ctx context.Context, b batch) {
	series, err := r.fetch(ctx, b)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed != nil || r.denied {
		return
	}
	if err != nil {
		m := missing(r.owner, r.region, operationMetrics, err)
		if m.Reason == fleet.Denied || m.Reason == fleet.Disabled {
			// It holds for all: nobody needs to be asked again.
			r.denied = true
			r.lost = []fleet.Missing{m}
			r.stop()
			return
		}
		for _, v := range b.volumes {
			m.Volumes = append(m.Volumes, v.ID)
		}
		r.lose(m)
		return
	}
	for _, v := range b.metrics(series) {
		if r.failed = r.each(v); r.failed != nil {
			r.stop()
			return
		}
	}
}

// lose joins what is missing for the same reason: an interrupted scan has one entry, not hundreds.
func (r *metricReader) lose(m fleet.Missing) {
	for i := range r.lost {
		if r.lost[i].Reason == m.Reason {
			r.lost[i].Volumes = append(r.lost[i].Volumes, m.Volumes...)
			return
		}
	}
	r.lost = append(r.lost, m)
}

// fetch returns the series of a batch's queries, nil where there is not one value.
func (r *metricReader) fetch(ctx context.Context, b batch) ([]fleet.Series, error) {
	found := make([]fleet.Series, len(b.queries))
	place := make(map[string]int, len(b.queries))
	input := &cloudwatch.GetMetricDataInput{StartTime: aws.Time(r.window.Start), EndTime: aws.Time(r.window.Start.Add(r.window.Length())),
		ScanBy: types.ScanByTimestampAscending, MetricDataQueries: make([]types.MetricDataQuery, len(b.queries))}
	for i, q := range b.queries {
		id := fmt.Sprintf("q%d", i)
		place[id] = i
		input.MetricDataQueries[i] = q.query(id, r.window.Step)
	}
	for pages := cloudwatch.NewGetMetricDataPaginator(r.account.watch(r.region), input); pages.HasMorePages(); {
		if err := r.calls.Wait(ctx); err != nil {
			return nil, ctx.Err()
		}
		page, err := pages.NextPage(ctx, r.account.watchWith(r.account.patient(r.region, "GetMetricData")))
		if err != nil {
			return nil, fmt.Errorf("metrics of volumes in %s: %w", r.region, meaning(err))
		}
		points := 0
		for i := range page.MetricDataResults {
			one := &page.MetricDataResults[i]
			at, known := place[aws.ToString(one.Id)]
			if !known || len(one.Values) != len(one.Timestamps) {
				return nil, fmt.Errorf("metrics of volumes in %s: %w", r.region, errUnexpectedForm)
			}
			if one.StatusCode == types.StatusCodeInternalError || one.StatusCode == types.StatusCodeForbidden {
				return nil, fmt.Errorf("metric %s of %s: CloudWatch answers %s", b.queries[at].name, b.volumes[b.queries[at].volume].ID, one.StatusCode)
			}
			points += len(one.Values)
			r.place(&found[at], one)
		}
		// The points of this answer are paid for before the next request.
		if err := r.points.WaitN(ctx, min(points, r.points.Burst())); err != nil {
			return nil, ctx.Err()
		}
	}
	return found, nil
}

// place puts values where their times belong. Pages come in any order: of one metric after the other, or of all by time.
func (r *metricReader) place(s *fleet.Series, one *types.MetricDataResult) {
	if len(one.Values) == 0 {
		return
	}
	if *s == nil {
		*s = fleet.NewSeries(r.window.Points)
	}
	for i, at := range one.Timestamps {
		n := int(math.Floor(float64(at.Sub(r.window.Start)) / float64(r.window.Step)))
		if n >= 0 && n < len(*s) {
			(*s)[n] = one.Values[i]
		}
	}
}

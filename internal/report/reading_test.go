package report_test

import (
	"math"
	"testing"
	"time"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/report"
	"ebscope/internal/result"
)

// The planted dip of perIO: one second of 45 minutes.
const (
	dipAt    = 1234 // seconds
	dipLevel = 500
	perIOs   = 45 * 60 // seconds
	spikeAt  = 2000    // seconds; the window with the slowest I/O
	spikeMS  = 450
)

// perIO is a reading of a 45-minute log of single I/Os, binned in windows of a tenth of a second: 3,000 IOPS with a ripple,
// and a fall to 500 for one second. Latency has two humps, 1 ms and 100 ms, the latter with one I/O in a hundred.
func perIO(t testing.TB) report.Report {
	t.Helper()
	const window = 100 * time.Millisecond
	m := result.Measurement{Source: "fio-3.41", Window: window}
	counts := &result.LatencyMap{}
	for i := range 80 { // 20 rows a decade from 0.01 ms to 100 ms, and some
		counts.UpTo = append(counts.UpTo, time.Duration(float64(10*time.Microsecond)*math.Pow(10, float64(i+6)/20)))
	}
	for i := 1; i <= perIOs*10; i++ {
		end := time.Duration(i) * window
		rate, latency := 3000+40*math.Sin(float64(i*i)), 10.7
		if s := end.Seconds(); s > dipAt && s <= dipAt+1 {
			rate, latency = dipLevel, 64
		}
		m.IOPS = append(m.IOPS, result.Point{End: end, Value: rate})
		slowest := 100.0
		if i == spikeAt*10 {
			slowest = spikeMS
		}
		m.Latency = append(m.Latency, result.Point{End: end, Value: latency, Min: 0.9, Max: slowest})
		if i%20 == 0 {
			column := make([]int64, len(counts.UpTo))
			column[34], column[74] = 5940, 60 // up to 1 ms (10 µs × 10^(40/20)), and up to 100 ms
			if i/20 == 700 {
				column[60] = 1 // a single I/O
			}
			counts.Ends, counts.Counts = append(counts.Ends, end), append(counts.Counts, column)
		}
	}
	m.Total = result.Direction{IOs: 8_100_000, IOPS: 3000, Runtime: perIOs * time.Second, Latency: result.Latency{
		Kind: "clat", Samples: 8_100_000, Mean: 1990 * time.Microsecond, Min: 900 * time.Microsecond, Max: 104 * time.Millisecond,
		Bins: []result.Bin{{At: 950 * time.Microsecond, Count: 4_000_000}, {At: time.Millisecond, Count: 4_019_000}, {At: 100 * time.Millisecond, Count: 80_000}, {At: 104 * time.Millisecond, Count: 1000}},
	}}
	p50, p99 := 1.0, 100.0
	return report.Report{Catalog: ebs.Embedded(), Run: result.Run{Tool: "ebscope 0.2.0"},
		Readings: []result.Reading{{Source: result.Source{File: "results.tar.gz:run1/fio.json"}, Tool: "fio-3.41", Job: "randread", Measurement: m, LatencyMap: counts}},
		Document: analyze.Document{Schema: analyze.Schema, Phases: []analyze.Phase{{
			Name: "randread", State: string(result.Done), RW: "randread", BlockSize: 4096, QueueDepth: 32, Jobs: 1, DurationS: perIOs,
			IOPS: analyze.IOPS{Mean: 2999, FioMean: 2999, Min: num(dipLevel), Max: num(3040)}, ThroughputMiBps: 11.7,
			Latency:  &analyze.Latency{Kind: "clat", Mean: 1.99, P50: &p50, P95: &p50, P99: &p99, Max: 104},
			Segments: []analyze.Segment{{FromS: 0, ToS: perIOs, IOPSMean: 3000, IOPSMin: dipLevel, IOPSMax: 3040}},
			Verdict:  analyze.Sustained, Summary: "Held 3,000 IOPS but for one second.",
		}}}}
}

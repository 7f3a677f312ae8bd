package log

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/fio"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

const second = time.Second

// A direction's first line may be missing. Lines are not paired in their order, and the total begins where both are.
func TestFirstWriteMissing(t *testing.T) {
	l := mustRead(t, "a_iops.1.log", "1000,5089,0,0\n2000,5305,0,0\n2000,5182,1,0\n", Options{})
	j := Join([]*Log{l}, 0)
	want := Joined{
		IOPS: result.Series{{End: 2 * second, Value: 5305 + 5182}},
		IOPSOf: map[Direction]result.Series{
			Read:  {{End: second, Value: 5089}, {End: 2 * second, Value: 5305}},
			Write: {{End: 2 * second, Value: 5182}},
		},
	}
	if diff := cmp.Diff(want.IOPS, j.IOPS); diff != "" {
		t.Errorf("total (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.IOPSOf, j.IOPSOf); diff != "" {
		t.Errorf("directions (-want +got):\n%s", diff)
	}
	var r result.Reading
	j.AddTo(&r)
	if diff := cmp.Diff(want.IOPSOf[Read], r.ReadSeries.IOPS) + cmp.Diff(want.IOPSOf[Write], r.WriteSeries.IOPS); diff != "" {
		t.Errorf("directions of the reading (-want +got):\n%s", diff)
	}
}

// Two jobs with reads and writes: rates add up, latencies are weighted with them, a window without lines is a stall.
func TestAveragedJobs(t *testing.T) {
	logs := []*Log{
		mustRead(t, "a_iops.1.log", "1000, 100, 0, 0, 0\n2000, 100, 0, 0, 0\n4000, 100, 0, 0, 0\n", Options{}),
		mustRead(t, "a_iops.2.log", "1001, 300, 0, 0, 0\n2001, 300, 0, 0, 0\n4000, 300, 0, 0, 0\n", Options{}),
		mustRead(t, "a_lat.1.log", "1000, 4000000, 0, 0, 0\n2000, 4000000, 0, 0, 0\n4000, 9000000, 0, 0, 0\n", Options{}),
		mustRead(t, "a_lat.2.log", "1001, 8000000, 0, 0, 0\n2001, 8000000, 0, 0, 0\n4000, 9000000, 0, 0, 0\n", Options{}),
	}
	j := Join(logs, 0)
	want := result.Series{
		{End: 1001 * time.Millisecond, Value: 400}, {End: 2001 * time.Millisecond, Value: 400},
		{End: 3001 * time.Millisecond, Value: 0}, {End: 4 * second, Value: 400},
	}
	if diff := cmp.Diff(want, j.IOPS); diff != "" {
		t.Errorf("IOPS (-want +got):\n%s", diff)
	}
	// (4 ms × 100 + 8 ms × 300) / 400 = 7 ms
	want = result.Series{{End: 1001 * time.Millisecond, Value: 7}, {End: 2001 * time.Millisecond, Value: 7}, {End: 4 * second, Value: 9}}
	latencies := append(result.Series(nil), j.Latency...)
	for i := range latencies {
		latencies[i].Min, latencies[i].Max = 0, 0
	}
	if diff := cmp.Diff(want, latencies); diff != "" {
		t.Errorf("latency (-want +got):\n%s", diff)
	}
	if j.LatencyMap != nil || j.Window != second {
		t.Errorf("a map of means, or a window of %v", j.Window)
	}
}

// A log of single I/Os gives everything: here 1,000 IOPS of 2 ms for 10 s, but none from 4 s to 5 s, and one of 500 ms.
func TestSingle(t *testing.T) {
	var b strings.Builder
	for i := range 10_000 {
		if i >= 4000 && i < 5000 {
			continue
		}
		latency, direction := 2_000_000, 0
		if i == 7000 {
			latency = 500_000_000
		}
		if i%4 == 3 {
			direction = 1
		}
		fmt.Fprintf(&b, "%d, %d, %d, 8192, 0, 0\n", i, latency, direction)
	}
	l := mustRead(t, "a_lat.1.log", b.String(), Options{})
	var r result.Reading
	Join([]*Log{l}, 0).AddTo(&r)
	if !r.Summed {
		t.Error("the total is not said to be worked out")
	}

	// 900 I/Os a second on average: a hundred take 111 ms, so windows of 128 ms.
	if r.Window != 128*time.Millisecond {
		t.Errorf("windows of %v", r.Window)
	}
	var empty, full int
	for _, p := range r.IOPS {
		switch {
		case p.Value == 0:
			empty++
		case math.Abs(p.Value-1000) < 0.01:
			full++
		}
	}
	// 4,000 ms is in window 31, which ends at 4,096, and 5,000 ms in 39, from 4,992 on: 32 to 38 are empty.
	if len(r.IOPS) != 78 && len(r.IOPS) != 79 || empty != 7 || full < 69 {
		t.Errorf("%d points, %d of them 0 and %d of them 1,000", len(r.IOPS), empty, full)
	}
	slow := 0
	for _, p := range r.Latency {
		if p.Max == 500 {
			slow++
			if p.Min != 2 || p.End != 7040*time.Millisecond { // 55 × 128
				t.Errorf("the slow I/O is in %+v", p)
			}
		}
	}
	if slow != 1 {
		t.Errorf("the slow I/O is in %d points", slow)
	}

	// 9,000 I/Os in 10 s, of which 2,500 less 250 write.
	if r.Total.IOs != 9000 || r.Total.Bytes != 9000*8*units.KiB || math.Abs(float64(r.Total.IOPS)-900) > 0.1 || r.Write.IOs != 2250 || r.Read.IOs != 6750 || r.Trim != nil {
		t.Errorf("%+v, read %+v, write %+v", r.Total, r.Read, r.Write)
	}
	latency := r.Total.Latency
	// (8999 × 2 ms + 500 ms) / 9000 = 2.055333 ms
	if latency.Samples != 9000 || latency.Mean != 2055333*time.Nanosecond || latency.Min != 2*time.Millisecond || latency.Max != 500*time.Millisecond || latency.Kind != "lat" {
		t.Errorf("%+v", latency)
	}
	// 2,000,000 ns is in fio's bin from 1,998,848 to 2,015,232: the middle is 2,007,040. The slow one is beyond 99.98 %.
	for _, p := range latency.Percentiles {
		if want := 2007040 * time.Nanosecond; p.Percent < 99.98 && p.Value != want {
			t.Errorf("p%v is %v, want %v", p.Percent, p.Value, want)
		}
	}
	checkMap(t, r.LatencyMap, 9000)
}

// checkMap checks that a map is whole and in order.
func checkMap(t *testing.T, m *result.LatencyMap, want int64) {
	t.Helper()
	if m == nil {
		t.Fatal("there is no map")
	}
	var sum int64
	for i := range m.Ends {
		if i > 0 && m.Ends[i] <= m.Ends[i-1] || len(m.Counts[i]) != len(m.UpTo) {
			t.Fatalf("column %d of the map is out of order or of another length", i)
		}
		for _, n := range m.Counts[i] {
			sum += n
		}
	}
	for i := 1; i < len(m.UpTo); i++ {
		if m.UpTo[i] <= m.UpTo[i-1] {
			t.Errorf("row %d of the map is out of order", i)
		}
	}
	if sum != want || len(m.Ends) > 600 {
		t.Errorf("%d I/Os in %d columns, want %d in at most 600", sum, len(m.Ends), want)
	}
}

// The numbers of bins that fio can write, and the latency of each one's first I/O.
func TestHistogramLogs(t *testing.T) {
	for _, c := range []struct {
		bins, bin int
		unit      time.Duration
		middle    time.Duration
	}{
		// fio's bin 640 begins at 64 × 2^9 = 32768, and is 512 wide: its middle is 33024.
		{1216, 640, time.Microsecond, 33024 * time.Microsecond},
		{1856, 640, time.Nanosecond, 33024 * time.Nanosecond},
		// Two bins to a column: column 320 holds 640 and 641, of which 641 from 33280 on stands for both.
		{928, 320, time.Nanosecond, 33536 * time.Nanosecond},
		// 64 to a column: column 10 holds 640 to 703, the middle one is 672: 32768 + 32 × 512 + 256.
		{29, 10, time.Nanosecond, 49408 * time.Nanosecond},
		{19, 10, time.Microsecond, 49408 * time.Microsecond},
	} {
		counts := make([]string, c.bins)
		for i := range counts {
			counts[i] = "0"
		}
		counts[c.bin] = "3"
		text := fmt.Sprintf("1000, 1, 4096, %s\n2000, 1, 4096, %s\n", strings.Join(counts, ", "), strings.Join(counts, ", "))
		for _, name := range []string{"a_clat_hist.1.log", "no name"} {
			l := mustRead(t, name, text, Options{Version: &fio.Version{Major: 3}})
			j := Join([]*Log{l}, 0)
			latency := j.Total.Latency
			if l.Unit != c.unit || l.Lines != 2 || len(latency.Bins) != 1 || latency.Bins[0] != (result.Bin{At: c.middle, Count: 6}) || latency.Kind != "clat" {
				t.Errorf("%d bins: unit %v, %d lines, %+v", c.bins, l.Unit, l.Lines, latency)
			}
			if diff := cmp.Diff(result.Series{{End: second, Value: 3}, {End: 2 * second, Value: 3}}, j.IOPS); diff != "" {
				t.Errorf("%d bins: IOPS (-want +got):\n%s", c.bins, diff)
			}
			checkMap(t, j.LatencyMap, 6)
		}
	}
}

// Rows end a little after the second, and reads and writes 2 ms apart: a row is of the second before its end, whatever the
// clock.
func TestHistogramRowsStandAtTheirEnd(t *testing.T) {
	row := func(at, direction, bin, count int) string {
		counts := make([]string, 1856)
		for i := range counts {
			counts[i] = "0"
		}
		counts[bin] = fmt.Sprint(count)
		return fmt.Sprintf("%d, %d, 4096, %s\n", at, direction, strings.Join(counts, ", "))
	}
	for what, origin := range map[string]int{"from the start": 0, "times of day": 1_796_106_903_353} {
		// Bin 832 is 64 × 2^12 = 262,144 and 4,096 wide: the middle is 264,192 ns. Bin 896 is twice that.
		text := ""
		for i := 1; i <= 3; i++ {
			text += row(origin+1000*i, 0, 832+64*(i/3), 300) + row(origin+1000*i+2*(i%2), 1, 832, 100)
		}
		j := Join([]*Log{mustRead(t, "a_clat_hist.1.log", text, Options{})}, 0)
		ends := func(s result.Series) (all []time.Duration) {
			for _, p := range s {
				all = append(all, p.End)
			}
			return all
		}
		want := []time.Duration{1002 * time.Millisecond, 2 * second, 3002 * time.Millisecond}
		if diff := cmp.Diff(want, ends(j.IOPS)); diff != "" {
			t.Errorf("%s: rates (-want +got):\n%s", what, diff)
		}
		if diff := cmp.Diff(want, ends(j.Latency)); diff != "" {
			t.Errorf("%s: latencies (-want +got):\n%s", what, diff)
		}
		// Reads 300 ÷ 1 s and writes 100 ÷ 1.002 s; (300 × 0.528384 + 100 × 0.264192) ÷ 400 ms.
		if got := j.IOPS[0].Value; math.Abs(got-399.8) > 0.01 {
			t.Errorf("%s: %v IOPS in the first second", what, got)
		}
		if got := j.Latency[2].Value; math.Abs(got-0.462336) > 1e-6 {
			t.Errorf("%s: %v ms in the third second", what, got)
		}
		if m := j.LatencyMap; len(m.Ends) != 3 || m.Ends[0] < second || m.Ends[0] > second+20*time.Millisecond {
			t.Errorf("%s: columns end at %v", what, m.Ends)
		}
		checkMap(t, j.LatencyMap, 1200)
	}
}

// Of a count that memory damage has made, the line's other counts are kept.
func TestDamagedHistogram(t *testing.T) {
	text := "1000, 0, 4096, 5" + strings.Repeat(", 0", 1854) + ", 2147483647\n"
	l := mustRead(t, "a_clat_hist.1.log", text, Options{})
	if l.Lines != 1 || l.Skipped != 0 || l.Tracks[0].Count != 5 || len(l.Notes) != 1 || !l.Notes[0].Skipped {
		t.Errorf("%d lines, %d skipped, %d I/Os, %v", l.Lines, l.Skipped, l.Tracks[0].Count, l.Notes)
	}
}

func TestBandwidthTellsIOPS(t *testing.T) {
	l := mustRead(t, "a_bw.1.log", "1000, 12000, 0, 0, 0\n2000, 11600, 0, 0, 0\n", Options{})
	// 12000 KiB/s in blocks of 4 KiB are 3,000 IOPS.
	if diff := cmp.Diff(result.Series{{End: second, Value: 3000}, {End: 2 * second, Value: 2900}}, Join([]*Log{l}, 4*units.KiB).IOPS); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// (12000 + 11600) / 2 KiB/s
	if got := Join([]*Log{l}, 0); got.IOPS != nil || got.Total.Throughput != units.Throughput(11800*units.KiB) {
		t.Errorf("%v and %v without a block size, want no IOPS", got.IOPS, got.Total.Throughput)
	}
}

// Where a log has one line of each direction, nothing shows its window; lines of one time still belong together.
func TestOneWindow(t *testing.T) {
	l := mustRead(t, "a_iops.1.log", "1000, 5, 0, 0\n1000, 6, 1, 0\n", Options{})
	if diff := cmp.Diff(result.Series{{End: second, Value: 11}}, Join([]*Log{l}, 0).IOPS); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A summary stands, and a log that disagrees with it is named.
func TestAddToSummary(t *testing.T) {
	l := mustRead(t, "a_iops.1.log", "10, 272269, 0, 0\n20, 350, 0, 0\n30, 350, 0, 0\n", Options{})
	r := result.Reading{Measurement: result.Measurement{Total: result.Direction{IOPS: 226000, IOs: 1}}}
	Join([]*Log{l}, 0).AddTo(&r)
	if r.Total.IOPS != 226000 || len(r.IOPS) != 3 || len(r.Warnings) != 1 || r.Warnings[0].Code != "series-differs" {
		t.Errorf("%v, %d points, %v", r.Total.IOPS, len(r.IOPS), r.Warnings)
	}
}

// The bins are fio's: each begins where the one before ends, and holds its start and its middle.
func TestBins(t *testing.T) {
	for bin := range binCount - 1 {
		start, next := binStart(bin), binStart(bin+1)
		if binOf(start) != bin || binOf(next-1) != bin || next <= start {
			t.Fatalf("bin %d is from %d to %d, which are in %d and %d", bin, start, next, binOf(start), binOf(next-1))
		}
	}
}

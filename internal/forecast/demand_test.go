package forecast_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/forecast"
	"ebscope/internal/model"
	"ebscope/internal/units"
)

func read(text string, idle bool) ([]forecast.Sample, error) {
	var all []forecast.Sample
	for s, err := range forecast.Series(strings.NewReader(text), idle) {
		if err != nil {
			return all, err
		}
		all = append(all, s)
	}
	return all, nil
}

func TestSeries(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		idle bool
		want []forecast.Sample
	}{
		"RFC 3339 in two zones": { // 300 operations in 60 s; both lines a minute apart
			"time,operations,bytes\n2026-09-01T12:00:00Z,300,6000\n2026-09-01T21:01:00+09:00,0,0\n", false,
			[]forecast.Sample{sample("", 2, time.Minute, 5, 100), sample("", 3, time.Minute, 0, 0)},
		},
		"Unix seconds, columns in another order, spaces": {
			"bytes, operations, time\n4096, 1, 1756700000\n8192, 2, 1756700300\n", false,
			[]forecast.Sample{sample("", 2, 5*time.Minute, 1./300, 4096./300), sample("", 3, 5*time.Minute, 2./300, 8192./300)},
		},
		"a gap as rest": {
			"time,operations,bytes\n0,10,0\n10,10,0\n40,20,0\n", true,
			[]forecast.Sample{sample("", 2, 10*time.Second, 1, 0), sample("", 3, 10*time.Second, 1, 0), sample("", 3, 20*time.Second, 0, 0), sample("", 4, 10*time.Second, 2, 0)},
		},
		"two volumes, mixed": {
			"\ufefftime,volume,operations,bytes\n0,a,10,0\n0,b,20,0\n10,a,30,0\n20,b,40,0\n", false,
			[]forecast.Sample{sample("a", 2, 10*time.Second, 1, 0), sample("b", 3, 20*time.Second, 1, 0), sample("a", 4, 10*time.Second, 3, 0), sample("b", 5, 20*time.Second, 2, 0)},
		},
	} {
		got, err := read(tt.text, tt.idle)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: −want +got:\n%s", name, diff)
		}
	}
}

func sample(volume string, line int, length time.Duration, iops, throughput float64) forecast.Sample {
	s := forecast.Sample{Volume: volume, Line: line}
	s.Length, s.Load = length, forecast.Load{IOPS: units.IOPS(iops), Throughput: units.Throughput(throughput)}
	return s
}

func TestSeriesNamesTheLine(t *testing.T) {
	const header = "time,operations,bytes\n"
	for name, tt := range map[string]struct {
		text string
		line int
		want string
	}{
		"nothing":             {"", 1, "empty"},
		"a header alone":      {header, 1, "no line after the header"},
		"one line":            {header + "0,1,1\n", 2, "one line"},
		"a missing column":    {"time,operations\n0,1\n", 1, `"bytes" is missing`},
		"an unknown column":   {"time,operations,bytes,iops\n", 1, `unknown column "iops"`},
		"a column twice":      {"time,operations,bytes,bytes\n", 1, "twice"},
		"a short line":        {header + "0,1,1\n60,1\n", 3, "2 fields, but the header names 3 columns"},
		"an open quote":       {header + "0,1,\"1\n", 2, `"`},
		"a gap":               {header + "0,1,1\n60,1,1\n180,1,1\n", 4, "a gap: 2m0s after line 3"},
		"closer than before":  {header + "0,1,1\n60,1,1\n90,1,1\n", 4, "30s after line 3"},
		"a duplicate time":    {header + "0,1,1\n0,1,1\n", 3, "that of line 2 too"},
		"unsorted times":      {header + "120,1,1\n60,1,1\n", 3, "before that of line 2"},
		"a time without zone": {header + "2026-09-01T12:00:00,1,1\n", 2, "no time zone"},
		"likewise, a space":   {header + "2026-09-01 12:00,1,1\n", 2, "no time zone"},
		"no time":             {header + "noon,1,1\n", 2, "RFC 3339"},
		"milliseconds":        {header + "1756700000000,1,1\n", 2, "Unix seconds"},
		"NaN as a time":       {header + "NaN,1,1\n", 2, "Unix seconds"},
		"the year 1":          {header + "0001-01-01T00:00:00Z,1,1\n", 2, "1970"},
		"decades apart":       {header + "0,1,1\n3000000000,1,1\n", 3, "ten years"},
		"NaN":                 {header + "0,NaN,1\n", 2, `operations "NaN" is not a number`},
		"infinite":            {header + "0,1,Inf\n", 2, "more than any volume"},
		"too large":           {header + "0,1e308,1\n", 2, "more than any volume"},
		"negative":            {header + "0,1,1\n60,1,-1\n", 3, `bytes "-1" is negative`},
		"no number":           {header + "0,many,1\n", 2, `"many" is not a number`},
		"no value":            {header + "0,,1\n", 2, `operations "" is not a number`},
		"bytes alone":         {header + "0,0,4096\n", 2, "without an operation"},
		"no volume":           {"time,operations,bytes,volume\n0,1,1,\n", 2, "no name"},
		"too much I/O":        {"time,operations,bytes\n0,1,1\n60,99999999999999999999,1\n120,1,1\n", 3, "more than 1,000,000,000 a second"},
		"a vast I/O":          {"time,operations,bytes\n0,1,1073741825\n60,1,1\n", 2, "more than 1 GiB each"},
		"a bare size":         {"time,operations,bytes,size\n0,1,1,100\n60,1,1,100\n", 2, "size \"100\" has no unit"},
		"another type": {"time,operations,bytes,volume,type,size\n0,1,1,a,gp2,100GiB\n60,1,1,a,gp3,100GiB\n", 3,
			"was gp2 100GiB in line 2"},
	} {
		_, err := read(tt.text, false)
		var at *forecast.LineError
		if !errors.As(err, &at) || at.Line != tt.line || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v; want line %d and %q", name, err, tt.line, tt.want)
		}
	}
}

// The history of docs/model.md as a series of minutes: 8 at 3,000 IOPS, 13 of rest, then 3,000 again. It falls 1,606.7 s after
// the 1,260.
func TestSeriesFalls(t *testing.T) {
	var text strings.Builder
	text.WriteString("time,operations,bytes\n")
	for minute := range 21 + 40 {
		operations := 180_000
		if minute >= 8 && minute < 21 {
			operations = 0
		}
		fmt.Fprintf(&text, "%d,%d,%d\n", minute*60, operations, operations*4096)
	}
	samples, err := read(text.String(), false)
	if err != nil {
		t.Fatal(err)
	}
	o := forecast.Run(model.NewFluid(model.NewVolume(gp2(100).Performance, 1, nil), 0), func(yield func(forecast.Interval) bool) {
		for _, s := range samples {
			if !yield(s.Interval) {
				return
			}
		}
	})
	if !o.Empty || math.Abs(o.EmptyAt.Seconds()-2866.67) > 0.01 {
		t.Errorf("empty at %v, want 1,260 + 1,606.67 s", o.EmptyAt)
	}
}

func TestFleet(t *testing.T) {
	text := "time,volume,operations,bytes,size\n0,a,900000,0,100GiB\n0,b,900000,0,1000GiB\n300,a,900000,0,100GiB\n300,b,0,0,1000GiB\n"
	members, err := forecast.Fleet(forecast.Series(strings.NewReader(text), false), func(s forecast.Sample) (forecast.Candidate, model.Fluid, error) {
		c := gp2(map[string]units.Bytes{"100GiB": 100, "1000GiB": 1000}[s.Size])
		v := model.NewVolume(c.Performance, 1, nil)
		v.SetCredits(0, 0.1) // 540,000 last 200 s at 2,700
		return c, model.NewFluid(v, 0), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	d := forecast.DescribeFleet(members)
	if len(d.Volumes) != 2 || d.Volumes[0].ID != "a" || !same(d.Volumes[0].SecondsToEmpty, 200) || d.Volumes[1].SecondsToEmpty != nil {
		t.Errorf("%+v, want a empty after 200 s, b never", d.Volumes)
	}
	if worst := forecast.Worst(d.Volumes); len(worst) != 1 || worst[0].ID != "a" || worst[0].Course.ThrottledS != 400 {
		t.Errorf("worst: %+v, want a, throttled for 400 of 600 s", worst)
	}
	refused := errors.New("refused")
	_, err = forecast.Fleet(forecast.Series(strings.NewReader(text), false), func(forecast.Sample) (forecast.Candidate, model.Fluid, error) {
		return forecast.Candidate{}, model.Fluid{}, refused
	})
	if !errors.Is(err, refused) {
		t.Errorf("%v, want the refusal of the volume", err)
	}
}

func FuzzSeries(f *testing.F) {
	for _, seed := range []string{
		"time,operations,bytes\n2026-09-01T12:00:00Z,300,6000\n2026-09-01T12:01:00Z,0,0\n",
		"time,operations,bytes,volume,type,size\n0,1,1,a,gp2,100GiB\n60,1,1,a,gp2,100GiB\n",
		"time,operations,bytes\n0,1,1\n60,1e20,1\n180.5,1,1\n", "\ufefftime,operations,bytes\n\"0", "time\n", "",
	} {
		f.Add(seed)
	}
	perf := gp2(100).Performance
	f.Fuzz(func(t *testing.T, text string) {
		track := forecast.NewTrack(model.NewFluid(model.NewVolume(perf, 1, nil), 0), nil)
		for s, err := range forecast.Series(strings.NewReader(text), true) {
			if err != nil {
				return
			}
			if s.Length <= 0 || s.Line < 2 {
				t.Fatalf("%+v", s)
			}
			track.Add(s.Interval)
			if o := track.Outcome(); !(o.Last >= 0 && o.Last <= 1) || !(o.Waiting >= 0) || o.Throttled > o.Length {
				t.Fatalf("%+v", o)
			}
		}
	})
}

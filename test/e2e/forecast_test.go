package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// forecastDocument is what these tests read of a forecast.
type forecastDocument struct {
	BaselineIOPS    float64  `json:"baseline_iops"`
	BurstIOPS       float64  `json:"burst_iops"`
	SecondsToEmpty  *float64 `json:"seconds_to_empty"`
	SecondsToRefill *float64 `json:"seconds_to_refill"`
	Alarm           struct {
		Threshold *float64 `json:"threshold_percent"`
	}
	Course struct {
		EmptyAt   *float64 `json:"empty_at_s"`
		Throttled float64  `json:"throttled_s"`
	}
	Alternatives []struct {
		Course struct {
			Throttled float64 `json:"throttled_s"`
		}
	}
}

func forecast(t *testing.T, args ...string) forecastDocument {
	t.Helper()
	o := run(t, t.TempDir(), append([]string{"forecast", "-o", "json"}, args...)...)
	var d forecastDocument
	if err := json.Unmarshal([]byte(o.stdout), &d); err != nil || o.code != 0 {
		t.Fatalf("exit %d, %v: %s", o.code, err, o.stderr)
	}
	return d
}

func is(x *float64, want float64) bool {
	if math.IsNaN(want) {
		return x == nil
	}
	return x != nil && *x == want
}

// AWS's table of burst and refill times, and the 15 % of docs/model.md.
func TestForecastBurstAndRefillTimes(t *testing.T) {
	needs(t)
	never := math.NaN()
	for _, tt := range []struct{ gib, baseline, empty, refill float64 }{
		{30, 100, 1862, 54_000}, {100, 300, 2000, 18_000}, {334, 1002, 2703, 5_389}, {750, 2250, 7200, 2_400}, {1000, 3000, never, never},
	} {
		d := forecast(t, "--type", "gp2", "--size", fmt.Sprint(tt.gib), "--iops", "3000")
		if d.BaselineIOPS != tt.baseline || d.BurstIOPS != 3000 || !is(d.SecondsToEmpty, tt.empty) || !is(d.SecondsToRefill, tt.refill) {
			t.Errorf("%v GiB: %+v, want %+v", tt.gib, d, tt)
		}
		if tt.gib == 100 && (!is(d.Alarm.Threshold, 15) || len(d.Alternatives) != 1 || d.Alternatives[0].Course.Throttled != 0) {
			t.Errorf("100 GiB: %+v, want an alarm at 15 %% and no throttling on gp3", d)
		}
	}
}

// 480 s at 3,000 IOPS and 780 s of rest leave 4.338 M credits, 1,606.7 s: as a history, and as a series of minutes.
func TestForecastAfterAHistory(t *testing.T) {
	needs(t)
	if d := forecast(t, "--size", "100GiB", "--iops", "3000", "--after", "480s@3000,780s@0"); !is(d.SecondsToEmpty, 1607) {
		t.Errorf("after a history: %+v, want a fall at 1,607 s", d)
	}
	text := "time,operations,bytes\n"
	start := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	for minute := range 21 + 40 {
		operations := 180_000
		if minute >= 8 && minute < 21 {
			operations = 0
		}
		text += fmt.Sprintf("%s,%d,%d\n", start.Add(time.Duration(minute)*time.Minute).Format(time.RFC3339), operations, operations*4096)
	}
	file := filepath.Join(t.TempDir(), "demand.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if d := forecast(t, "--size", "100GiB", "--demand", file); !is(d.SecondsToEmpty, 1260+1607) {
		t.Errorf("as a series: %+v, want a fall at 1,260 + 1,607 s", d)
	}
	if d := forecast(t, "--size", "100GiB", "--iops", "3000", "--balance", "40%"); !is(d.SecondsToEmpty, 800) {
		t.Errorf("at 40 %%: %+v, want a fall at 800 s", d)
	}
}

// 1,900 a second beyond the baseline of 200 GiB: 5.4 M last 2,842 s.
func TestForecastPattern(t *testing.T) {
	needs(t)
	d := forecast(t, "--size", "200GiB", "--every", "24h", "--peak", "2500", "--for", "2h", "--then", "150")
	if !is(d.SecondsToEmpty, 2842) || len(d.Alternatives) != 2 {
		t.Errorf("%+v, want a fall at 2,842 s, and gp3 with defaults and at parity", d)
	}
}

func TestForecastPicturesAndFleet(t *testing.T) {
	needs(t)
	dir := t.TempDir()
	o := run(t, dir, "forecast", "--size", "100", "--iops", "3000")
	if o.code != 0 || !strings.Contains(o.stdout, "33 min 20 s") || !strings.Contains(o.stdout, "█") || !strings.Contains(o.stderr, "read as 100 GiB") {
		t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	o = run(t, dir, "forecast", "--size", "100GiB", "--iops", "3000", "-o", "html")
	if o.code != 0 || !strings.HasPrefix(o.stdout, "<!doctype html>") || strings.Contains(o.stdout, "http://") {
		t.Errorf("exit %d, a page of %d bytes: %s", o.code, len(o.stdout), o.stderr)
	}
	fleet := command(t, dir, "forecast", "--demand", "-", "--balance", "10%", "-o", "json")
	// 900,000 operations in five minutes are 3,000 a second: 10 % of 5.4 M last 200 s on 100 GiB.
	fleet.Stdin = strings.NewReader("time,volume,type,size,operations,bytes\n0,a,gp2,100GiB,900000,0\n0,b,gp3,100GiB,900000,0\n300,a,gp2,100GiB,0,0\n300,b,gp3,100GiB,0,0\n")
	o = finish(t, fleet, nil)
	var d struct {
		Volumes []struct {
			ID             string   `json:"volume_id"`
			SecondsToEmpty *float64 `json:"seconds_to_empty"`
		}
	}
	if err := json.Unmarshal([]byte(o.stdout), &d); err != nil || len(d.Volumes) != 2 || !is(d.Volumes[0].SecondsToEmpty, 200) || d.Volumes[1].SecondsToEmpty != nil {
		t.Errorf("%v: %s%s", err, o.stdout, o.stderr)
	}
}

// Without credits a gp2 volume of 300 GiB moves 900 × 256 KiB = 225 MiB/s by inference; at 400 GiB 250 are documented.
func TestForecastSaysWhatIsInferred(t *testing.T) {
	needs(t)
	for size, want := range map[string]bool{"300GiB": true, "400GiB": false} {
		o := run(t, t.TempDir(), "forecast", "--size", size, "--iops", "3000", "--block-size", "256KiB", "-o", "json")
		if got := strings.Contains(o.stdout, `"throughput-inferred"`); o.code != 0 || got != want {
			t.Errorf("%s: exit %d, said: %v, want %v", size, o.code, got, want)
		}
	}
	fleet := command(t, t.TempDir(), "forecast", "--demand", "-", "--balance", "0%")
	fleet.Stdin = strings.NewReader("time,volume,size,operations,bytes\n0,a,300GiB,900000,90000000000\n300,a,300GiB,900000,90000000000\n") // 286 MiB/s
	if o := finish(t, fleet, nil); o.code != 0 || !strings.Contains(strings.Join(strings.Fields(o.stdout), " "), "is not documented") {
		t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
}

func TestForecastBadInput(t *testing.T) {
	needs(t)
	series := func(text string) []string { return []string{"--size", "100GiB", "--demand", "-", text} }
	const header = "time,operations,bytes\n"
	for name, tt := range map[string]struct {
		args []string // of a series, the last is its text
		want string
	}{
		"no load":              {[]string{"--size", "100GiB"}, "no load"},
		"two loads":            {[]string{"--size", "100GiB", "--iops", "1", "--peak", "2"}, "one load"},
		"half a pattern":       {[]string{"--size", "100GiB", "--peak", "2"}, "--every, --peak and --for"},
		"a peak too long":      {[]string{"--size", "100GiB", "--peak", "2", "--every", "1h", "--for", "2h"}, "no longer than"},
		"a pattern of nothing": {[]string{"--size", "100GiB", "--peak", "2", "--every", "0s", "--for", "0s"}, "comes again"},
		"a century":            {[]string{"--size", "100GiB", "--peak", "2", "--every", "876000h", "--for", "2h"}, "ten years"},
		"no size":              {[]string{"--iops", "100"}, "--size is missing"},
		"decimal size":         {[]string{"--size", "100GB", "--iops", "100"}, "write 100GiB"},
		"negative size":        {[]string{"--size", "-5", "--iops", "100"}, "greater than zero"},
		"too large":            {[]string{"--size", "20TiB", "--iops", "100"}, "16 TiB"},
		"unknown type":         {[]string{"--type", "gp9", "--size", "100GiB", "--iops", "100"}, "gp9"},
		"unknown instance":     {[]string{"--instance", "m5.xlrge", "--size", "100GiB", "--iops", "100"}, "m5.xlarge"},
		"no I/O":               {[]string{"--size", "100GiB", "--iops", "0"}, "more than no I/O"},
		"negative":             {[]string{"--size", "100GiB", "--iops", "-1"}, "--iops"},
		"NaN":                  {[]string{"--size", "100GiB", "--iops", "NaN"}, "--iops"},
		"infinite":             {[]string{"--size", "100GiB", "--iops", "Inf"}, "--iops"},
		"balance":              {[]string{"--size", "100GiB", "--iops", "1", "--balance", "140%"}, "--balance"},
		"block size":           {[]string{"--size", "100GiB", "--iops", "1", "--block-size", "4KB"}, "--block-size"},
		"huge block":           {[]string{"--size", "100GiB", "--iops", "1", "--block-size", "4TiB"}, "--block-size"},
		"no warning":           {[]string{"--size", "100GiB", "--iops", "1", "--warn", "0s"}, "--warn"},
		"horizon":              {[]string{"--size", "100GiB", "--iops", "1", "--horizon", "-1h"}, "--horizon"},
		"horizon, tiny":        {[]string{"--size", "100GiB", "--iops", "1", "--horizon", "1ns"}, "--horizon"},
		"endless repetition":   {[]string{"--size", "100GiB", "--peak", "1", "--every", "1s", "--for", "1s", "--horizon", "80000h"}, "--horizon"},
		"provisioned NaN":      {[]string{"--type", "gp3", "--size", "100GiB", "--iops", "1", "--provisioned-iops", "NaN"}, "must be a number"},
		"provisioned on gp2":   {[]string{"--size", "100GiB", "--iops", "1", "--provisioned-iops", "4000"}, "gp2"},
		"history":              {[]string{"--size", "100GiB", "--iops", "1", "--after", "480@3000"}, "480s@3000"},
		"history, NaN":         {[]string{"--size", "100GiB", "--iops", "1", "--after", "480s@NaN"}, "--after"},
		"no such file":         {[]string{"--size", "100GiB", "--demand", "/nonexistent.csv"}, "/nonexistent.csv"},
		"gap":                  {series(header + "0,1,1\n60,1,1\n180,1,1\n"), "line 4: a gap"},
		"late fault":           {series(header + "0,1,1\n60,1,1\n120,NaN,1\n"), "line 4"},
		"duplicate":            {series(header + "0,1,1\n0,1,1\n"), "line 3"},
		"unsorted":             {series(header + "60,1,1\n0,1,1\n"), "line 3"},
		"no zone":              {series(header + "2026-09-01T12:00:00,1,1\n"), "line 2: time"},
		"missing column":       {series("time,operations\n0,1\n"), `line 1: column "bytes" is missing`},
		"bad size in a fleet":  {[]string{"--demand", "-", "time,operations,bytes,volume,size\n0,1,1,a,100XB\n60,1,1,a,100XB\n"}, "line 2: "},
		"size twice":           {series("time,operations,bytes,size\n0,1,1,100GiB\n60,1,1,100GiB\n"), "leave out --size"},
		"an alarm of a fleet":  {[]string{"--warn", "1m", "--demand", "-", "time,operations,bytes,volume,size\n0,1,1,a,100GiB\n60,1,1,a,100GiB\n"}, "names no alarm"},
		"page of a fleet":      {append([]string{"-o", "html"}, series("time,operations,bytes,volume\n0,1,1,a\n60,1,1,a\n")...), "one volume"},
		"gaps":                 {append([]string{"--gaps", "fill"}, series(header)...), "error or idle"},
	} {
		t.Run(name, func(t *testing.T) {
			args, text := tt.args, ""
			if last := len(args) - 1; strings.HasPrefix(args[last], "time") {
				args, text = args[:last], args[last]
			}
			cmd := command(t, t.TempDir(), append([]string{"forecast"}, args...)...)
			cmd.Stdin = strings.NewReader(text)
			o := finish(t, cmd, nil)
			if o.code != 2 || !strings.Contains(o.stderr, tt.want) || o.stdout != "" || strings.Contains(o.stderr, "panic") {
				t.Errorf("exit %d, want 2; stderr should say %q:\n%s%s", o.code, tt.want, o.stderr, o.stdout)
			}
		})
	}
}

// A load before may leave operations waiting: 60 minutes at 3,000 IOPS end 1,600 s after the credits, so that 1,600 × 2,700 =
// 4.32 million wait. They are served at 300 a second beside the 100 that are asked for, and never fewer than none.
func TestForecastAfterABacklog(t *testing.T) {
	o := run(t, t.TempDir(), "forecast", "--type", "gp2", "--size", "100GiB", "--iops", "100", "--after", "60m@3000", "-o", "json")
	var d struct {
		Course struct {
			Peak   float64 `json:"peak_backlog_operations"`
			Points []struct {
				Served float64 `json:"served_iops"`
			}
		}
	}
	if err := json.Unmarshal([]byte(o.stdout), &d); err != nil || o.code != 0 || len(d.Course.Points) == 0 {
		t.Fatalf("exit %d, %v\n%s", o.code, err, o.stderr)
	}
	near(t, "operations that wait", d.Course.Peak, 4.32e6, 0.001)
	near(t, "IOPS served at first", d.Course.Points[0].Served, 300, 0.001)
}

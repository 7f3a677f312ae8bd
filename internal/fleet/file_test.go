package fleet_test

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"ebscope/internal/fleet"
)

// everything is a snapshot that has something of every kind.
func everything() (fleet.Snapshot, []fleet.Metrics) {
	s := inSeoul(12, gp2("vol-1", 100), gp3("vol-2", 200, 4000, 250))
	v := &s.Regions[0].Volumes[0]
	v.Encrypted, v.KeyID, v.MultiAttach, v.SnapshotID, v.FastRestored, v.InitializationMiBps = true, "arn:aws:kms:…", true, "snap-1", true, 100
	v.Tags = map[string]string{"team": "shop"}
	v.Attachments[0].Since, v.Attachments[0].Device, v.Attachments[0].DeleteOnTermination = taken, "/dev/xvdb", true
	s.Regions[0].Modifications = []fleet.Modification{{Volume: "vol-2", State: "optimizing", Progress: 7, Start: taken, Original: v.Setting, Target: s.Regions[0].Volumes[1].Setting}}
	s.Regions[0].Alarms = []fleet.Alarm{{Name: "low", Namespace: "AWS/EBS", Metric: "BurstBalance", Dimensions: map[string]string{"VolumeId": "vol-1"},
		Comparison: "LessThanThreshold", Threshold: 15, PeriodS: 300, EvaluationPeriods: 1}}
	s.Regions = append(s.Regions, fleet.Region{Account: account, Name: "us-east-1"})
	c := east()
	c.AttributesAPI, c.Drivers = "v1", []fleet.Driver{{Name: fleet.EBSDriver, Version: "v1.64.0", Resizer: "v2.3.0"}}
	claimed(&c, "prod", "data", csi("vol-1"))
	c.Claims[0].Modify = &fleet.ModifyStatus{Target: "fast", Status: "InProgress"}
	c.AttributesClasses = []fleet.AttributesClass{{UID: "vac", Name: "fast", Driver: fleet.EBSDriver, Parameters: map[string]string{"iops": "4000"}}}
	c.Pods = []fleet.Pod{{UID: "pod", Namespace: "prod", Name: "app", Claims: []string{"data"}}}
	c.StatefulSets = []fleet.StatefulSet{{UID: "set", Namespace: "prod", Name: "db", Templates: []fleet.Template{{Name: "data", Class: ptr("")}}}}
	s.Clusters = []fleet.Cluster{c}
	s.Missing = []fleet.Missing{{Account: account, Region: seoul, Operation: "ec2:DescribeAlarms", Reason: fleet.Denied, Text: "not authorized"}}
	m := reads("vol-1", 12, 300, 99.8765)
	m.ReadOps[3] = math.NaN()
	return s, []fleet.Metrics{m, {Volume: "vol-2", WriteOps: fleet.NewSeries(12)}}
}

func save(t testing.TB, s fleet.Snapshot, metrics []fleet.Metrics) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := fleet.NewWriter(&file, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range metrics {
		if err := w.Metrics(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(s.Missing); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func load(file []byte) (fleet.Snapshot, []fleet.Metrics, error) {
	r, err := fleet.Open(bytes.NewReader(file))
	if err != nil {
		return fleet.Snapshot{}, nil, err
	}
	var metrics []fleet.Metrics
	err = r.Metrics(func(m fleet.Metrics) error {
		metrics = append(metrics, m)
		return nil
	})
	return r.Snapshot(), metrics, err
}

func TestSavedSnapshotIsTheSame(t *testing.T) {
	s, metrics := everything()
	file := save(t, s, metrics)
	got, gotMetrics, err := load(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(metrics, gotMetrics, cmpopts.EquateNaNs()); diff != "" {
		t.Error(diff)
	}
	if again := save(t, got, gotMetrics); !bytes.Equal(file, again) {
		t.Errorf("saved again it is\n%s\nnot\n%s", again, file)
	}
	for n, line := range strings.Split(strings.TrimSpace(string(file)), "\n") {
		if !json.Valid([]byte(line)) {
			t.Errorf("line %d is no JSON: %s", n+1, line)
		}
	}
}

func TestSeriesIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.Map(rapid.Int64Range(0, 1<<50), func(n int64) float64 { return float64(n) })
		percent := rapid.Map(rapid.IntRange(0, 1_000_000), func(n int) float64 { return float64(n) / 1e4 })
		missing := rapid.Just(math.NaN())
		s := fleet.Series(rapid.OneOf(
			rapid.SliceOfN(rapid.OneOf(count, missing, rapid.Just(0.0)), 1, 100),
			rapid.SliceOfN(rapid.OneOf(percent, missing, rapid.Just(100.0)), 1, 100),
		).Draw(t, "values"))
		text, err := s.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back fleet.Series
		if err := back.UnmarshalText(text); err != nil {
			t.Fatal(err)
		}
		if !cmp.Equal(s, back, cmpopts.EquateNaNs()) {
			t.Fatalf("%v became %v", s, back)
		}
	})
}

// Two weeks at rest take a few bytes.
func TestRestTakesNoRoom(t *testing.T) {
	text, err := steady(4032, 100).MarshalText()
	if err != nil || len(text) > 12 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	for _, bad := range []float64{-1, math.Inf(1), 1e18} {
		if _, err := (fleet.Series{bad}).MarshalText(); err == nil {
			t.Errorf("%v is no value of a metric", bad)
		}
	}
}

func TestDamagedSnapshots(t *testing.T) {
	s, metrics := everything()
	lines := slices.Collect(strings.Lines(string(save(t, s, metrics))))
	find := func(kind string) int {
		return slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, `{"`+kind+`"`) })
	}
	with := func(at int, more ...string) []string {
		inserted := slices.Clone(more)
		for i, l := range inserted {
			inserted[i] = strings.TrimSuffix(l, "\n") + "\n"
		}
		return slices.Concat(lines[:at], inserted, lines[at:])
	}
	last := len(lines) - 1
	for name, tt := range map[string]struct {
		lines []string
		want  string
	}{
		"nothing":                {nil, "this is no snapshot"},
		"something else":         {[]string{`{"schema":"ebscope.forecast/v1"}`}, "line 1: not a line of a snapshot"},
		"another form":           {[]string{`{"snapshot":{"schema":"ebscope.snapshot/v2","taken":"2026-01-01T00:00:00Z"}}`}, "has the form ebscope.snapshot/v2, and this version reads ebscope.snapshot/v1"},
		"another schema":         {[]string{`{"snapshot":{"schema":"x","taken":"2026-01-01T00:00:00Z"}}`}, `schema "x"`},
		"cut short":              {lines[:last], "was cut short"},
		"a line lost":            {slices.Delete(slices.Clone(lines), 1+find("volume"), 2+find("volume")), "some are lost"},
		"two in one":             {with(last, lines...), "out of order"},
		"something after":        {append(slices.Clone(lines), "{}"), "something follows the end"},
		"a field that is new":    {with(1, `{"region":{"account":"1","region":"x","colour":"red"}}`), `line 2: not a line of a snapshot: json: unknown field "colour"`},
		"two things":             {with(1, `{"region":{"account":"1","region":"x"},"node":{"uid":"1","name":"n"}}`), "it says 2 things"},
		"nothing in a line":      {with(1, `{}`), "it says 0 things"},
		"more in a line":         {with(1, `{"region":{"account":"1","region":"x"}} 7`), "7 follows the object"},
		"a volume of no region":  {with(1, lines[find("volume")]), "before any region"},
		"a claim of no cluster":  {with(1, lines[find("claim")]), "before any cluster"},
		"a volume twice":         {with(find("volume"), lines[find("volume")]), "volume vol-1 is there twice"},
		"a region twice":         {with(2, lines[find("region")]), "is there twice"},
		"an id that is empty":    {with(2, `{"instance":{"id":"","type":"x","state":"running"}}`), "instance without an id"},
		"a volume of no size":    {with(2, `{"volume":{"id":"v","zone":"","type":"gp2","size_gib":0,"state":"","created":"2026-01-01T00:00:00Z"}}`), "which no volume is"},
		"a window without end":   {[]string{`{"snapshot":{"schema":"ebscope.snapshot/v1","taken":"2026-01-01T00:00:00Z","window":{"start":"2026-01-01T00:00:00Z","step_ns":1,"points":2000000000}}}`}, "it needs 1 to 100000"},
		"metrics twice":          {with(find("metrics"), lines[find("metrics")]), "is there twice"},
		"metrics beyond the end": {with(find("metrics"), `{"metrics":{"volume":"v","read_ops":"AAAN"}}`), "a metric of v has 13 points, the window 12"},
		"a series without end":   {with(find("metrics"), `{"metrics":{"volume":"v","read_ops":"AAD/////Dw"}}`), "has more than 100000 values"},
		"a series that is cut":   {with(find("metrics"), `{"metrics":{"volume":"v","read_ops":"AAA"}}`), "a series is damaged"},
		"no base64":              {with(find("metrics"), `{"metrics":{"volume":"v","read_ops":"*"}}`), "a series is damaged"},
		"a number below zero":    {with(find("metrics"), `{"metrics":{"volume":"v","read_ops":"AAM"}}`), "a series is damaged"},
		"a fact after metrics":   {with(last, lines[find("node")]), "out of order"},
		"a line without end":     {[]string{strings.Repeat("x", 17<<20)}, "longer than 16 MiB"},
	} {
		_, _, err := load([]byte(strings.Join(tt.lines, "")))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one that says %q", name, err, tt.want)
		}
	}
}

func FuzzOpen(f *testing.F) {
	s, metrics := everything()
	f.Add(save(f, s, metrics))
	f.Add([]byte(`{"snapshot":{"schema":"ebscope.snapshot/v1"}}` + "\n" + `{"metrics":{"volume":"v","read_ops":"AAAN"}}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		s, metrics, err := load(file)
		if err != nil {
			return
		}
		scan(s, metrics...)
		if _, _, err := load(save(t, s, metrics)); err != nil {
			t.Errorf("saved again it cannot be read: %v", err)
		}
	})
}

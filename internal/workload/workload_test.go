package workload_test

import (
	"strings"
	"testing"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

func TestShippedProfiles(t *testing.T) {
	want := map[string]struct {
		phases   int
		duration time.Duration // stated, without layouts
	}{
		// 600 + 2,700 + 2 × 120 + 2 × 60 + 4 × 60 = 3,900 s
		"gp2-vs-gp3": {12, 3900 * time.Second},
		// per volume 45 + 20 + 15 + 15 + 15 = 110 s, and about 8 s of layout
		"quick": {12, 220 * time.Second},
		// 2 layouts, and on each of 2 volumes 10 depths of 120 s
		"queue-depth-sweep": {22, 2400 * time.Second},
		// 2 layouts, and on each of 2 volumes 2 patterns × 2 numbers of jobs of 15 s
		"parallel-jobs": {10, 120 * time.Second},
		// 2 layouts, and on each of 2 volumes 4 tests × read and write of 5 s
		"crystaldiskmark": {18, 80 * time.Second},
	}
	if got := workload.Names(); len(got) != len(want) {
		t.Errorf("profiles that ship: %s", got)
	}
	for name, w := range want {
		p, err := workload.Shipped(ebs.Embedded(), name)
		if err != nil {
			t.Fatal(err)
		}
		var total time.Duration
		for _, phase := range p.Phases {
			total += phase.Duration
		}
		if len(p.Phases) != w.phases || total != w.duration {
			t.Errorf("%s: %d phases, %v; want %d, %v", name, len(p.Phases), total, w.phases, w.duration)
		}
		v, ok := p.Volume("gp2")
		size := 100 * units.GiB
		if name == "parallel-jobs" {
			size = 200 * units.GiB
		}
		if !ok || v.Config != (ebs.Volume{Type: ebs.GP2, Size: size}) || v.Balance != 1 {
			t.Errorf("%s: gp2 is %+v", name, v)
		}
	}
}

func TestCompressed(t *testing.T) {
	p, err := workload.Shipped(ebs.Embedded(), "gp2-vs-gp3")
	if err != nil {
		t.Fatal(err)
	}
	c := p.Compressed(60)
	// 2,700 s ÷ 60 = 45 s; 450 ms ÷ 60 = 7.5 ms; 8,192 MiB ÷ 60 = 136.5, in whole MiB 136.
	if c.Phases[3].Duration != 45*time.Second || c.Gap != 7500*time.Microsecond || c.FileSize != 136*units.MiB {
		t.Errorf("compressed 60 times: duration %v, gap %v, file %v", c.Phases[3].Duration, c.Gap, c.FileSize)
	}
	if p.Phases[3].Duration != 2700*time.Second {
		t.Error("compressing changed the profile itself")
	}
}

const valid = `
name: mine
file_size: 1GiB
gap: 450ms
volumes:
  - {name: data, type: gp3, size: 200GiB, iops: 6000, throughput: 250MiB/s}
  - {name: logs, type: gp2, size: 50GiB, balance: 40%}
phases:
  - {name: layout, volume: data, rw: write, block_size: 1MiB, queue_depth: 1}
  - {name: layout, volume: logs, rw: write, block_size: 1MiB, queue_depth: 1}
  - {name: mixed, volume: data, rw: randrw, read_percent: 70, block_size: 16KiB, queue_depth: 16, jobs: 4, duration: 2m}
  - {name: append, volume: logs, rw: write, block_size: 64KiB, queue_depth: 1, duration: 30s, rest: 1m}
`

func TestParse(t *testing.T) {
	p, err := workload.Parse(ebs.Embedded(), []byte(valid))
	if err != nil {
		t.Fatal(err)
	}
	data, logs := p.Volumes[0], p.Volumes[1]
	if data.Config != (ebs.Volume{Type: ebs.GP3, Size: 200 * units.GiB, IOPS: 6000, Throughput: 250 * units.MiBPerSecond}) {
		t.Errorf("data: %+v", data)
	}
	if logs.Balance != 0.4 || data.Balance != 1 {
		t.Errorf("balances %v and %v, want 0.4 as stated and 1 by default", logs.Balance, data.Balance)
	}
	mixed, app := p.Phases[2], p.Phases[3]
	if mixed.Outstanding() != 64 || mixed.ReadPercent != 70 || mixed.Duration != 2*time.Minute || mixed.ID() != "data-mixed" {
		t.Errorf("mixed: %+v", mixed)
	}
	if app.Rest != time.Minute || app.Jobs != 1 {
		t.Errorf("append: %+v", app)
	}
}

func TestParseRefuses(t *testing.T) {
	replace := func(old, new string) string {
		if !strings.Contains(valid, old) {
			t.Fatalf("the valid profile has no %q", old)
		}
		return strings.Replace(valid, old, new, 1)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"empty":               {"", "empty"},
		"two documents":       {valid + "---\nname: other\n", "more than one"},
		"unknown key":         {replace("gap:", "gaps:"), "line 4: key gaps is unknown in a profile"},
		"unknown volume key":  {replace("type: gp3", "kind: gp3"), "line 6: key kind is unknown in a volume"},
		"unknown phase key":   {replace("jobs: 4", "threads: 4"), "line 11: key threads is unknown in a phase"},
		"size without unit":   {replace("1GiB", "1"), "line 3"},
		"decimal size":        {replace("200GiB", "200GB"), "write 200GiB"},
		"bad duration":        {replace("2m", "2 minutes"), `line 11: duration "2 minutes"`},
		"bad throughput":      {replace("250MiB/s", "250MB/s"), `line 6: throughput "250MB/s"`},
		"bad balance":         {replace("40%", "140%"), "line 7"},
		"name twice":          {replace("name: logs", "name: data"), `"data" is used twice`},
		"phase twice":         {replace("name: append, volume: logs", "name: mixed, volume: data"), "measured twice"},
		"no layout":           {replace("{name: layout, volume: logs, rw: write,", "{name: first, volume: logs, rw: read,"), "must write its test file"},
		"no such volume":      {replace("name: append, volume: logs", "name: append, volume: log"), `no volume named "log"`},
		"refused gp3":         {replace("iops: 6000", "iops: 90000"), "3,000 to 80,000 IOPS"},
		"no file size":        {replace("file_size: 1GiB", ""), "file_size is missing"},
		"file too large":      {replace("1GiB", "60GiB"), "does not fit on 50 GiB"},
		"unknown pattern":     {replace("volume: logs, rw: write, block_size: 64KiB", "volume: logs, rw: append, block_size: 64KiB"), `rw "append"`},
		"percent on write":    {replace("block_size: 64KiB", "read_percent: 5, block_size: 64KiB"), "read_percent"},
		"depth of zero":       {replace("queue_depth: 1, duration", "queue_depth: 0, duration"), "queue_depth 0"},
		"odd block":           {replace("64KiB", "1000b"), "multiple of 512 B"},
		"short phase":         {replace("30s", "30ms"), "at least 1s"},
		"negative rest":       {replace("rest: 1m", "rest: -1m"), "rest"},
		"endless":             {replace("30s", "9000h"), "0 to 168h"},
		"duration of zero":    {replace("30s", "0s"), "duration 0s: use at least 1s, or leave duration out"},
		"unknown instance":    {replace("gap:", "instance: m5.xlarg\ngap:"), "m5.xlarge"},
		"unknown region":      {replace("gap:", "region: us-east-9\ngap:"), "us-east-1"},
		"line of a region":    {replace("gap:", "region: us-east-9\ngap:"), "line 4: "},
		"line of an instance": {replace("gap:", "instance: m5.xlarg\ngap:"), "line 4: "},
		"line of a gap":       {replace("gap: ", "gap: -"), "line 4: gap -"},
		"line of a name":      {strings.Replace(valid, "name: ", "name: My ", 1), "line 2: profile name \"My "},
		"balance of gp3":      {replace("type: gp3,", "type: gp3, balance: 40%,"), "line 6: volume data: balance is the share of burst credits, and gp3 volumes have none"},
		// From 1,000 GiB on, gp2 is as fast for ever as in a burst.
		"balance of a large": {replace("size: 50GiB", "size: 1000GiB"), "a gp2 volume of 1000 GiB has none"},
		"path as a name":     {replace("name: logs", "name: ../logs"), "lower-case"},
		"a list":             {"[1, 2]", "line 1"},
		"an alias bomb":      {"a: &a [x,x,x]\nb: &b [*a,*a,*a]\nname: [*b,*b]", "line"},
	} {
		if _, err := workload.Parse(ebs.Embedded(), []byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one that says %q", name, err, tt.want)
		}
	}
}

func TestUnknownProfileNamesTheOthers(t *testing.T) {
	if _, err := workload.Shipped(ebs.Embedded(), "slow"); err == nil || !strings.Contains(err.Error(), "gp2-vs-gp3, parallel-jobs") {
		t.Errorf("error %v", err)
	}
}

func TestOnly(t *testing.T) {
	p, err := workload.Parse(ebs.Embedded(), []byte(valid))
	if err != nil {
		t.Fatal(err)
	}
	only, err := p.Only(map[string]string{"logs": "/mnt"})
	if err != nil || len(only.Volumes) != 1 || len(only.Phases) != 2 || only.Phases[0].Volume != "logs" || len(p.Phases) != 4 {
		t.Errorf("Only(logs): %+v, %v", only, err)
	}
	if _, err := p.Only(map[string]string{"log": "/mnt"}); err == nil {
		t.Error("an unknown volume was accepted")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(valid))
	f.Add([]byte(paced))
	f.Add([]byte("name: [\x00"))
	f.Add([]byte("volumes: {}\nphases: 7"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if p, err := workload.Parse(ebs.Embedded(), text); err == nil {
			if err := p.Compressed(60).Validate(ebs.Embedded()); err != nil && !strings.Contains(err.Error(), "duration") && !strings.Contains(err.Error(), "file") && !strings.Contains(err.Error(), "block_size") {
				t.Errorf("a valid profile is not valid when compressed: %v", err)
			}
		}
	})
}

package workload_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

const paced = `
name: paced
file_size: 8GiB
instance: m5.xlarge
volumes:
  - {name: raid, stripe: [a, b], stripe_size: 64KiB}
  - {name: a, type: gp3, size: 5GiB, latency: c5.large-gp3}
  - {name: b, type: gp3, size: 5GiB, latency: {0%: 0.4ms, 50%: 0.5ms, 100%: 2ms}}
  - {name: old, type: gp2, size: 100GiB, restored: true, first_touch_latency: 15ms}
phases:
  - {name: layout, volume: raid, rw: write, block_size: 1MiB, queue_depth: 1}
  - {name: think, volume: raid, rw: randread, block_size: 4KiB, queue_depth: 1, jobs: 4, think_time: 10ms, duration: 1m}
  - {name: both, volume: raid, rw: randread, block_size: 4KiB, queue_depth: 8, jobs: 2, rate_iops: 2000, duration: 1m, together: pair, rest: 5s}
  - {name: both, volume: old, rw: randrw, read_percent: 70, block_size: 4KiB, queue_depth: 8, rate_iops: 100, duration: 1m, together: pair}
`

func TestParsePaceStripesAndGroups(t *testing.T) {
	p, err := workload.Parse(ebs.Embedded(), []byte(paced))
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := p.Stripe("raid"); !ok || len(p.Volumes) != 3 || len(s.Volumes) != 2 || s.ChunkSize != 64*units.KiB {
		t.Errorf("stripe %+v, %d volumes", s, len(p.Volumes))
	}
	if m := p.Members("raid"); len(m) != 2 || m[0].Name != "a" || m[1].Name != "b" {
		t.Errorf("members of raid: %+v", m)
	}
	if m := p.Members("old"); len(m) != 1 || m[0].Name != "old" {
		t.Errorf("members of old: %+v", m)
	}
	if got := p.Volumes[0].Latency.Mean(); (got - 920*time.Microsecond).Abs() > 10*time.Nanosecond {
		t.Errorf("latency of a: mean %v, want 0.92 ms", got)
	}
	// 0.5 × 0.45 + 0.5 × 1.25
	if got := p.Volumes[1].Latency.Mean(); (got - 850*time.Microsecond).Abs() > time.Nanosecond {
		t.Errorf("latency of b: mean %v, want 0.85 ms", got)
	}
	if r := p.Volumes[2].Restored; r == nil || r.Latency != 15*time.Millisecond || r.Throughput != workload.DefaultFirstTouch.Throughput {
		t.Errorf("restored: %+v", r)
	}
	if think := p.Phases[1]; think.ThinkTime != 10*time.Millisecond || think.Outstanding() != 4 {
		t.Errorf("think: %+v", think)
	}
	// 100 a second, 70 of them reads.
	if read, write := p.Phases[3].JobRates(); read != 70 || write != 30 {
		t.Errorf("rates of the mixed phase: %d and %d, want 70 and 30", read, write)
	}
	if read, write := p.Phases[2].JobRates(); read != 1000 || write != 1000 {
		t.Errorf("rates of two jobs: %d and %d, want 1,000", read, write)
	}
	var sizes []int
	for _, g := range p.Groups() {
		sizes = append(sizes, len(g))
	}
	if len(sizes) != 3 || sizes[2] != 2 {
		t.Errorf("groups of %v, want 1, 1 and 2", sizes)
	}
	// Neither a rate nor a think time is a time constant of the volume.
	if c := p.Compressed(10); c.Phases[1].ThinkTime != 10*time.Millisecond || c.Phases[2].RateIOPS != 2000 {
		t.Errorf("compressed: %+v", c.Phases[1:3])
	}
	only, err := p.Only(map[string]string{"old": "/mnt"})
	if err != nil || len(only.Stripes) != 0 || len(only.Phases) != 1 || only.Phases[0].Together != "" {
		t.Errorf("Only(old): %+v, %v", only, err)
	}
}

func TestSimulatedOnly(t *testing.T) {
	p, err := workload.Parse(ebs.Embedded(), []byte(paced))
	if err != nil {
		t.Fatal(err)
	}
	alone := p
	alone.Phases = p.Phases[:2]
	restored := alone
	restored.Stripes = nil
	plain := restored
	plain.Volumes = p.Volumes[:2]
	for name, tt := range map[string]struct {
		profile workload.Profile
		want    string
	}{
		"together": {p, "never two volumes at once"},
		"stripe":   {alone, "RAID 0"},
		"restored": {restored, "restored from a snapshot"},
		"plain":    {plain, ""},
	} {
		if got := tt.profile.SimulatedOnly(); !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%s: %q, want one that says %q", name, got, tt.want)
		}
	}
}

func TestParseRefusesPaceStripesAndGroups(t *testing.T) {
	replace := func(old, new string) string {
		if !strings.Contains(paced, old) {
			t.Fatalf("the profile has no %q", old)
		}
		return strings.Replace(paced, old, new, 1)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"think at depth":         {replace("queue_depth: 1, jobs: 4", "queue_depth: 4"), "line 12: phase 2 (think on raid): think_time with queue_depth 4"},
		"think too long":         {replace("10ms", "2h"), "line 12"},
		"think negative":         {replace("10ms", "-10ms"), "line 12"},
		"rate not shared":        {replace("rate_iops: 2000", "rate_iops: 2001"), "line 13: phase 3 (both on raid): rate_iops 2001 over 2 jobs"},
		"rate negative":          {replace("rate_iops: 2000", "rate_iops: -5"), "line 13"},
		"rate zero":              {replace("rate_iops: 2000", "rate_iops: 0"), "use at least 1, or leave rate_iops out"},
		"rate broken":            {replace("rate_iops: 2000", "rate_iops: 20.5"), "line 13"},
		"rate of one, mixed":     {replace("rate_iops: 100", "rate_iops: 1"), "less than one read or write"},
		"group of one":           {replace("together: pair, rest", "rest"), "line 14: together pair: only phase both on old"},
		"group torn":             {replace("duration: 1m, together: pair, rest", "duration: 1m, together: other, rest"), "together other: only phase"},
		"group on one volume":    {replace("{name: both, volume: old", "{name: more, volume: raid"), "two phases on raid"},
		"rest in a group":        {replace("rate_iops: 100,", "rate_iops: 100, rest: 1s,"), "only its first phase can rest"},
		"group with a bad name":  {strings.ReplaceAll(paced, "together: pair", "together: Pair!"), "line 13: together Pair!: use lower-case"},
		"stripe of one":          {replace("[a, b]", "[a]"), "line 6: stripe raid: RAID 0 over 1 volumes"},
		"stripe of none":         {replace("[a, b]", "[]"), "line 6"},
		"stripe of strangers":    {replace("[a, b]", "[a, c]"), `line 6: stripe raid: there is no volume named "c"`},
		"stripe twice on one":    {replace("[a, b]", "[a, a]"), "part of stripe raid already"},
		"stripe with a type":     {replace("stripe_size: 64KiB", "type: gp3"), "line 6: stripe raid: a stripe has a name"},
		"odd chunk":              {replace("64KiB", "6KiB"), "line 6: stripe raid: stripe_size 6 KiB"},
		"chunk without a stripe": {replace("type: gp2,", "type: gp2, stripe_size: 64KiB,"), "line 9: volume old: stripe_size without stripe"},
		"name of a volume":       {replace("name: raid,", "name: a,"), "used twice"},
		"broken depth":           {replace("queue_depth: 8, jobs", "queue_depth: 8.5, jobs"), "line 13: \"8.5\" is not a whole number"},
		"half restored":          {replace("latency: c5.large-gp3", "restored: true"), "all of its volumes"},
		"phase on a member":      {replace("volume: raid, rw: randread", "volume: a, rw: randread"), "line 12: phase 2 (think on a): volume a is a part of stripe raid"},
		"stripe too small":       {replace("8GiB", "11GiB"), "does not fit on 5 GiB"},
		"touch of a new volume":  {replace("restored: true, ", ""), "line 9: volume old: first_touch_latency"},
		"touch of no speed":      {replace("first_touch_latency: 15ms", "first_touch_throughput: 0MiB/s"), "line 9: volume old: first_touch_throughput"},
		"touch that is NaN":      {replace("first_touch_latency: 15ms", "first_touch_throughput: NaNMiB/s"), "line 9: volume old: first_touch_throughput"},
		"touch of an hour":       {replace("15ms", "1h"), "line 9: volume old: first_touch_latency"},
		"unknown curve":          {replace("c5.large-gp3", "fast"), `line 7: there is no latency curve named "fast"; use c5.large-gp2`},
		"curve that falls":       {replace("100%: 2ms", "100%: 0.2ms"), "line 8: point 3"},
		"curve without an end":   {replace("100%: 2ms", "90%: 2ms"), "line 8"},
		"curve with a bad time":  {replace("100%: 2ms", "100%: 2"), `line 8: duration "2"`},
		"curve with a bad share": {replace("100%: 2ms", "1: 2ms"), `line 8: latency: "1" is not a share`},
		"curve as a list":        {replace("latency: c5.large-gp3", "latency: [1ms]"), "line 7: latency"},
	} {
		if _, err := workload.Parse(ebs.Embedded(), []byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one that says %q", name, err, tt.want)
		}
	}
}

// A record may hold what no YAML can.
func TestValidateRefusesRecords(t *testing.T) {
	for name, change := range map[string]func(*workload.Profile){
		"latency":  func(p *workload.Profile) { p.Volumes[0].Latency = model.Latency{{Share: 0.5, Within: 1}} },
		"rate":     func(p *workload.Profile) { p.Phases[2].RateIOPS = 0.5 },
		"chunk":    func(p *workload.Profile) { p.Stripes[0].ChunkSize = 0 },
		"no parts": func(p *workload.Profile) { p.Stripes[0].Volumes = nil },
	} {
		p, err := workload.Parse(ebs.Embedded(), []byte(paced))
		if err != nil {
			t.Fatal(err)
		}
		change(&p)
		if err := p.Validate(ebs.Embedded()); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestExampleProfile(t *testing.T) {
	text, err := os.ReadFile("../../docs/examples/profile.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := workload.Parse(ebs.Embedded(), text)
	if err != nil || len(p.Volumes) != 4 || len(p.Stripes) != 1 || len(p.Phases) != 7 {
		t.Errorf("%d volumes, %d stripes, %d phases, %v", len(p.Volumes), len(p.Stripes), len(p.Phases), err)
	}
}

package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/report"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// renderings returns the report in every format.
func renderings(t *testing.T, r report.Report) map[string]string {
	t.Helper()
	var terminal, markdown bytes.Buffer
	if err := report.Terminal(&terminal, r, 100, false); err != nil {
		t.Fatal(err)
	}
	if err := report.Markdown(&markdown, r); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"terminal": terminal.String(), "markdown": markdown.String(), "html": html(t, r)}
}

// plainly takes out what a format adds between words.
func plainly(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("\u00a0", " ", "\\", "", "&#39;", "'", "&gt;", ">").Replace(text)), " ")
}

// without marks a phase as not done and takes its figures away, as the analysis does.
func without(r *report.Report, i int, state result.State, err string) {
	p := &r.Document.Phases[i]
	*p = analyze.Phase{Name: p.Name, Volume: p.Volume, State: string(state), RW: p.RW, BlockSize: p.BlockSize, QueueDepth: p.QueueDepth, Jobs: p.Jobs}
	r.Run.Phases[i].State, r.Run.Phases[i].Error = state, err
	r.Measured[i] = nil
	r.Document.Run.Complete = false
}

func TestHeadline(t *testing.T) {
	const gp3Layout, gp2Layout, gp3Read, gp2Read, gp2Write, gp2Latency = 0, 1, 2, 3, 5, 7 // places in the profile
	calm := func(r *report.Report) {
		for _, i := range []int{gp2Read, gp2Write, gp2Latency} {
			p := &r.Document.Phases[i]
			p.Cliff, p.Verdict = nil, analyze.Sustained
		}
	}
	tests := []struct {
		name   string
		change func(r *report.Report)
		want   string
	}{
		{"level with gp3", func(*report.Report) {}, "gp2 runs level with gp3 for 33 min 19 s, then falls to a tenth within 3 s"},
		{"uncompressed, in windows of a second", func(r *report.Report) {
			r.Document.Run.Compress = 1
			r.Measured[gp2Read].Window = 1e9
		}, "gp2 runs level with gp3 for 33 min 19 s, then falls to a tenth within a second"},
		{"gp3 not measured", func(r *report.Report) { without(r, gp3Read, result.Failed, "fio ended with 1") },
			"gp2 holds 3,001 IOPS for 33 min 19 s, then falls to a tenth within 3 s"},
		{"an odd fall, ahead of gp3", func(r *report.Report) {
			c := r.Document.Phases[gp2Read].Cliff
			c.BeforeIOPS, c.AfterIOPS, c.DropPercent = 6000, 3780, 37
		}, "gp2 is ahead of gp3 for 33 min 19 s, then falls by 37 % within 3 s"},
		{"burst not spent", func(r *report.Report) {
			calm(r)
			r.Document.Phases[gp2Read].Verdict = analyze.BurstOnly
		}, "gp2 ran on burst credits to the end: this run is too short to see it fall"},
		{"burst of the instance not spent", func(r *report.Report) {
			calm(r)
			r.Document.Phases[gp3Read].Verdict, r.Document.Phases[gp3Read].Burst = analyze.BurstOnly, analyze.InstanceBurst
		}, "gp3 ran on the burst of its m5.xlarge instance to the end: this run is too short to see it fall"},
		{"burst of the instance spent at once", func(r *report.Report) {
			calm(r)
			r.Document.Phases[gp3Read].Verdict, r.Document.Phases[gp3Read].Burst = analyze.BurstThenBaseline, analyze.InstanceBurst
		}, "gp3 spends the burst of its m5.xlarge instance at the very start of randread-qd32, then holds the instance's baseline"},
		// 2,000 IOPS for all volumes of a t3.medium (EC2 user guide).
		{"an instance below its volumes", func(r *report.Report) { r.Run.Profile.Instance = "t3.medium" },
			"holds 2,000 IOPS without credits"},
		{"costs with an instance below its volumes", func(r *report.Report) { r.Run.Profile.Instance = "t3.medium" },
			"t3.medium holds no more than 2,000 IOPS for all its volumes."},
		{"unstable", func(r *report.Report) {
			calm(r)
			r.Document.Phases[gp2Write].Verdict = analyze.Unstable
		}, "No lasting fall, but randwrite-qd32 is unstable on gp2"},
		{"a layout is never the result", func(r *report.Report) {
			calm(r)
			r.Document.Phases[gp3Layout].Verdict, r.Document.Phases[gp2Layout].Verdict = analyze.Unstable, analyze.BurstOnly
		}, "No fall: every volume holds its level to the end"},
		{"nor does its fall come before that of another phase", func(r *report.Report) {
			late := *r.Document.Phases[gp2Read].Cliff
			late.AtS *= 2
			r.Document.Phases[gp2Layout].Cliff = &late
		}, "gp2 runs level with gp3 for 33 min 19 s, then falls to a tenth within 3 s"},
		{"a phase is missing", func(r *report.Report) {
			calm(r)
			without(r, gp2Write, result.Cut, "")
		}, "No fall in what was measured; 11 of 12 phases are done"},
		{"a volume is missing", func(r *report.Report) {
			calm(r)
			for i := gp2Layout + 1; i < len(r.Document.Phases); i++ {
				if r.Document.Phases[i].Volume == "gp2" {
					without(r, i, result.Pending, "")
				}
			}
		}, "No fall in what was measured; 7 of 12 phases are done; gp2 was not measured"},
		{"unstable, and a phase is missing", func(r *report.Report) {
			calm(r)
			r.Document.Phases[gp2Write].Verdict = analyze.Unstable
			without(r, gp3Read, result.Failed, "fio ended with 1")
		}, "No lasting fall, but randwrite-qd32 is unstable on gp2; 11 of 12 phases are done"},
		{"only layouts are done", func(r *report.Report) {
			for i := gp2Layout + 1; i < len(r.Document.Phases); i++ {
				without(r, i, result.Pending, "")
			}
		}, "No result: of 12 phases, only those that lay out the test files have finished"},
		{"credits spent at once", func(r *report.Report) {
			calm(r)
			r.Document.Phases[gp2Write].Verdict = analyze.BurstThenBaseline
		}, "gp2 spends its burst credits at the very start of randwrite-qd32, then holds its baseline"},
		{"too short", func(r *report.Report) {
			calm(r)
			r.Document.Phases[gp2Write].Verdict = ""
			r.Measured[gp2Write].IOPS = r.Measured[gp2Write].IOPS[:1]
		}, "No fall was seen, but randwrite-qd32 on gp2 has too few samples to show one"},
		{"above every limit", func(r *report.Report) {
			calm(r)
			p := &r.Document.Phases[gp2Write]
			p.Verdict, p.Summary = "", "29,272 IOPS is more than the 3,000 IOPS that volume and instance allow: a cache."
			p.Warnings = append(p.Warnings, result.Warning{Code: "above-limit"})
		}, "gp2 randwrite-qd32: 29,272 IOPS is more than the 3,000 IOPS that volume and instance allow: a cache"},
		{"burst and baseline alike", func(r *report.Report) {
			calm(r)
			p := &r.Document.Phases[gp2Read]
			p.Verdict, p.Summary = "", "3,000 IOPS throughout: whether it spends credits cannot be measured."
		}, "gp2 randread-qd32: 3,000 IOPS throughout: whether it spends credits cannot be measured"},
		{"all calm", calm, "No fall: every volume holds its level to the end"},
		{"nothing done", func(r *report.Report) {
			for i := range r.Document.Phases {
				without(r, i, result.Pending, "")
			}
		}, "No result: none of the 12 phases has finished"},
		{"nothing at all", func(r *report.Report) { *r = report.Report{} }, "No result: none of the 0 phases has finished"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := fixture(t)
			test.change(&r)
			for format, text := range renderings(t, r) {
				if !strings.Contains(plainly(text), test.want) {
					t.Errorf("%s does not say %q", format, test.want)
				}
			}
		})
	}
}

// A phase without figures shows its state and its error, and no zero.
func TestUnfinishedPhases(t *testing.T) {
	r := fixture(t)
	without(&r, 4, result.Failed, "fio: engine libaio is not there")
	without(&r, 5, result.Cut, "")
	without(&r, 10, result.Pending, "")
	for format, text := range renderings(t, r) {
		text = plainly(text)
		for _, want := range []string{"unfinished: 9 of 12 phases done", "Failed: fio: engine libaio is not there", "Cut off", "Not run yet"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", format, want)
			}
		}
	}
	var terminal bytes.Buffer
	if err := report.Terminal(&terminal, r, 80, false); err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(terminal.String(), "\n") {
		if strings.HasPrefix(line, "randwrite-qd32") && (!strings.Contains(line, "failed") || strings.Contains(line, "0")) {
			t.Errorf("the failed phase reads %q", line)
		}
	}
}

// What differs only in a figure that hardly matters is said once, for all phases.
func TestGenericWarning(t *testing.T) {
	r := fixture(t)
	for i := range r.Document.Phases {
		r.Document.Phases[i].Warnings = []result.Warning{{Code: "first-sample-excluded", Text: fmt.Sprintf("The first sample, %d IOPS over 1 s, is left out.", i)}}
	}
	for format, text := range renderings(t, r) {
		text = plainly(text)
		const want = "The first sample is left out of mean, minimum and maximum: it can hold the one-off burst of a full rate bucket."
		if strings.Count(text, want) != 1 || strings.Contains(text, "IOPS over 1 s") {
			t.Errorf("%s does not say once: %s", format, want)
		}
		all := "gp3 layout, gp2 layout, gp3 randread-qd32, gp2 randread-qd32"
		if format == "terminal" {
			all = "on gp3 layout and 11 others"
		}
		if !strings.Contains(text, all) {
			t.Errorf("%s does not list the phases: %s", format, all)
		}
	}
}

// What to do follows from the volume's size: from 171 to 249 GiB a change that keeps 250 MiB/s costs more.
func TestAdvice(t *testing.T) {
	tests := []struct {
		gib  units.Bytes
		want string
	}{
		{100, "100 GiB of it with 3,000 IOPS and 125 MiB/s holds 3,000 IOPS without credits and costs $9.12 a month in Asia Pacific (Seoul), $2.28 (20 %) less than the $11.40 of gp2."},
		// 200 × 0.0912 + 125 × 0.0456 = 23.94 against 22.80
		{200, "costs $23.94 a month in Asia Pacific (Seoul), $1.14 (5 %) more than the $22.80 of gp2. That keeps all that gp2 delivers for ever; where 3,000 IOPS and 125 MiB/s are enough, it costs $18.24."},
		{250, "costs $28.50 a month in Asia Pacific (Seoul), as much as gp2 at $28.50."},
		// 2,000 × 0.0912 + 3,000 × 0.0057 + 5.70 = 205.20
		{2000, "with 6,000 IOPS and 250 MiB/s needs no credits and costs $205.20 a month in Asia Pacific (Seoul), $22.80 (10 %) less than the $228.00 of gp2."},
	}
	for _, test := range tests {
		r := fixture(t)
		for i := range r.Run.Profile.Volumes {
			if v := &r.Run.Profile.Volumes[i]; v.Config.Type == ebs.GP2 {
				v.Config.Size = test.gib * units.GiB
			}
		}
		for format, text := range renderings(t, r) {
			if !strings.Contains(plainly(text), test.want) {
				t.Errorf("%d GiB: %s does not say %q", test.gib, format, test.want)
			}
		}
	}
}

// A check that fails, a warning that is more than a remark, a mixed phase and a latency of which only the mean is known.
func TestDoubts(t *testing.T) {
	r := fixture(t)
	r.Document.Checks[0].OK = false
	r.Document.Phases[2].Warnings = append(r.Document.Phases[2].Warnings, result.Warning{Code: "above-limit", Text: "4,000 IOPS is more than volume and instance allow."})
	mixed := &r.Document.Phases[4]
	mixed.Read = &analyze.Direction{IOPS: analyze.IOPS{Mean: 2100}, ThroughputMiBps: 8.2, Latency: &analyze.Latency{Mean: 10.6, P99: num(10.9)}}
	mixed.Latency = &analyze.Latency{Kind: "lat", Mean: 10.6, Max: 12}
	for format, text := range renderings(t, r) {
		text = plainly(text)
		for _, want := range []string{"4,000 IOPS is more than volume and instance allow.", "gp3 randread-qd32"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", format, want)
			}
		}
		if format != "terminal" && !strings.Contains(text, "2,100 IOPS, 8.2 MiB/s") {
			t.Errorf("%s does not show the reads of the mixed phase", format)
		}
	}
	page := plainly(html(t, r))
	for _, want := range []string{"1 of 10 checks fail", "1 kind of warning"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

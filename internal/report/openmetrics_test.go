package report_test

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ebscope/internal/report"
)

var (
	metadataLine = regexp.MustCompile(`^# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$`)
	sampleLine   = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)\{([^\n]*)\} (\S+)$`)
	labelPair    = regexp.MustCompile(`^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)`)
)

// checkOpenMetrics holds a text against the grammar of OpenMetrics 1.0 and the rules of its families, and returns the
// samples by name and labels.
func checkOpenMetrics(t *testing.T, text string) map[string]float64 {
	t.Helper()
	body, ended := strings.CutSuffix(text, "# EOF\n")
	if !ended || strings.Contains(body, "# EOF") {
		t.Fatal("the text does not end with # EOF, or holds it twice")
	}
	samples, done := map[string]float64{}, map[string]bool{}
	name, kind := "", ""
	for i, line := range strings.Split(strings.TrimSuffix(body, "\n"), "\n") {
		if m := metadataLine.FindStringSubmatch(line); m != nil {
			switch m[1] {
			case "TYPE":
				if done[m[2]] {
					t.Errorf("line %d: the family %s is not in one piece", i+1, m[2])
				}
				name, kind = m[2], m[3]
				done[name] = true
			case "UNIT":
				if m[2] != name || !strings.HasSuffix(name, "_"+m[3]) {
					t.Errorf("line %d: the unit %s is no suffix of %s", i+1, m[3], name)
				}
			case "HELP":
				if m[2] != name {
					t.Errorf("line %d: help for %s within %s", i+1, m[2], name)
				}
			}
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("line %d is no sample: %s", i+1, line)
		}
		suffix := map[string]string{"info": "_info", "gauge": "", "summary": ""}[kind]
		if m[1] != name+suffix {
			t.Errorf("line %d: %s is no sample of the %s %s", i+1, m[1], kind, name)
		}
		labels := checkLabels(t, m[2])
		value, err := strconv.ParseFloat(m[3], 64)
		if err != nil || kind == "info" && value != 1 {
			t.Errorf("line %d: the value %q", i+1, m[3])
		}
		if q, isQuantile := labels["quantile"]; (kind == "summary") != isQuantile {
			t.Errorf("line %d: a quantile %q in a %s", i+1, q, kind)
		}
		key := m[1] + "{" + m[2] + "}"
		if _, twice := samples[key]; twice {
			t.Errorf("line %d is there twice: %s", i+1, line)
		}
		samples[key] = value
	}
	return samples
}

func checkLabels(t *testing.T, text string) map[string]string {
	t.Helper()
	labels := map[string]string{}
	for text != "" {
		m := labelPair.FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("no label: %s", text)
		}
		if _, twice := labels[m[1]]; twice {
			t.Errorf("the label %s is there twice", m[1])
		}
		labels[m[1]] = m[2]
		text = text[len(m[0]):]
	}
	return labels
}

func TestOpenMetrics(t *testing.T) {
	nasty := fixture(t)
	nasty.Run.Command = "ebscope \"bench\"\n\\ # EOF"
	nasty.Document.Run.ID = "another"
	var text bytes.Buffer
	if err := report.OpenMetrics(&text, fixture(t), nasty, perIO(t)); err != nil {
		t.Fatal(err)
	}
	escaped := strings.ReplaceAll(text.String(), `\\ # EOF`, "")
	samples := checkOpenMetrics(t, escaped)
	const labels = `{run="20261130T211500Z-gp2-vs-gp3-emulated",target="emulated",compress="60",phase="randread-qd32",volume="gp2"`
	for key, want := range map[string]float64{
		"ebscope_iops" + labels + `,statistic="mean"}`:                         2298.7,
		"ebscope_latency_seconds" + labels + `,kind="lat",quantile="0.99"}`:    0.1067,             // 106.7 ms
		"ebscope_throughput_bytes_per_second" + labels + "}":                   8.98 * 1024 * 1024, // MiB/s
		"ebscope_fall_uncompressed_seconds" + labels + `,cause="gp2-credits"}`: 1998.9,
		"ebscope_fall_iops" + labels + `,cause="gp2-credits",side="after"}`:    300,
		"ebscope_credits" + labels + `,at="inferred_start"}`:                   89950,
	} {
		got, ok := samples[key]
		if !ok || got < want*0.9999999 || got > want*1.0000001 {
			t.Errorf("%s is %v, %v; want %v", key, got, ok, want)
		}
	}
}

// What a file does not state is no label: a block size of 0 would be a figure.
func TestOpenMetricsLeavesOutWhatIsUnknown(t *testing.T) {
	r := perIO(t)
	p := &r.Document.Phases[0]
	p.RW, p.BlockSize, p.QueueDepth, p.Jobs, p.Verdict = "", 0, 0, 0, ""
	var b bytes.Buffer
	if err := report.OpenMetrics(&b, r); err != nil {
		t.Fatal(err)
	}
	checkOpenMetrics(t, b.String())
	for _, label := range []string{"pattern=", "block_size=", "queue_depth=", "jobs=", "verdict="} {
		if strings.Contains(b.String(), label) {
			t.Errorf("%s stands in\n%s", label, b.String())
		}
	}
}

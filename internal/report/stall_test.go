package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/report"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// logged is what a log of IOPS by the second gives, held against a gp3 volume of 3,000 IOPS.
func logged(rate func(second int) float64) report.Report {
	r := result.Reading{Source: result.Source{File: "x_iops.1.log"}, Tool: "fio", Job: "job", Measurement: result.Measurement{Window: time.Second}}
	const seconds = 120
	for i := range seconds {
		r.IOPS = append(r.IOPS, result.Point{End: time.Duration(i+1) * time.Second, Value: rate(i)})
	}
	r.Total.Runtime = seconds * time.Second
	volume := ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB, IOPS: 3000, Throughput: 125 * units.MiBPerSecond}
	all := []result.Reading{r}
	return report.Report{Catalog: ebs.Embedded(), Readings: all, Document: analyze.Readings(ebs.Embedded(), all, nil, analyze.Given{Volume: &volume})}
}

// dips is 3,000 IOPS with 20 s of nothing and a second at 100.
func dips(second int) float64 {
	switch {
	case second >= 30 && second < 50:
		return 0
	case second == 80:
		return 100
	default:
		return 3000
	}
}

func TestStallsAreShown(t *testing.T) {
	r := logged(dips)
	oneDip := logged(func(second int) float64 { return dips(max(50, second)) })
	for name, tt := range map[string]struct {
		r      report.Report
		render func(*bytes.Buffer, report.Report) error
		want   []string
	}{
		"terminal":      {r, terminal, []string{"a stall to 0 IOPS from 30 s to 50 s", "More provisioned performance does not prevent them."}},
		"Markdown":      {r, markdown, []string{"| Stalled | 2 times, for 21 s in all: 30 s to 50 s at 0 IOPS, 1 min 20 s to 1 min 21 s at 100 IOPS |", "does not prevent them"}},
		"page":          {r, page, []string{`"stalls":[{"from":30,"to":50},{"from":80,"to":81}]`, "2 times, for 21", "does not prevent them", "</span> stalled</span>"}},
		"one, terminal": {oneDip, terminal, []string{"No lasting fall, but IOPS stalled once, for 1 s: 1 min 20 s to 1 min 21 s at 100 IOPS."}},
		"picture":       {r, picture, []string{">stalled</text>"}},
	} {
		check(t, name, tt.r, tt.render, tt.want)
	}
}

func TestRatesAboveTheLimitAreShown(t *testing.T) {
	r := logged(func(int) float64 { return 9000 })
	for name, tt := range map[string]struct {
		render func(*bytes.Buffer, report.Report) error
		want   []string
	}{
		"terminal": {terminal, []string{"9,000 IOPS is more than the 3,000 IOPS that a gp3 volume of 100 GiB can do", "Check which volume"}},
		"Markdown": {markdown, []string{"| Above | the 3,000 IOPS that volume and instance allow |", "Check which volume"}},
		"page":     {page, []string{`"bounds":[3000]`, "the most that volume and instance allow", "It is above the 3,000 IOPS"}},
		"picture":  {picture, []string{">the most that volume and instance allow</text>"}},
	} {
		check(t, name, r, tt.render, tt.want)
	}
	within := logged(func(int) float64 { return 3000 })
	for name, render := range map[string]func(*bytes.Buffer, report.Report) error{"Markdown": markdown, "page": page, "picture": picture} {
		var b bytes.Buffer
		if err := render(&b, within); err != nil {
			t.Fatal(err)
		}
		for _, wrong := range []string{`"bounds"`, `"stalls":`, "| Above", "| Stalled", ">stalled<"} {
			if strings.Contains(b.String(), wrong) {
				t.Errorf("%s of a level within its limit has %s", name, wrong)
			}
		}
	}
}

// A name may be as long as it likes, and no line is wider than the terminal.
func TestLongNames(t *testing.T) {
	r := logged(dips)
	r.Readings[0].Job, r.Document.Phases[0].Name = strings.Repeat("J", 500), strings.Repeat("J", 500)
	var b bytes.Buffer
	if err := terminal(&b, r); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func check(t *testing.T, name string, r report.Report, render func(*bytes.Buffer, report.Report) error, want []string) {
	t.Helper()
	var b bytes.Buffer
	if err := render(&b, r); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(strings.Join(strings.Fields(b.String()), " "), "\u00a0", " ")
	for _, part := range want {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q:\n%.3000s", name, part, text)
		}
	}
}

func terminal(b *bytes.Buffer, r report.Report) error { return report.Terminal(b, r, 80, false) }
func markdown(b *bytes.Buffer, r report.Report) error { return report.Markdown(b, r) }
func page(b *bytes.Buffer, r report.Report) error     { return report.HTML(b, r) }
func picture(b *bytes.Buffer, r report.Report) error  { return r.Pictures()[0].SVG(b) }

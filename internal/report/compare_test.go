package report

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"ebscope/internal/compare"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// compared is gp3 at 3,000 IOPS beside gp2 at 300, with a name that no page must take for markup.
func compared(t *testing.T) (compare.Document, []compare.Subject) {
	t.Helper()
	subject := func(name, volume string, iops float64) compare.Subject {
		r := compare.Run{}
		for i := range 60 {
			r.IOPS = append(r.IOPS, result.Point{End: time.Duration(i+1) * time.Second, Value: iops})
		}
		r.Total = result.Direction{IOs: int64(60 * iops), Bytes: units.Bytes(60*iops) * 4 * units.KiB, IOPS: units.IOPS(iops)}
		return compare.Subject{Name: name, Phases: []compare.Phase{{Name: "randread", Volume: volume, Facts: []compare.Fact{{Name: "volume", Value: volume}},
			Workload: compare.Workload{Pattern: "randread", BlockSize: 4 * units.KiB, QueueDepth: 32, Jobs: 1}, Runs: []compare.Run{r}}}}
	}
	subjects := []compare.Subject{subject("<script>alert(1)</script>", "gp3", 3000), subject("b|\x1b[31m", "gp2", 300)}
	thresholds, err := compare.ParseThresholds("iops<-5%,p99>+10%")
	if err != nil {
		t.Fatal(err)
	}
	return compare.Compare(subjects[0], subjects[1:], thresholds), subjects
}

func TestComparison(t *testing.T) {
	d, _ := compared(t)
	var b bytes.Buffer
	if err := Comparison(&b, d, 80, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"volume: A gp3, B gp2 (randread)", "randread (gp2 against gp3)", "3,000", "−90.0 % (−90.0 to −90.0)", "<0.001",
		"Regression: IOPS of randread (gp2 against gp3) changed by −90.0 %", "p99>+10%", "moving-block",
		"Proved worse: 1 of 1 figures",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Error("a name steers the terminal")
	}
	for line := range strings.Lines(b.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if different, figures := strings.Index(b.String(), "What differs"), strings.Index(b.String(), "3,000"); different > figures {
		t.Error("figures stand before what differs")
	}
}

func TestComparisonFormats(t *testing.T) {
	d, subjects := compared(t)
	var markdown, table, page bytes.Buffer
	if err := ComparisonMarkdown(&markdown, d); err != nil {
		t.Fatal(err)
	}
	if want := "| IOPS | 3,000 | 300 | −90.0 % (−90.0 to −90.0) | <0.001 |"; !strings.Contains(markdown.String(), want) || strings.Contains(markdown.String(), "<script") {
		t.Errorf("no %q, or markup, in\n%s", want, markdown.String())
	}
	if err := ComparisonCSV(&table, d); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&table).ReadAll()
	if err != nil || len(rows) != 1+len(d.Rows) || rows[1][5] != "iops" || rows[1][11] != "0.1" {
		t.Errorf("%v: %q", err, rows)
	}
	if err := ComparisonHTML(&page, d, subjects, "ebscope test"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<div class="chart" id="rate-0"`, "−90.0 %", "A gp3", "B gp2"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q on the page", want)
		}
	}
	if strings.Contains(page.String(), "<script>alert") {
		t.Error("a name is markup on the page")
	}
}

func TestComparisonOfNothing(t *testing.T) {
	d := compare.Compare(compare.Subject{Name: "a"}, []compare.Subject{{Name: "b"}}, nil)
	var b bytes.Buffer
	if err := Comparison(&b, d, 80, true); err != nil || !strings.Contains(b.String(), "Nothing can be compared") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// A difference names its volume, and a phase once.
func TestDifferencesNameVolumes(t *testing.T) {
	d := compare.Document{Subjects: []compare.Side{{Name: "a"}, {Name: "b"}}}
	for _, x := range [][2]string{{"gp2", "x"}, {"gp3", "x"}, {"", "y"}, {"", "y"}} {
		d.Differences = append(d.Differences, compare.Difference{Volume: x[0], Phase: x[1], Subject: "b", Option: "iodepth", A: "not stated", B: "4"})
	}
	want := "iodepth: A not stated, B 4 (gp2 x, gp3 x, y)"
	if got := (comparisonView{d}).differences(); len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSubjectLetter(t *testing.T) {
	for i, want := range map[int]string{0: "A", 25: "Z", 26: "AA", 27: "AB"} {
		if got := subjectLetter(i); got != want {
			t.Errorf("subject %d is %s, want %s", i, got, want)
		}
	}
}

// Every format says of each subject what was driven, and how many times it was compressed.
func TestComparisonLabels(t *testing.T) {
	d, subjects := compared(t)
	d.Subjects[0].Target, d.Subjects[0].Compress = "emulated", 60
	d.Subjects[1].Target, d.Subjects[1].Compress = "simulated", 1
	for name, tt := range map[string]struct {
		draw func(*bytes.Buffer) error
		want []string
	}{
		"text":     {func(b *bytes.Buffer) error { return Comparison(b, d, 100, false) }, []string{"(emulated · compressed 60×)", "(simulated)"}},
		"markdown": {func(b *bytes.Buffer) error { return ComparisonMarkdown(b, d) }, []string{"(emulated · compressed 60×)", "(simulated)"}},
		"html": {func(b *bytes.Buffer) error { return ComparisonHTML(b, d, subjects, "ebscope test") },
			[]string{`<span class="badge">emulated · compressed 60×</span>`, `<span class="badge">simulated</span>`}},
		"csv": {func(b *bytes.Buffer) error { return ComparisonCSV(b, d) }, []string{"method,a_target,a_compress,b_target,b_compress", "emulated,60,simulated,1"}},
	} {
		var b bytes.Buffer
		if err := tt.draw(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range tt.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: no %q in\n%.2000s", name, want, b.String())
			}
		}
	}
}

// The interval of a ratio is not symmetric: both of its bounds stand there, and agree with what is proved.
func TestIntervalOfAChange(t *testing.T) {
	row := func(ratio, low, high float64) compare.Row {
		return compare.Row{Significant: true, Ratio: &ratio, RatioLow: &low, RatioHigh: &high}
	}
	for want, r := range map[string]compare.Row{
		"+79.6 % (+31.2 to +196.0)": row(1.796, 1.312, 2.96), // ± 116.4 would reach down to −36.8
		"−10.0 % (−10.4 to −9.5)":   row(0.9, 0.896, 0.905),
		"~":                         {Ratio: new(float64)},
	} {
		if got := changeOf(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

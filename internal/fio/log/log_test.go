package log

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/fio"
)

func mustRead(t *testing.T, name, text string, o Options) *Log {
	t.Helper()
	l, err := ReadLog(name, strings.NewReader(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestParseName(t *testing.T) {
	for name, want := range map[string]Name{
		"fio_bw.log":                 {Prefix: "fio", Kind: Bandwidth},
		"fio_bw.1.log":               {Prefix: "fio", Kind: Bandwidth, Job: 1},
		"x_iops_iops.2.log":          {Prefix: "x_iops", Kind: IOPS, Job: 2},
		"a/b_lat_clat.12.log":        {Prefix: "a/b_lat", Kind: Completion, Job: 12},
		"p_slat.3.log":               {Prefix: "p", Kind: Submission, Job: 3},
		"p_lat.log":                  {Prefix: "p", Kind: Total},
		"p.49_clat_hist.1.log":       {Prefix: "p.49", Kind: Histogram, Job: 1},
		"p_hist.1.log":               {Prefix: "p", Kind: Histogram, Job: 1},
		"p_bw.1.log.perf84.lab.corp": {Prefix: "p", Kind: Bandwidth, Job: 1, Host: "perf84.lab.corp"},
	} {
		if got, ok := ParseName(name); !ok || got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	for _, name := range []string{"fio.json", "bw.log", "fio_bw.txt", "kern.log", ""} {
		if got, ok := ParseName(name); ok {
			t.Errorf("%s: %+v, want none", name, got)
		}
	}
}

func TestLooks(t *testing.T) {
	for _, c := range []struct {
		name, head string
		want       bool
	}{
		{"x_bw.1.log", "1000, 5, 0, 0\n", true},
		{"dump.txt", "1000, 5, 0, 4096, 0\n1001, 5, 0, 4096, 0\n100", true},
		{"two.csv", "1, 2\n3, 4\n", false}, // could be anything
		{"x_lat.log", "1, 2\n3, 4\n", true},
		{"prices.csv", "2024, 99, 17, 3\n2025, 99, 18, 3\n", false}, // 17 is no direction
		{"x_iops.1.log", "{\"fio version\": 1}\n", false},
		{"x_iops.1.log", "", false},
		{"x_clat_hist.1.log", "1000, 0, 4096, " + strings.Repeat("0, ", 500), true}, // the head of a long line
		{"dump", "1000, 0, 4096" + strings.Repeat(", 0", 1856) + "\n", true},
		{"dump", "a, b, c, d\n", false},
	} {
		if got := Looks(c.name, []byte(c.head)); got != c.want {
			t.Errorf("%s %.30q: %v, want %v", c.name, c.head, got, c.want)
		}
	}
}

// form is what is decided about a log.
type form struct {
	Kind            Kind
	Columns         int
	PerIO           bool
	Window, Unit    time.Duration
	Lines, Skipped  int64
	Directions      string
	Notes           int
	First, Duration time.Duration // ends of the first cell and of the last
}

func formOf(l *Log) form {
	f := form{Kind: l.Kind, Columns: l.Columns, PerIO: l.PerIO, Window: l.Window, Unit: l.Unit, Lines: l.Lines, Skipped: l.Skipped, Notes: len(l.Notes)}
	for _, t := range l.Tracks {
		f.Directions += fmt.Sprint(int(t.Direction))
		if f.First == 0 || t.Cells[0].End < f.First {
			f.First = t.Cells[0].End
		}
		f.Duration = max(f.Duration, t.Cells[len(t.Cells)-1].End)
	}
	return f
}

func TestForm(t *testing.T) {
	const ms, us, ns = time.Millisecond, time.Microsecond, time.Nanosecond
	old, recent := &fio.Version{Major: 2, Minor: 17}, &fio.Version{Major: 3, Minor: 33}
	backToBack := func(unit int) (text string) {
		at := 0
		for i := range 30 {
			at += 30 + i%7
			text += fmt.Sprintf("%d, %d, 0, 4096\n", at, (30+i%7)*unit)
		}
		return text
	}
	for _, c := range []struct {
		what, name, text string
		options          Options
		want             form
	}{
		{
			"averaged, four columns", "a_iops.1.log", "1000, 300, 0, 0\n2001, 290, 0, 0\n3000, 310, 0, 0\n", Options{},
			form{IOPS, 4, false, 1000 * ms, 0, 3, 0, "0", 0, 1000 * ms, 3000 * ms},
		},
		{
			"single I/Os have a block size", "a_bw.1.log", "5, 300, 0, 4096, 0\n1005, 290, 1, 4096, 0\n", Options{},
			form{Bandwidth, 5, true, 0, 0, 2, 0, "01", 0, 6 * ms, 1006 * ms},
		},
		{
			"rates other than 1 are averages, whatever the block size", "a_iops.1.log", "1000, 300, 0, 4096, 0\n2000, 290, 0, 4096, 0\n", Options{},
			form{IOPS, 5, false, 1000 * ms, 0, 2, 0, "0", 0, 1000 * ms, 2000 * ms},
		},
		{
			"a rate of 1 tells the kind", "a.txt", "64, 1, 0, 131072, 0\n65, 1, 0, 131072, 0\n", Options{},
			form{IOPS, 5, true, 0, 0, 2, 0, "0", 0, 65 * ms, 66 * ms},
		},
		{
			"nothing tells the kind, but each line is an I/O", "a.txt", "1000, 17, 0, 4096\n2000, 18, 0, 4096\n", Options{},
			form{"", 4, true, 0, 0, 2, 0, "0", 1, 1001 * ms, 2001 * ms},
		},
		{
			"three columns, irregular and dense: single I/Os", "a_bw.log", "1, 3, 0\n1, 3, 0\n2, 3, 1\n2, 3, 0\n7, 3, 0\n7, 3, 0\n", Options{},
			form{Bandwidth, 3, true, 0, 0, 6, 0, "01", 0, 2 * ms, 8 * ms},
		},
		{
			"two columns have no direction", "a_bw.log", "500, 3\n1000, 4\n1500, 5\n2000, 5\n", Options{},
			form{Bandwidth, 2, false, 500 * ms, 0, 4, 0, "4", 1, 500 * ms, 2000 * ms},
		},
		{
			"average and maximum (log_window_value=both)", "a_lat.1.log", "1000, 300000, 900000, 0, 0, 0\n2000, 290000, 800000, 1, 0, 0\n", Options{},
			form{Total, 6, false, 0, ns, 2, 0, "01", 0, 1000 * ms, 2000 * ms},
		},
		{
			"offset, hexadecimal priority and time of issue", "a_clat.1.log", "1, 300000, 0, 4096, 8192, 0x0001, 77\n2, 300000, 0, 4096, 8192, 0x4004, 78\n", Options{},
			form{Completion, 7, true, 0, ns, 2, 0, "0", 0, 2 * ms, 3 * ms},
		},
		{
			"no line end, CRLF, empty lines, no spaces", "a_iops.1.log", "\r\n1000,300,0,0\r\n\r\n2000,\t290,0,0\r\n3000, 310, 0, 0", Options{},
			form{IOPS, 4, false, 1000 * ms, 0, 3, 0, "0", 0, 1000 * ms, 3000 * ms},
		},
		{
			"units that people write", "a_bw.1.log", "1s, 1.5MiB/s, 0, 0\n2000ms, 1536KiB/s, 0, 0\n", Options{},
			form{Bandwidth, 4, false, 1000 * ms, 0, 2, 0, "0", 0, 1000 * ms, 2000 * ms},
		},
		{
			"a latency's own unit", "a_lat.1.log", "1000, 1.5ms, 0, 0\n2000, 1500us, 0, 0\n", Options{Version: old},
			form{Total, 4, false, 1000 * ms, ns, 2, 0, "0", 0, 1000 * ms, 2000 * ms},
		},
		{
			"ms since 1970: the first window begins at zero", "a_iops.1.log", "1700000001000, 300, 0, 0\n1700000002000, 300, 0, 0\n", Options{},
			form{IOPS, 4, false, 1000 * ms, 0, 2, 0, "0", 0, 1000 * ms, 2000 * ms},
		},
		{
			"ns since 1970", "a_bw.1.log", "1700000001000000000, 300, 0, 4096\n1700000001250000000, 300, 0, 4096\n", Options{},
			form{Bandwidth, 4, true, 0, 0, 2, 0, "0", 0, 1 * ms, 251 * ms},
		},
		{
			"another clock: two days after its start", "a_iops.1.log", "172800500, 300, 0, 0\n172801000, 300, 0, 0\n", Options{},
			form{IOPS, 4, false, 500 * ms, 0, 2, 0, "0", 1, 500 * ms, 1000 * ms},
		},
		{
			"µs by version", "a_clat.log", "250, 1248, 1, 0\n500, 1310, 1, 0\n750, 1349, 1, 0\n", Options{Version: old},
			form{Completion, 4, false, 250 * ms, us, 3, 0, "1", 0, 250 * ms, 750 * ms},
		},
		{
			"ns by version", "a_clat.log", "250, 1248, 1, 0\n500, 1310, 1, 0\n750, 1349, 1, 0\n", Options{Version: recent},
			form{Completion, 4, false, 250 * ms, ns, 3, 0, "1", 0, 250 * ms, 750 * ms},
		},
		{
			"a unit that nothing tells", "a_clat.log", "250, 1248, 1, 0\n500, 1310, 1, 0\n750, 1349, 1, 0\n", Options{},
			form{Completion, 4, false, 250 * ms, 0, 3, 0, "1", 1, 250 * ms, 750 * ms},
		},
		{
			"ns, for in µs the I/O of 2 s would have begun before the job", "a_clat.log", "900, 2000000, 1, 4096\n950, 1310, 1, 4096\n", Options{},
			form{Completion, 4, true, 0, ns, 2, 0, "1", 0, 901 * ms, 951 * ms},
		},
		{
			"ms and µs or µs and ns, for one I/O follows the other at a thousandth of that distance", "a_clat.log", backToBack(1000), Options{},
			// 30 I/Os: 4 × (30+…+36) + 30 + 31 = 985 ms.
			form{Completion, 4, true, 0, 0, 30, 0, "0", 1, 31 * ms, 986 * ms},
		},
		{
			"ms and µs by version", "a_clat.log", backToBack(1000), Options{Version: old},
			form{Completion, 4, true, 0, us, 30, 0, "0", 0, 31 * ms, 986 * ms},
		},
		{
			"µs and ns by version: all is within the first ms", "a_clat.log", backToBack(1000), Options{Version: recent},
			form{Completion, 4, true, 0, ns, 30, 0, "0", 1, 1 * ms, 1 * ms},
		},
		{
			"µs that were given", "a_clat.log", "250, 1248, 1, 0\n500, 1310, 1, 0\n750, 1349, 1, 0\n", Options{Unit: us},
			form{Completion, 4, false, 250 * ms, us, 3, 0, "1", 0, 250 * ms, 750 * ms},
		},
		{
			"ns that were given, and so times in µs", "a_clat.log", backToBack(1000), Options{Unit: ns},
			form{Completion, 4, true, 0, ns, 30, 0, "0", 1, 1 * ms, 1 * ms},
		},
		{
			"µs were given, the lines show ns", "a_clat.log", "900, 2000000, 1, 4096\n950, 1310, 1, 4096\n", Options{Unit: us},
			form{Completion, 4, true, 0, ns, 2, 0, "1", 0, 901 * ms, 951 * ms},
		},
		{
			"ns, for one I/O follows the other at that distance", "a_clat.log", backToBack(1000000), Options{},
			form{Completion, 4, true, 0, ns, 30, 0, "0", 0, 31 * ms, 986 * ms},
		},
	} {
		t.Run(c.what, func(t *testing.T) {
			l := mustRead(t, c.name, c.text, c.options)
			if diff := cmp.Diff(c.want, formOf(l)); diff != "" {
				t.Errorf("-want +got:\n%s\n%v", diff, l.Notes)
			}
		})
	}
}

func TestEpoch(t *testing.T) {
	l := mustRead(t, "a_iops.1.log", "1700000001000, 300, 0, 0\n1700000002000, 300, 0, 0\n", Options{})
	if want := time.Unix(1_700_000_000, 0); !l.Epoch.Equal(want) {
		t.Errorf("%v, want %v", l.Epoch, want)
	}
}

// Two jobs in one file: the lines of one follow those of the other.
func TestJobsInOneFile(t *testing.T) {
	l := mustRead(t, "a_iops.log", "1000, 10, 0, 0\n1001, 20, 1, 0\n2000, 11, 0, 0\n2000, 21, 1, 0\n"+
		"999, 12, 0, 0\n1000, 22, 1, 0\n2000, 13, 0, 0\n", Options{})
	var got []string
	for _, track := range l.Tracks {
		text := track.Direction.String()
		for _, c := range track.Cells {
			text += fmt.Sprintf(" %v:%v", c.End, c.Mean())
		}
		got = append(got, text)
	}
	want := []string{"reads 1s:10 2s:11", "reads 999ms:12 2s:13", "writes 1.001s:20 2s:21", "writes 1s:22"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestBadLines(t *testing.T) {
	const good = "1000, 300, 0, 0\n2000, 301, 0, 0\n"
	for _, c := range []struct{ what, bad, note string }{
		{"no number", "3000, nan, 0, 0\n", "value is no number"},
		{"infinite", "3000, inf, 0, 0\n", "value is no number"},
		{"negative time", "-3000, 3, 0, 0\n", "time is negative"},
		{"negative value", "3000, -3, 0, 0\n", "value is negative"},
		{"direction", "3000, 3, 7, 0\n", "direction 7"},
		{"cut off", "3000, 3", "number of columns"},
		{"binary", "\x00\x01\xff\xfe\n", "time is no number"},
		{"words", "fio: killed by signal 9\n", "time is no number"},
		{"too long a number", "3000, 99999999999999999999999, 0, 0\n", "out of range"},
		{"a time of years", "99999999999999, 3, 0, 0\n", "out of range"},
		{"too large a value", "3000, 99999999999999, 0, 0\n", "out of range"},
		{"a unit of another kind", "3000, 3ms, 0, 0\n", `unit "ms"`},
		{"many columns", "3000, 3, 0, 0, 0, 0, 0, 0, 0\n", "more than 8 columns"},
		{"a long line", strings.Repeat("x", 3<<20) + "\n", "time is no number"},
		{"a long line without end", strings.Repeat("1, ", 1<<20), "skipped"},
	} {
		t.Run(c.what, func(t *testing.T) {
			l := mustRead(t, "dir/a_iops.1.log", good+c.bad, Options{})
			if l.Lines != 2 || l.Skipped != 1 || len(l.Notes) != 1 {
				t.Fatalf("%d lines, %d skipped, %v; want 2, 1 and a note", l.Lines, l.Skipped, l.Notes)
			}
			n := l.Notes[0]
			if n.File != "dir/a_iops.1.log" || n.Line != 3 || !n.Skipped || !strings.Contains(n.Text, c.note) {
				t.Errorf("%+v, want line 3 and %q", n, c.note)
			}
		})
	}
	t.Run("before the good ones", func(t *testing.T) {
		l := mustRead(t, "a_iops.1.log", strings.Repeat("x", 3<<20)+"\n"+good, Options{})
		if l.Lines != 2 || l.Skipped != 1 || l.Notes[0].Line != 1 {
			t.Errorf("%d lines, %d skipped, %v", l.Lines, l.Skipped, l.Notes)
		}
	})
	t.Run("very many", func(t *testing.T) {
		l := mustRead(t, "a_iops.1.log", good+strings.Repeat("bad\n", 1000), Options{})
		// 24 lines are named; the last note counts the other 976.
		if last := l.Notes[len(l.Notes)-1]; l.Skipped != 1000 || len(l.Notes) != 25 || !strings.HasPrefix(last.Text, "976 ") {
			t.Errorf("%d skipped, %d notes, %v", l.Skipped, len(l.Notes), last)
		}
	})
	t.Run("mixed units", func(t *testing.T) {
		l := mustRead(t, "a_lat.1.log", "1000, 3ms, 0, 0\n2000, 4ms, 0, 0\n3000, 5, 0, 0\n", Options{})
		if l.Lines != 2 || l.Skipped != 1 || l.Tracks[0].Max != 4e6 {
			t.Errorf("%d lines, %d skipped, max %v", l.Lines, l.Skipped, l.Tracks[0].Max)
		}
	})
}

func TestUnusable(t *testing.T) {
	for name, text := range map[string]string{
		"empty_lat.1.log": "", "words_lat.1.log": "no log at all\n", "binary_lat.log": strings.Repeat("\x00\xff", 1000),
		"json_clat_hist.1.log": "{}\n", "short_clat_hist.1.log": "1000, 0, 4096, 1, 2\n",
	} {
		_, err := ReadLog(name, strings.NewReader(text), Options{})
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), `"1000, 3000, 0, 4096"`) {
			t.Errorf("%s: %v, want what was expected", name, err)
		}
	}
}

// Means of windows tell nothing where neither the name nor the lines say of what.
func TestMeansOfAnUnknownKind(t *testing.T) {
	_, err := ReadLog("plain.txt", strings.NewReader("1000, 17, 0, 0\n2000, 18, 0, 0\n2000, 18, 0, 0\n"), Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "plain.txt: ") || !strings.Contains(err.Error(), "…_iops.1.log, …_bw.1.log or …_lat.1.log") {
		t.Errorf("%v, want what a name must tell", err)
	}
	if l := mustRead(t, "plain.txt", "1000, 17, 0, 0\n2000, 18, 0, 0\n", Options{Kind: Total}); l.Lines != 2 {
		t.Errorf("%d lines of a kind that was given, want 2", l.Lines)
	}
}

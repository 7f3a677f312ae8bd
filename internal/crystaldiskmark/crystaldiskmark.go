// Package crystaldiskmark reads the text reports that CrystalDiskMark saves, of versions 3 to 8.
package crystaldiskmark

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"ebscope/internal/lazy"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// maxReport bounds what is read. A report has less than 3 KiB; people paste many into one file.
const maxReport = 16 << 20

var (
	title = lazy.Regexp(`^\s*(CrystalDiskMark \d+(?:\.\d+)*\w*)`)
	// section heads the tests of one kind, from version 7 on: "[Read]", "[Mix] Read 70%/Write 30%".
	section = lazy.Regexp(`^\s*\[(Read|Write|Mix)\](?:\s+Read\s+(\d+)%)?`)
	// test is a line such as
	//	SEQ    1MiB (Q=  8, T= 1):   126.012 MB/s [    120.2 IOPS] < 66338.80 us>
	//	Random Read 4KiB (Q= 32,T=16) :   380.200 MB/s [ 92822.3 IOPS]
	//	Random Read 4KB (QD=32) :   380.200 MB/s [ 92822.3 IOPS]
	//	Sequential Read :   512.345 MB/s
	test = lazy.Regexp(`^\s*(SEQ|RND|Sequential|Random)\s*(Read|Write|Mix)?\s*(\d+)?\s*(KiB|MiB|KB|MB)?\s*` +
		`(?:\((?:QD?=\s*(\d+))?\s*,?\s*(?:T=\s*(\d+))?\))?\s*(Read|Write|Mix)?\s*:\s*(-?\d+(?:[.,]\d+)?)\s*MB/s` +
		`(?:\s*\[\s*(\d+(?:[.,]\d+)?)\s*IOPS\])?(?:\s*<\s*(\d+(?:[.,]\d+)?)\s*[uµμ]s>)?`)
	// looksTest is a line that can only be the result of a test.
	looksTest = lazy.Regexp(`^\s*(?:SEQ|RND|Sequential|Random)\b.*:`)
	// about is a line that says how it was measured: "Test: 1 GiB (x5) [C: 52%]".
	about    = lazy.Regexp(`^\s*(Profile|Test|Mode|Time|Date|OS|Comment)\s*:\s*(.*\S)`)
	testSize = lazy.Regexp(`^(\d+) ?(MiB|GiB)\b`)
	measured = lazy.Regexp(`^Measure (\d+) sec`)
)

// Looks says whether a file that begins so looks like a report.
func Looks(head []byte) bool {
	text, _, err := transform.Bytes(decoder(), head)
	if err != nil {
		text = head // cut in the middle of a character
	}
	for line := range strings.Lines(string(text)) {
		if title().MatchString(line) {
			return true
		}
	}
	return false
}

// decoder reads UTF-8, and UTF-16 where a byte order mark says so, as Windows writes it.
func decoder() transform.Transformer { return unicode.BOMOverride(encoding.Nop.NewDecoder()) }

// Read reads every report in a text, and gives a reading for each test that was run. Notes name those that were not.
// The name is that of the file, for readings, notes and errors. A report states MB/s of 1,000,000 bytes, means of latency
// from version 7 on, and no counts of I/Os: these stay unknown, as do block sizes of sequential tests before version 7.
func Read(name string, r io.Reader) ([]result.Reading, []result.Note, error) {
	text, err := io.ReadAll(io.LimitReader(transform.NewReader(r, decoder()), maxReport+1))
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(text) > maxReport {
		return nil, nil, fmt.Errorf("%s is larger than %d MiB, too large for reports of CrystalDiskMark", name, maxReport>>20)
	}
	var p parser
	p.at.File = name
	for line := range strings.Lines(strings.ToValidUTF8(string(text), "\uFFFD")) {
		p.at.Line++
		p.line(strings.TrimRight(line, "\r\n"))
	}
	p.end()
	if len(p.readings) == 0 {
		return nil, p.notes, fmt.Errorf("%s holds no results of CrystalDiskMark; expected a saved report, with lines such as "+
			`"SEQ 1MiB (Q= 8, T= 1): 126.012 MB/s"`, name)
	}
	return p.readings, p.notes, nil
}

// parser goes through reports line by line.
type parser struct {
	readings []result.Reading
	notes    []result.Note
	at       result.Source // the line that is read

	last    result.Source // the last line of the present report that says something
	first   int           // reading of the present report
	begun   bool          // its results have
	tool    string
	kind    string // of the section: Read, Write or Mix
	reads   *int   // percent of a mix
	options map[string]string
}

func (p *parser) line(text string) {
	if m := title().FindStringSubmatch(text); m != nil {
		p.end()
		p.at.Document++
		p.tool = m[1]
		return
	}
	if p.tool == "" {
		return
	}
	if strings.Trim(text, " -") != "" { // which frames the next title
		p.last = p.at
	}
	if m := section().FindStringSubmatch(text); m != nil {
		p.kind, p.reads, p.begun = m[1], nil, true
		if percent, err := strconv.Atoi(m[2]); err == nil && percent <= 100 {
			p.reads = &percent
		}
		return
	}
	if m := test().FindStringSubmatch(text); m != nil {
		p.begun = true
		if rest := strings.TrimSpace(text[len(m[0]):]); rest != "" {
			p.skip(p.at, "skipped: %.80q at the end of the line is no whole figure: was the report cut off there? What is before it is read", rest)
		}
		p.test(text, m)
		return
	}
	if looksTest().MatchString(text) {
		p.begun = true
		p.skip(p.at, "skipped: %.80q is no result such as "+`"SEQ 1MiB (Q= 8, T= 1): 126.012 MB/s [120.2 IOPS]"`, strings.TrimSpace(text))
		return
	}
	if m := about().FindStringSubmatch(text); m != nil {
		if p.options == nil {
			p.options = map[string]string{}
		}
		p.options[strings.ToLower(m[1])] = m[2]
	}
}

// skip notes that something is not read.
func (p *parser) skip(at result.Source, format string, args ...any) {
	p.notes = append(p.notes, result.Note{Source: at, Skipped: true, Text: fmt.Sprintf(format, args...)})
}

// end gives all readings of a report what the report says at its end. Every version ends it with the system, but for a
// comment.
func (p *parser) end() {
	if p.begun && p.options["os"] == "" {
		p.skip(p.last, "the report is cut off after this line, before its last lines (Test, Date, OS): tests may be missing, what is there is read")
	}
	var size units.Bytes
	if m := testSize().FindStringSubmatch(p.options["test"]); m != nil {
		size = amount(m[1], m[2])
	}
	var duration time.Duration
	if m := measured().FindStringSubmatch(p.options["time"]); m != nil {
		seconds, _ := strconv.Atoi(m[1])
		duration = min(time.Duration(seconds), 1<<31) * time.Second
	}
	for i := range p.readings[p.first:] {
		w := &p.readings[p.first+i].Workload
		w.Size, w.Duration, w.Options = size, duration, p.options
	}
	p.first, p.begun, p.tool, p.kind, p.reads, p.options = len(p.readings), false, "", "", nil, nil
}

// test reads the result of one test.
func (p *parser) test(text string, m []string) {
	job, _, _ := strings.Cut(text, ":")
	job = strings.Join(strings.Fields(job), " ")
	kind := m[2] + m[7]
	if kind == "" {
		kind = p.kind
		job += " " + kind
	}
	rate, err := decimal(m[8])
	if err != nil || rate <= 0 || kind == "" {
		why := "the test was not run"
		if kind == "" {
			why = "no section above says whether it reads or writes"
		}
		p.notes = append(p.notes, result.Note{Source: p.at, Text: fmt.Sprintf("%s: %s", job, why), Skipped: kind == ""})
		return
	}
	iops, _ := decimal(m[9])
	latency, _ := decimal(m[10])
	r := result.Reading{
		Source: p.at, Tool: p.tool, Job: job,
		Workload: result.Stated{Pattern: pattern(m[1], kind), BlockSize: amount(m[3], m[4]), QueueDepth: number(m[5]), Jobs: number(m[6])},
		Measurement: result.Measurement{Source: p.tool, Total: result.Direction{
			IOPS: units.IOPS(iops), Throughput: units.Throughput(rate) * units.MBPerSecond,
		}},
	}
	if kind == "Mix" {
		r.Workload.ReadPercent = p.reads
	}
	if latency > 0 && latency < 1e12 {
		r.Total.Latency = result.Latency{Kind: "lat", Mean: time.Duration(latency * float64(time.Microsecond))}
	}
	contradiction(&r)
	p.readings = append(p.readings, r)
}

// decimal reads a number, which has a comma where the system's language has one.
func decimal(text string) (float64, error) {
	return strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
}

// contradiction warns where IOPS and block size do not make the MB/s, beyond a tenth and what rounding may be.
func contradiction(r *result.Reading) {
	const share, rounding = 0.1, 0.05 // of an I/O
	size, stated := float64(r.Workload.BlockSize), float64(r.Total.Throughput)
	computed := float64(r.Total.IOPS) * size
	if computed == 0 || math.Abs(computed-stated) <= share*stated+rounding*size {
		return
	}
	r.Warnings = append(r.Warnings, result.Warning{Code: "bandwidth-contradicts", Text: fmt.Sprintf(
		"it states %.3f MB/s, but its IOPS and block size make %.3f MB/s; one of them is wrong", stated/1e6, computed/1e6)})
}

// pattern is the name that fio has for the kind of I/O.
func pattern(order, kind string) string {
	name := map[string]string{"Read": "read", "Write": "write", "Mix": "rw"}[kind]
	if order == "RND" || order == "Random" {
		return "rand" + name
	}
	return name
}

// amount is a block or test size. All are binary: the 4KB of version 3 is 4,096 bytes too, by its MB/s and IOPS.
func amount(digits, unit string) units.Bytes {
	n := units.Bytes(number(digits))
	switch unit {
	case "KB", "KiB":
		return n * units.KiB
	case "MB", "MiB":
		return n * units.MiB
	case "GiB":
		return n * units.GiB
	default:
		return 0
	}
}

// number is zero where the text is none.
func number(text string) int {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0
	}
	return int(n)
}

package e2e

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"ebscope/docs/schema"
	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/report"
	"ebscope/internal/result"
	"ebscope/internal/simulate"
	"ebscope/internal/workload"
)

var update = flag.Bool("update", false, "rewrite the example reports")

// brief is a profile of which a simulation takes no time.
const brief = `
name: brief
file_size: 1GiB
volumes:
  - {name: gp2, type: gp2, size: 100GiB, balance: 5%}
phases:
  - {name: layout, volume: gp2, rw: write, block_size: 1MiB, queue_depth: 1}
  - {name: randread, volume: gp2, rw: randread, block_size: 4KiB, queue_depth: 32, duration: 200s}
`

// A run is drawn in every format, and each is what it is called.
func TestReportFormats(t *testing.T) {
	needs(t)
	dir := t.TempDir()
	if o := run(t, dir, "simulate", "--profile", write(t, dir, brief)); o.code != 0 {
		t.Fatalf("exit %d\n%s", o.code, o.stderr)
	}
	runDir := onlyRun(t, dir)
	draw := func(args ...string) outcome {
		o := run(t, dir, append([]string{"report", runDir}, args...)...)
		if o.code != 0 {
			t.Errorf("report %s: exit %d\n%s", strings.Join(args, " "), o.code, o.stderr)
		}
		return o
	}
	for _, check := range []struct{ format, start, has, end string }{
		{"text", "ebscope brief · simulated", "randread", "\n"},
		{"markdown", "# A <title>", "simulated", " -->\n"},
		{"html", "<!doctype html>", `id="parameters"`, "</html>\n"},
		{"openmetrics", "# TYPE ebscope_run info\n", `target="simulated"`, "# EOF\n"},
	} {
		args := []string{"-o", check.format}
		if check.format != "text" {
			args = append(args, "--title", "A <title>", "--theme", "dark")
		}
		out := strings.ReplaceAll(draw(args...).stdout, "&lt;title&gt;", "<title>")
		if !strings.HasPrefix(out, check.start) || !strings.Contains(out, check.has) || !strings.HasSuffix(strings.TrimRight(out, "\n"), strings.TrimRight(check.end, "\n")) {
			t.Errorf("%s: %.80q … %.80q", check.format, out, out[max(0, len(out)-80):])
		}
	}
	valid(t, "report -o json", draw("-o", "json").stdout)
	if rows, err := csv.NewReader(strings.NewReader(draw("-o", "csv").stdout)).ReadAll(); err != nil || len(rows) < 2*200 {
		t.Errorf("csv: %d rows, %v; want IOPS and latency of 200 s", len(rows), err) // a window is a second
	}
	for _, format := range []string{"svg", "png"} {
		o := draw("-o", format, "--dir", format)
		files, err := filepath.Glob(filepath.Join(dir, format, "*."+format))
		if err != nil || len(files) != strings.Count(o.stderr, "\n") || len(files) < 4 {
			t.Errorf("%s: the files %v, %v, of which it says\n%s", format, files, err, o.stderr)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if format == "png" {
				if _, err := png.Decode(bytes.NewReader(content)); err != nil {
					t.Errorf("%s: %v", file, err)
				}
			} else if !bytes.Contains(content, []byte("<metadata>")) || !bytes.Contains(content, []byte("simulated")) {
				t.Errorf("%s does not say what it was made from", file)
			}
		}
	}
}

func TestReportWrongUse(t *testing.T) {
	needs(t)
	dir := t.TempDir()
	if o := run(t, dir, "simulate", "--profile", write(t, dir, brief)); o.code != 0 {
		t.Fatalf("exit %d\n%s", o.code, o.stderr)
	}
	runDir := onlyRun(t, dir)
	for want, args := range map[string][]string{
		"nodir does not exist":          {"report", "nodir"},
		"nodir/deep does not exist":     {"analyze", "nodir/deep"},
		"at least one path":             {"report"},
		"text or markdown or html":      {"report", runDir, "-o", "docx"},
		"auto, light or dark":           {"report", runDir, "--theme", "pink"},
		"--dir":                         {"report", runDir, "-o", "svg"},
		"draws one run at a time":       {"report", runDir, runDir, "-o", "html"},
		"says itself what was measured": {"report", runDir, "--volume", "gp2:100GiB"},
		"--volume is empty":             {"report", runDir, "--volume", ""},
		"--instance is empty":           {"report", runDir, "--instance", " "},
		"--title is empty":              {"report", runDir, "--title", " "},
		"--dir is empty":                {"report", runDir, "-o", "svg", "--dir", ""},
		"a title has 200 at most":       {"report", runDir, "--title", strings.Repeat("é", 201)},
	} {
		if o := run(t, dir, args...); o.code != 2 || !strings.Contains(o.stderr, want) || o.stdout != "" {
			t.Errorf("%v: exit %d, %q on stdout, and\n%s\nwant 2 and %q", args, o.code, o.stdout, o.stderr, want)
		}
	}
}

// Documents of every command validate against the published schema, which the program prints itself.
func TestDocumentsAreValid(t *testing.T) {
	needs(t)
	dir := t.TempDir()
	if o := run(t, dir, "report", "--schema"); o.code != 0 || o.stdout != string(schema.Analysis) {
		t.Errorf("report --schema: exit %d, %d bytes", o.code, len(o.stdout))
	}
	valid(t, "simulate", run(t, dir, "simulate", "-o", "json").stdout)
	valid(t, "analyze a run", run(t, dir, "analyze", onlyRun(t, dir), "-o", "json").stdout)
	const corpus = "../../../shared/corpus"
	if _, err := os.Stat(corpus); err != nil {
		t.Skipf("no corpus of real results, which is no part of this repository (%v); with one run: ln -s CORPUS %s", err, corpus)
	}
	for _, folder := range []string{"json", "logs", "terse"} {
		path, err := filepath.Abs(filepath.Join(corpus, folder))
		if err != nil {
			t.Fatal(err)
		}
		valid(t, "analyze "+folder, run(t, dir, "analyze", path, "-o", "json").stdout)
		valid(t, "analyze "+folder+" on gp3", run(t, dir, "analyze", path, "--volume", "gp3:500GiB", "-o", "json").stdout)
		for _, format := range []string{"html", "openmetrics", "text", "csv"} {
			o := run(t, dir, "report", path, "-o", format)
			if o.code != 0 && o.code != 5 || o.stdout == "" {
				t.Errorf("report %s -o %s: exit %d\n%s", folder, format, o.code, o.stderr)
			}
			if format == "html" && len(o.stdout) > 1_500_000 {
				t.Errorf("the page of %s has %d bytes", folder, len(o.stdout))
			}
		}
	}
}

func valid(t *testing.T, what, document string) {
	t.Helper()
	form, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.Analysis))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", form); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(document))
	if err == nil {
		err = s.Validate(value)
	}
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// The examples in docs/examples are what the program draws of a simulation of the shipped profile.
func TestExampleReports(t *testing.T) {
	r := example(t)
	var page, markdown, svg bytes.Buffer
	for _, err := range []error{report.HTML(&page, r), report.Markdown(&markdown, r), r.Pictures()[0].SVG(&svg)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, got := range map[string][]byte{"report.html": page.Bytes(), "report.md": markdown.Bytes(), "report.svg": svg.Bytes()} {
		path := filepath.Join("..", "..", "docs", "examples", name)
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s differs; if that is meant: go test ./test/e2e -run ExampleReports -update\n%.2000s", path, diff)
		}
	}
}

// example is the shipped profile, simulated at a time of its own.
func example(t *testing.T) report.Report {
	t.Helper()
	catalog := ebs.Embedded()
	profile, err := workload.Shipped(catalog, "gp2-vs-gp3")
	if err != nil {
		t.Fatal(err)
	}
	phases, err := simulate.Run(t.Context(), catalog, profile, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	started := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	r := result.Run{
		Form: result.Form, Tool: "ebscope", ID: "20261130T120000Z-gp2-vs-gp3-simulated", Target: result.Simulated, Started: started, Finished: &started,
		Compress: 1, Profile: profile, Command: "ebscope simulate --profile gp2-vs-gp3 --compress 1",
		Environment: result.Environment{Instance: profile.Instance},
	}
	measured := make([]*result.Measurement, len(phases))
	for i, p := range profile.Phases {
		r.Phases = append(r.Phases, result.Phase{Index: i + 1, Name: p.Name, Volume: p.Volume, Dir: result.PhaseDir(i+1, p), State: result.Done, Credits: phases[i].Credits})
		measured[i] = &phases[i].Measurement
	}
	d := analyze.Run(catalog, r, measured, phases)
	if text, err := json.Marshal(d); err != nil {
		t.Fatal(err)
	} else {
		valid(t, "the example", string(text))
	}
	return report.Report{Run: r, Catalog: catalog, Document: d, Measured: measured}
}

package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"ebscope/internal/analyze"
)

// somebodys is fio's JSON of a job that read so many IOPS of 4 KiB for a minute, and failed with an error if it is not zero.
func somebodys(job string, iops, code int) string {
	ios := iops * 60
	return fmt.Sprintf(`{"fio version": "fio-3.36", "jobs": [{"jobname": %q, "groupid": 0, "error": %d,
"job options": {"rw": "randread", "bs": "4k", "iodepth": "32"},
"read": {"io_bytes": %d, "bw_bytes": %d, "bw": %d, "iops": %d.0, "runtime": 60000, "total_ios": %d,
"lat_ns": {"min": 1000000, "max": 90000000, "mean": %d.0, "N": %d, "percentile": {"50.000000": 10000000, "99.000000": 12000000}}},
"write": {"io_bytes": 0, "bw": 0, "iops": 0.0, "runtime": 0, "total_ios": 0}}]}
`, job, code, ios*4096, iops*4096, iops*4, iops, ios, 32_000_000_000/iops, ios)
}

// fallen is a log of IOPS of a second each that falls from 3,000 to 300 after so many.
func fallen(high, low int) string {
	var b strings.Builder
	for i := range high + low {
		iops := 3000
		if i >= high {
			iops = 300
		}
		fmt.Fprintf(&b, "%d, %d, 0, 0\n", (i+1)*1000, iops)
	}
	return b.String()
}

func writeAll(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func targz(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(text))
	}
	_ = w.Close()
	_ = z.Close()
	return b.String()
}

func TestAnyonesResults(t *testing.T) {
	good := somebodys("good", 3000, 0)
	files := map[string]string{
		"x/good.json": good, "x/other.json": somebodys("other", 16000, 0), "x/job.fio": "[global]\nrw=randread\n",
		"all.tar.gz": targz(t, map[string]string{"run/good.json": good}),
		"cut.json":   good[:len(good)/2], "bad/cut.json": good[:len(good)/2], "bad/good.json": good,
		"failed.json": somebodys("broken", 3000, 5), "empty.json": "", "binary": "\x00\x01\x02", "nothing/readme.txt": "hello",
		"ours/run.json": "{}",
	}
	for name, tt := range map[string]struct {
		args  []string
		stdin string
		code  int
		says  []string // on stdout, or on stderr where it fails
	}{
		"a folder":             {[]string{"x"}, "", 0, []string{"good", "other", "3,000", "16,000", "rndread 4k q32", "11/12"}},
		"a tar.gz":             {[]string{"all.tar.gz"}, "", 0, []string{"good", "3,000"}},
		"stdin":                {[]string{"-"}, good, 0, []string{"stdin", "good", "3,000"}},
		"a glob":               {[]string{"x/*.json"}, "", 0, []string{"good", "other"}},
		"a volume":             {[]string{"x/good.json", "--volume", "gp3:500GiB:3000:250", "--instance", "m5.xlarge"}, "", 0, []string{"held by the volume's provisioned IOPS", "sustained"}},
		"beyond the volume":    {[]string{"x/other.json", "--volume", "gp2:100GiB"}, "", 0, []string{"more than the 3,000 IOPS that a gp2 volume of 100 GiB can do", "above limit", "precondition"}},
		"cut off, and a good":  {[]string{"bad"}, "", 5, []string{"good", "Skipped", "cut.json:"}},
		"cut off":              {[]string{"cut.json"}, "", 1, []string{"cut off", "expected fio's JSON"}},
		"failed, and a good":   {[]string{"failed.json", "x/good.json"}, "", 0, []string{"FAILED", "error (5)", "dmesg"}},
		"any case":             {[]string{"x/good.json", "--volume", "GP3:500GiB", "--instance", "M5.xlarge"}, "", 0, []string{"m5.xlarge", "sustained"}},
		"an empty volume":      {[]string{"x", "--volume", ""}, "", 2, []string{"--volume is empty"}},
		"an empty instance":    {[]string{"x", "--instance", ""}, "", 2, []string{"--instance is empty"}},
		"an empty unit":        {[]string{"x", "--latency-unit", ""}, "", 2, []string{"--latency-unit is empty"}},
		"an unknown unit":      {[]string{"x", "--latency-unit", "s"}, "", 2, []string{"use ns (fio 3 and later), us (before fio 3) or ms"}},
		"empty":                {[]string{"empty.json"}, "", 1, []string{"empty.json: is empty", "expected fio's JSON"}},
		"empty stdin":          {[]string{"-"}, "", 1, []string{"is empty"}},
		"binary":               {[]string{"binary"}, "", 1, []string{"is binary"}},
		"no results":           {[]string{"nothing"}, "", 1, []string{"no result in nothing"}},
		"missing":              {[]string{"nowhere.json"}, "", 2, []string{"nowhere.json does not exist"}},
		"a glob of nothing":    {[]string{"x/*.xml"}, "", 2, []string{"matches no file"}},
		"no size":              {[]string{"x", "--volume", "gp3"}, "", 2, []string{"write it like gp2:500GiB"}},
		"no unit":              {[]string{"x", "--volume", "gp3:500:6000"}, "", 2, []string{"has no unit"}},
		"too many IOPS":        {[]string{"x", "--volume", "gp3:500GiB:90000"}, "", 2, []string{"80,000 IOPS"}},
		"unknown type":         {[]string{"x", "--volume", "gp9:500GiB"}, "", 2, []string{"gp9"}},
		"unknown instance":     {[]string{"x", "--instance", "m5.xlrge"}, "", 2, []string{"m5.xlarge"}},
		"a run and a volume":   {[]string{"ours", "--volume", "gp3:500GiB"}, "", 2, []string{"leave out --volume"}},
		"a damaged run":        {[]string{"ours"}, "", 1, []string{"damaged"}},
		"a damaged run, among": {[]string{"ours", "x"}, "", 5, []string{"good", "damaged"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeAll(t, dir, files)
			cmd := command(t, dir, append([]string{"analyze"}, tt.args...)...)
			cmd.Stdin = strings.NewReader(tt.stdin)
			o := finish(t, cmd, nil)
			text := o.stdout
			if o.code == 1 || o.code == 2 {
				text = o.stderr
				if o.stdout != "" {
					t.Errorf("stdout %q", o.stdout)
				}
			}
			if o.code != tt.code {
				t.Errorf("exit %d, want %d:\n%s%s", o.code, tt.code, o.stdout, o.stderr)
			}
			for _, want := range tt.says {
				if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
					t.Errorf("%q is missing in:\n%s", want, text)
				}
			}
			if strings.Contains(o.stderr, "panic") || strings.Contains(o.stderr, "goroutine") {
				t.Errorf("stderr:\n%s", o.stderr)
			}
			for line := range strings.Lines(o.stdout) {
				if n := utf8.RuneCountInString(strings.TrimSpace(line)); n > 80 {
					t.Errorf("%d columns: %s", n, line)
				}
			}
		})
	}
}

func TestAnyonesCliff(t *testing.T) {
	dir := t.TempDir()
	// A bucket of 5.4 M credits, spent at 3,000 − 300 a second, is empty after 2,000 s.
	writeAll(t, dir, map[string]string{"x/fio_iops.1.log": fallen(1999, 701)})
	o := run(t, dir, "analyze", "x/fio", "-o", "json")
	var d analyze.Document
	if err := json.Unmarshal([]byte(o.stdout), &d); err != nil || o.code != 0 || len(d.Phases) != 1 {
		t.Fatalf("exit %d, %v:\n%s%s", o.code, err, o.stdout, o.stderr)
	}
	p := d.Phases[0]
	if p.Cliff == nil || p.Cliff.AtS < 1998 || p.Cliff.AtS > 2000 || p.Cliff.Cause != analyze.GP2Credits || p.Verdict != analyze.BurstThenBaseline {
		t.Errorf("cliff %+v, verdict %q", p.Cliff, p.Verdict)
	}
	if len(p.Candidates) == 0 || p.Candidates[0].Configuration != "gp2 100 GiB" {
		t.Errorf("candidates %+v", p.Candidates)
	}
	for _, field := range []string{`"queue_depth": null`, `"rw": null`, `"block_size": null`, `"latency_ms": null`} {
		if !strings.Contains(o.stdout, field) {
			t.Errorf("what the log does not say is null: %s is missing", field)
		}
	}
}

func TestTheCorpus(t *testing.T) {
	const corpus = "../../../shared/corpus/json"
	found, _ := filepath.Glob(corpus + "/*.json")
	if len(found) == 0 {
		t.Skipf("no corpus of real results, which is no part of this repository; with one run: ln -s CORPUS %s", corpus)
	}
	absolute, err := filepath.Abs(corpus)
	if err != nil {
		t.Fatal(err)
	}
	o := run(t, t.TempDir(), "analyze", filepath.Join(absolute, "*.json"))
	if o.code != 0 || strings.Contains(o.stderr, "panic") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	table, _, _ := strings.Cut(o.stdout, "\n\n")
	for line := range strings.Lines(table) {
		if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > 80 {
			t.Errorf("wider than 80 columns: %s", line)
		}
	}
	if n := strings.Count(table, "FAILED"); n != 5 { // 20, 43, 44, 56, and one job of 62
		t.Errorf("%d failed:\n%s", n, table)
	}
}

// What analyze prints of the corpus, and of results that fail or lack much, is of the published form.
func TestAnyonesJSONIsOfThePublishedForm(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, map[string]string{
		"x/good.json": somebodys("good", 3000, 0), "x/failed.json": somebodys("broken", 3000, 5), "x/fio_iops.1.log": fallen(1999, 701),
		"x/cut.json": somebodys("good", 3000, 0)[:300],
	})
	corpus, err := filepath.Abs("../../../shared/corpus")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"x"}, {"x", "--volume", "gp2:100GiB", "--instance", "m5.large"}, {corpus}} {
		if _, err := os.Stat(args[0]); args[0] == corpus && err != nil {
			continue // it is not part of this repository
		}
		o := run(t, dir, append(append([]string{"analyze"}, args...), "-o", "json")...)
		valid(t, strings.Join(args, " "), o.stdout)
		if o.code != 5 { // each has a file that is cut off
			t.Errorf("%v: exit %d", args, o.code)
		}
	}
}

package intake_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"ebscope/internal/intake"
	"ebscope/internal/result"
)

// document is fio's JSON of one job that read 3,000 IOPS for so many seconds.
func document(job string, seconds int, options string) string {
	ios := 3000 * seconds
	return fmt.Sprintf(`{"fio version": "fio-3.33", "jobs": [{"jobname": %q, "groupid": 0, "error": 0,
"job options": {"rw": "randread", "bs": "4k", "iodepth": "32"%s},
"read": {"io_bytes": %d, "bw_bytes": 12288000, "bw": 12000, "iops": 3000.0, "runtime": %d, "total_ios": %d,
"lat_ns": {"min": 1000000, "max": 90000000, "mean": 10666666.0, "N": %d, "percentile": {"50.000000": 10000000, "99.000000": 12000000}}},
"write": {"io_bytes": 0, "bw": 0, "iops": 0.0, "runtime": 0, "total_ios": 0}}]}
`, job, options, ios*4096, seconds*1000, ios, ios)
}

// log is an averaged log of IOPS, a line for each second.
func logOf(seconds int, direction int, iops ...int) string {
	var b strings.Builder
	for i := range seconds {
		fmt.Fprintf(&b, "%d, %d, %d, 0\n", (i+1)*1000, iops[min(i, len(iops)-1)], direction)
	}
	return b.String()
}

// folder writes files into a folder of the test's own.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func open(t *testing.T, paths ...string) ([]result.Reading, []result.Note) {
	t.Helper()
	readings, notes, err := intake.Open(t.Context(), paths, strings.NewReader(""), intake.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return readings, notes
}

// jobs names the jobs of readings, with their files below a folder.
func jobs(readings []result.Reading, dir string) (names []string) {
	for _, r := range readings {
		names = append(names, strings.TrimPrefix(strings.TrimPrefix(r.Source.File, dir), "/")+" "+r.Job)
	}
	return names
}

func skipped(notes []result.Note) (texts []string) {
	for _, n := range notes {
		if n.Skipped {
			texts = append(texts, intake.Line(n))
		}
	}
	return texts
}

func tarOf(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		header := &tar.Header{Name: files[i], Mode: 0o600, Size: int64(len(files[i+1])), Typeflag: tar.TypeReg}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(w, files[i+1])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipOf(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(content)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstdOf(t *testing.T, content []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(content, nil)
}

func TestPlaces(t *testing.T) {
	a, b := document("a", 60, ""), document("b", 60, "")
	dir := folder(t, map[string]string{
		"x/a.json": a, "x/deep/b.out": b, "x/.hidden/c.json": a, "x/job.fio": "[global]\nrw=randread\n",
		"both.tar":  string(tarOf(t, "run1/a.json", a, "run2/b.json", b, "../../up.json", a)),
		"a.json.gz": string(gzipOf(t, []byte(a))), "b.zst": string(zstdOf(t, []byte(b))),
		"both.tar.gz": string(gzipOf(t, tarOf(t, "a.json", a, "inner.tar.gz", string(gzipOf(t, tarOf(t, "b.json", b)))))),
	})
	for name, tt := range map[string]struct {
		path string
		want []string
	}{
		"a file":            {"x/a.json", []string{"x/a.json a"}},
		"a folder":          {"x", []string{"x/a.json a", "x/deep/b.out b"}},
		"a glob":            {"x/*.json", []string{"x/a.json a"}},
		"a tar":             {"both.tar", []string{"both.tar:run1/a.json a", "both.tar:run2/b.json b", "both.tar:up.json a"}},
		"gzip":              {"a.json.gz", []string{"a.json a"}},
		"zstd":              {"b.zst", []string{"b b"}},
		"a tar in a tar.gz": {"both.tar.gz", []string{"both.tar.gz:a.json a", "both.tar.gz:inner.tar.gz:b.json b"}},
	} {
		readings, notes := open(t, filepath.Join(dir, tt.path))
		if diff := cmp.Diff(tt.want, jobs(readings, dir)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if s := skipped(notes); s != nil {
			t.Errorf("%s: skipped %v", name, s)
		}
	}
	readings, _, err := intake.Open(t.Context(), []string{intake.Stdin}, bytes.NewReader(gzipOf(t, []byte(a))), intake.Options{})
	if err != nil || len(readings) != 1 || readings[0].Source.File != "stdin" {
		t.Errorf("stdin: %v, %v", readings, err)
	}
	if readings, _ = open(t, filepath.Join(dir, "x"), filepath.Join(dir, "x", "a.json")); len(readings) != 2 {
		t.Errorf("a file that is given twice counts once: %v", jobs(readings, dir))
	}
	if err := os.Symlink("a.json", filepath.Join(dir, "x", "link.json")); err != nil {
		t.Skipf("links cannot be made here (TMPDIR=DIR go test ./internal/intake, on a file system with links): %v", err)
	}
	if readings, _ = open(t, filepath.Join(dir, "x")); len(readings) != 2 {
		t.Errorf("a file and a link to it count once: %v", jobs(readings, dir))
	}
}

func TestWhatIsSkipped(t *testing.T) {
	good := document("good", 60, "")
	dir := folder(t, map[string]string{
		"0.json": good, "cut.json": good[:200], "empty.json": "", "blank.json": "\n \n", "image.bin": "\x89PNG\x00\x00\x01",
		"strings.json": `["a", "b"]`, "cut.gz": string(gzipOf(t, []byte(good))[:90]), "plain.txt": "hello\n", "old.zip": "PK\x03\x04rest",
		"cut.tar": string(tarOf(t, "a.json", good)[:700]),
	})
	readings, notes := open(t, dir)
	if len(readings) < 1 || readings[0].Job != "good" {
		t.Fatalf("readings %v", jobs(readings, dir))
	}
	all := strings.Join(skipped(notes), "\n")
	for _, want := range []string{
		"cut.json", "empty.json: is empty", "blank.json: is empty", "image.bin: is binary; expected fio's JSON",
		"strings.json", "cut.gz: is cut off or damaged", "plain.txt", "old.zip: is packed with zip, which is not read", "cut.tar",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("skipped should name %q:\n%s", want, all)
		}
	}
}

func TestNothing(t *testing.T) {
	dir := folder(t, map[string]string{"empty.json": "", "sub/readme.txt": "hello"})
	var missing *intake.MissingError
	for _, path := range []string{"nowhere", "nowhere/*.json"} {
		_, _, err := intake.Open(t.Context(), []string{filepath.Join(dir, path)}, nil, intake.Options{})
		if !errors.As(err, &missing) || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", path, err)
		}
	}
	var nothing *intake.NothingError
	_, _, err := intake.Open(t.Context(), []string{dir}, nil, intake.Options{})
	if !errors.As(err, &nothing) || !strings.Contains(err.Error(), "expected fio's JSON") || !strings.Contains(err.Error(), "empty.json: is empty") {
		t.Errorf("a folder without results: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := intake.Open(ctx, []string{dir}, nil, intake.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestRunDirectory(t *testing.T) {
	archive := tarOf(t, "runs/r/phases/01-a/fio.json", document("raw", 60, ""), "runs/r/run.json", "{}", "other.json", document("other", 60, ""))
	dir := folder(t, map[string]string{"all.tar": string(archive), "r/run.json": "{}", "r/phases/01-a/fio.json": document("raw", 60, "")})
	readings, notes := open(t, dir)
	if diff := cmp.Diff([]string{"all.tar:other.json other"}, jobs(readings, dir)); diff != "" {
		t.Errorf("raw files of a run directory are not somebody else's (-want +got):\n%s", diff)
	}
	all := strings.Join(skipped(notes), "\n")
	if !strings.Contains(all, "runs/r: is a run directory of ebscope") || !strings.Contains(all, "is damaged") {
		t.Errorf("skipped:\n%s", all)
	}
}

func TestLogsOfAJob(t *testing.T) {
	option := `, "write_iops_log": "/tmp/results/fio", "write_lat_log": "fio"`
	for name, tt := range map[string]struct {
		files map[string]string
		paths []string
		want  []string      // readings
		end   time.Duration // of the first reading's series; zero: it has none
		says  string        // in a note
	}{
		"by its option": {map[string]string{"x.json": document("a", 60, option), "fio_iops.1.log": logOf(60, 0, 3000)}, nil,
			[]string{"x.json a"}, time.Minute, ""},
		"beside an empty one": {map[string]string{"x.json": document("a", 60, option), "fio_iops.1.log": logOf(60, 0, 3000), "fio_slat.1.log": ""}, nil,
			[]string{"x.json a"}, time.Minute, "fio_slat.1.log: is empty: nothing of its kind was logged"},
		"by the file's name": {map[string]string{"fio.json": document("a", 60, ""), "fio_iops.1.log": logOf(60, 0, 3000)}, nil,
			[]string{"fio.json a"}, time.Minute, ""},
		"alone": {map[string]string{"fio_iops.1.log": logOf(60, 0, 3000), "fio_lat.1.log": logOf(60, 0, 10_000_000)}, nil,
			[]string{"fio_iops.1.log "}, time.Minute, ""},
		"by a prefix": {map[string]string{"fio_iops.1.log": logOf(60, 0, 3000), "fio_iops.2.log": logOf(30, 0, 3000), "other_iops.1.log": logOf(9, 0, 1)},
			[]string{"fio"}, []string{"fio_iops.1.log ", "fio_iops.2.log "}, time.Minute, ""},
		"of another runtime": {map[string]string{"fio.json": document("a", 60, ""), "fio_iops.1.log": logOf(300, 0, 3000)}, nil,
			[]string{"fio.json a", "fio_iops.1.log "}, 0, "it ends after 5m0s, the job after 1m0s"},
		"of another direction": {map[string]string{"fio.json": document("a", 60, ""), "fio_iops.1.log": logOf(60, 1, 3000)}, nil,
			[]string{"fio.json a", "fio_iops.1.log "}, 0, "it logs write"},
		"of another job": {map[string]string{"fio.json": document("a", 60, ""), "fio_iops.2.log": logOf(60, 0, 3000)}, nil,
			[]string{"fio.json a", "fio_iops.2.log "}, 0, ""},
		"of another folder": {map[string]string{"fio.json": document("a", 60, ""), "sub/fio_iops.1.log": logOf(60, 0, 3000)}, nil,
			[]string{"fio.json a", "sub/fio_iops.1.log "}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, tt.files)
			paths := []string{dir}
			if tt.paths != nil {
				paths = []string{filepath.Join(dir, tt.paths[0])}
			}
			readings, notes := open(t, paths...)
			if diff := cmp.Diff(tt.want, jobs(readings, dir)); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
			var end time.Duration
			if s := readings[0].IOPS; len(s) > 0 {
				end = s[len(s)-1].End
			}
			if end != tt.end {
				t.Errorf("the series ends at %v, want %v", end, tt.end)
			}
			var all []string
			for _, n := range notes {
				all = append(all, intake.Line(n))
			}
			if !strings.Contains(strings.Join(all, "\n"), tt.says) {
				t.Errorf("notes should say %q: %v", tt.says, all)
			}
		})
	}
}

// The first line of writes is missing: only where both are there is a sum known.
func TestTotalOnlyWhereBothExist(t *testing.T) {
	dir := folder(t, map[string]string{"fio_iops.1.log": "1000,5089,0,0\n2000,5305,0,0\n2000,5182,1,0\n3000,5000,0,0\n3000,5000,1,0\n"})
	readings, _ := open(t, dir)
	want := result.Series{{End: 2 * time.Second, Value: 10487}, {End: 3 * time.Second, Value: 10000}} // 5,305 + 5,182
	if diff := cmp.Diff(want, readings[0].IOPS); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCorpus(t *testing.T) {
	const corpus = "../../../shared/corpus"
	if _, err := os.Stat(corpus); err != nil {
		t.Skipf("no corpus of real results, which is no part of this repository; with one run: ln -s CORPUS %s", corpus)
	}
	readings, notes := open(t, corpus)
	if len(readings) < 200 {
		t.Errorf("%d readings", len(readings))
	}
	for _, text := range skipped(notes) {
		if strings.Contains(text, corpus+"/json/") {
			t.Errorf("skipped: %s", text)
		}
	}
}

package intake_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/unicode"

	"ebscope/internal/intake"
)

func put(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	rows   = "1000, 30, 0, 0\n2000, 31, 0, 0\n3000, 32, 0, 0\n"
	oneJob = `{"fio version":"fio-3.33","jobs":[{"jobname":"a","read":{"iops":5}}]}`
)

func TestOddLogs(t *testing.T) {
	utf16, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(rows)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		text    string
		skipped int
	}{
		"UTF-16":              {utf16, 0},
		"UTF-16 without mark": {utf16[2:], 0},
		"big endian as well":  {"\x00" + utf16[2:len(utf16)-1], 0},
		"UTF-8 with a mark":   {"\uFEFF" + rows, 0},
		"zeros at the end":    {rows + strings.Repeat("\x00", 4096), 1},
		"zeros in the middle": {rows + strings.Repeat("\x00", 512) + "\n4000, 30, 0, 0\n", 1},
	} {
		readings, notes, err := intake.Open(t.Context(), []string{put(t, filepath.Join(t.TempDir(), "a_iops.1.log"), c.text)}, nil, intake.Options{})
		skipped := 0
		for _, n := range notes {
			if n.Skipped {
				skipped++
			}
		}
		if err != nil || len(readings) != 1 || len(readings[0].IOPS) < 3 || skipped != c.skipped {
			t.Errorf("%s: %d readings, notes %v, error %v", what, len(readings), notes, err)
		}
	}
	for text, want := range map[string]string{"1000, 30, 7, 0\n": "line 1 has the direction 7", "1000; 30; 0; 0\n": "line 1 has semicolons",
		"1000 30 0 0\n": "line 1 has spaces between its columns instead of commas", "1000\t30\t0\t0\n": "line 1 has spaces between",
		"-1000, 30, 0, 0\n": "a log of fio has lines such as"} {
		_, _, err := intake.Open(t.Context(), []string{put(t, filepath.Join(t.TempDir(), "a_iops.1.log"), text)}, nil, intake.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// A log that tells nothing for want of a name is no result, neither from a file nor from a pipe, and beside one it is skipped.
func TestLogWithoutItsName(t *testing.T) {
	const expected = "…_iops.1.log, …_bw.1.log or …_lat.1.log"
	dir := t.TempDir()
	for _, path := range []string{put(t, filepath.Join(dir, "renamed.log"), rows), intake.Stdin} {
		var nothing *intake.NothingError
		_, _, err := intake.Open(t.Context(), []string{path}, strings.NewReader(rows), intake.Options{})
		if !errors.As(err, &nothing) || !strings.Contains(err.Error(), expected) {
			t.Errorf("%s: %v", path, err)
		}
	}
	put(t, filepath.Join(dir, "a_iops.1.log"), rows)
	readings, notes := open(t, dir)
	if len(readings) != 1 || len(notes) != 1 || !notes[0].Skipped || !strings.Contains(notes[0].Text, expected) {
		t.Errorf("%d readings, notes %v; want the log that has its name, and a note on the other", len(readings), notes)
	}
}

// The lines of two jobs in one log are worth a note, unless the document beside it states that there are two.
func TestSharedLog(t *testing.T) {
	for jobs, want := range map[string]int{"1": 1, "2": 0} {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "a_iops.log"), rows+rows)
		put(t, filepath.Join(dir, "a.json"), `{"fio version":"fio-3.33","global options":{"write_iops_log":"a","numjobs":"`+jobs+
			`","group_reporting":"1","per_job_logs":"0"},"jobs":[{"jobname":"a","read":{"iops":62}}]}`)
		readings, notes, err := intake.Open(t.Context(), []string{dir}, nil, intake.Options{})
		if err != nil || len(readings) != 1 || len(notes) != want {
			t.Errorf("%s jobs: %d readings, notes %v, error %v", jobs, len(readings), notes, err)
		}
	}
}

func TestPackedBesideUnpacked(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, oneJob)
	_ = z.Close()
	plain, packed := put(t, filepath.Join(dir, "a.json"), oneJob), put(t, filepath.Join(dir, "a.json.gz"), b.String())
	for _, paths := range [][]string{{plain, packed}, {packed, plain}, {dir}} {
		readings, _, err := intake.Open(t.Context(), paths, nil, intake.Options{})
		if err != nil || len(readings) != 2 || readings[0].Source.File == readings[1].Source.File {
			t.Errorf("%v: %+v, error %v", paths, readings, err)
		}
	}
}

func TestPathsThatAreNone(t *testing.T) {
	for _, paths := range [][]string{{""}, {"-", "-"}} {
		_, _, err := intake.Open(t.Context(), paths, strings.NewReader(oneJob), intake.Options{})
		var argument *intake.ArgumentError
		if !errors.As(err, &argument) {
			t.Errorf("%q: %v", paths, err)
		}
	}
}

// Who waits for a pipe can be stopped.
func TestStopWhileWaiting(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	r, w := io.Pipe()
	defer w.Close()
	if _, _, err := intake.Open(ctx, []string{"-"}, r, intake.Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each of these must say what is wrong, exit as documented and leave nothing behind.
func TestBadInput(t *testing.T) {
	needs(t, "fio")
	fake := func(t *testing.T, dir, script string) string {
		path := filepath.Join(dir, "fake-fio")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	profile := func(old, new string) func(*testing.T, string) []string {
		return func(t *testing.T, dir string) []string {
			text := strings.ReplaceAll(short, old, new)
			if text == short {
				t.Fatalf("the profile has no %q", old)
			}
			path := filepath.Join(dir, "bad.yaml")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return []string{"bench", "--profile", path}
		}
	}
	args := func(args ...string) func(*testing.T, string) []string {
		return func(*testing.T, string) []string { return args }
	}
	record := func(text string) func(*testing.T, string) []string {
		return func(t *testing.T, dir string) []string {
			path := filepath.Join(dir, "given")
			if err := os.Mkdir(path, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(path, "run.json"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return []string{"analyze", path}
		}
	}
	for name, tt := range map[string]struct {
		args func(*testing.T, string) []string
		code int
		want string
	}{
		"no fio": {args("bench", "--fio", "/nonexistent/fio"), 4, "fio"},
		"old fio": {func(t *testing.T, dir string) []string {
			return []string{"bench", "--fio", fake(t, dir, "echo fio-2.21")}
		}, 4, "3.1"},
		"no fio but something else": {func(t *testing.T, dir string) []string {
			return []string{"bench", "--fio", fake(t, dir, "echo hello")}
		}, 4, "is not fio"},
		"missing engine":     {args("bench", "--engine", "warpdrive"), 4, "warpdrive"},
		"unknown command":    {args("benhc"), 2, "benhc"},
		"unknown flag":       {args("bench", "--fast"), 2, "--fast"},
		"unknown profile":    {args("bench", "--profile", "slow"), 2, "gp2-vs-gp3"},
		"missing profile":    {args("bench", "--profile", "./slow.yaml"), 2, "slow.yaml"},
		"unknown target":     {args("bench", "--target", "moon"), 2, "emulated, path, device or kubernetes"},
		"stray argument":     {args("bench", "now"), 2, "now"},
		"unknown output":     {args("bench", "-o", "xml"), 2, "text or json"},
		"compress below one": {args("bench", "--compress", "0.5"), 2, "--compress"},
		"compress NaN":       {args("bench", "--compress", "NaN"), 2, "--compress"},
		"compress too much":  {args("bench", "--compress", "600"), 2, "use a smaller one"},
		"compress of a real path": {args("bench", "--target", "path", "--path", "gp2=.", "--compress", "60"), 2,
			"emulated and simulated volumes only"},
		"path without a directory": {args("bench", "--target", "path"), 2, "--path NAME=DIR"},
		"path of no volume":        {args("bench", "--target", "path", "--path", "gp9=."), 2, "gp9"},
		"path without a name":      {args("bench", "--target", "path", "--path", "gp2="), 2, "names no directory"},
		"endless profile":          {args("bench", "--profile", "/dev/zero"), 2, "larger than"},
		"runs that is a file":      {args("bench", "--runs", "/etc/passwd"), 4, "--runs"},
		"path that is missing":     {args("bench", "--target", "path", "--path", "gp2=/nonexistent"), 4, "/nonexistent"},
		"two volumes in one path":  {args("bench", "--target", "path", "--path", "gp2=.", "--path", "gp3=."), 4, "file system of its own"},
		"name used twice":          {profile("name: gp3,", "name: gp2,"), 2, "used twice"},
		"unknown key":              {profile("gap:", "gaps:"), 2, "line 5"},
		"file larger than volume":  {profile("8GiB", "101GiB"), 2, "does not fit"},
		"too many IOPS":            {profile("type: gp3, size: 100GiB", "type: gp3, size: 1000GiB, iops: 90000"), 2, "80,000 IOPS"},
		"too much throughput":      {profile("type: gp3, size: 100GiB", "type: gp3, size: 100GiB, iops: 16000, throughput: 2500MiB/s"), 2, "2,000 MiB/s"},
		"too many per GiB":         {profile("type: gp3, size: 100GiB", "type: gp3, size: 20GiB, iops: 15000"), 2, "500 IOPS per GiB"},
		"too much per IOPS":        {profile("type: gp3, size: 100GiB", "type: gp3, size: 100GiB, throughput: 1000MiB/s"), 2, "0.25 MiB/s per IOPS"},
		"resume of nothing":        {args("bench", "--resume", "."), 2, "not a run directory"},
		"resume with a profile":    {args("bench", "--resume", ".", "--profile", "quick"), 2, "leave out --profile"},
		"newer form":               {record(`{"form": 99}`), 1, "newer ebscope"},
		"truncated record":         {record(`{"form": 1, "id": "x`), 1, "damaged"},
		"empty record":             {record(``), 1, "damaged"},
		"analysis of nothing":      {args("analyze"), 2, "a run directory"},
		"emulate GB":               {args("emulate", "--size", "100GB"), 2, "write 100GiB"},
		"emulate zero":             {args("emulate", "--size", "0"), 2, "greater than zero"},
		"emulate gp9":              {args("emulate", "--type", "gp9"), 2, "gp9"},
		"emulate IOPS on gp2":      {args("emulate", "--iops", "4000"), 2, "cannot be set on gp2"},
		"emulate credits":          {args("emulate", "--credits", "5"), 2, "--credits"},
		"emulate instance":         {args("emulate", "--instance", "m5.xlrge"), 2, "m5.xlarge"},
		"emulate mkfs alone":       {args("emulate", "--mkfs", "xfs"), 2, "--mount"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			o := run(t, dir, tt.args(t, dir)...)
			if o.code != tt.code || !strings.Contains(o.stderr, tt.want) {
				t.Errorf("exit %d, want %d; stderr should say %q:\n%s", o.code, tt.code, tt.want, o.stderr)
			}
			if o.stdout != "" || strings.Contains(o.stderr, "panic") || strings.Contains(o.stderr, "goroutine") {
				t.Errorf("stdout %q, stderr %q", o.stdout, o.stderr)
			}
			if runs, _ := filepath.Glob(filepath.Join(dir, "runs", "*")); len(runs) > 0 {
				t.Errorf("a run directory is left: %v", runs)
			}
			nothingLeft(t, dir)
		})
	}
}

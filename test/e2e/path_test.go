package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// diskProfile is a profile of one volume, up to its second phase.
const diskProfile = `
name: disk
file_size: 32MiB
volumes:
  - {name: disk, type: gp3, size: 100GiB}
phases:
  - {name: layout, volume: disk, rw: write, block_size: 1MiB, queue_depth: 4}
`

// A run on a path is killed and resumed from another folder, with fio given by a relative path; what was measured stays.
func TestPathResumedFromElsewhere(t *testing.T) {
	needs(t, "fio")
	dir := t.TempDir()
	profile := diskProfile + `  - {name: read, volume: disk, rw: randread, block_size: 4KiB, queue_depth: 1, duration: 4s}`
	fio, err := exec.LookPath("fio")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "disk.yaml"), []byte(profile), 0o600),
		os.Symlink(fio, filepath.Join(dir, "myfio")), os.Mkdir(filepath.Join(dir, "a disk"), 0o755)); err != nil {
		t.Fatal(err)
	}
	finish(t, command(t, dir, "bench", "--profile", "disk.yaml", "--target", "path", "--path", "disk=a disk", "--fio", "./myfio"),
		func(p *os.Process) {
			whenRunning(t, dir, "02-disk-read")
			_ = p.Kill()
		})
	runDir := onlyRun(t, dir)
	o := run(t, t.TempDir(), "bench", "--resume", runDir, "-o", "json")
	if o.code != 0 {
		t.Fatalf("exit %d\n%s", o.code, o.stderr)
	}
	if p := parse(t, o.stdout).phase(t, "disk", "read"); p.IOPS.FioMean <= 0 {
		t.Errorf("read: %+v", p)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "a disk", "*")); len(left) > 0 {
		t.Errorf("test files are left: %v", left)
	}
	nothingLeft(t, dir)
}

// A real directory is measured without compression, on a file that ebscope makes and removes.
func TestPath(t *testing.T) {
	needs(t, "fio")
	dir := t.TempDir()
	profile := diskProfile + `  - {name: mixed, volume: disk, rw: randrw, read_percent: 50, block_size: 4KiB, queue_depth: 4, jobs: 2, duration: 3s}`
	if err := os.WriteFile(filepath.Join(dir, "disk.yaml"), []byte(profile), 0o600); err != nil {
		t.Fatal(err)
	}
	disk := filepath.Join(dir, "disk")
	if err := os.Mkdir(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(disk, "foreign")
	if err := os.WriteFile(foreign, []byte("not ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := run(t, dir, "bench", "--profile", "disk.yaml", "--target", "path", "--path", "disk="+disk, "-o", "json")
	if o.code != 0 {
		t.Fatalf("exit %d\n%s", o.code, o.stderr)
	}
	d := parse(t, o.stdout)
	if d.Run.Target != "path" || d.Run.Compress != 1 {
		t.Errorf("target %s, compress %v", d.Run.Target, d.Run.Compress)
	}
	if p := d.phase(t, "disk", "mixed"); p.IOPS.FioMean <= 0 || p.Latency.Mean <= 0 {
		t.Errorf("mixed: %+v", p)
	}
	for _, key := range []string{`"read": {`, `"write": {`} {
		if !strings.Contains(o.stdout, key) {
			t.Errorf("a mixed phase has no %s", key)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(disk, "*")); len(left) != 1 || left[0] != foreign {
		t.Errorf("the directory holds %v, want just what was there", left)
	}
}

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A real directory is measured without compression, on a file that ebscope makes and removes.
func TestPath(t *testing.T) {
	needs(t, "fio")
	dir := t.TempDir()
	profile := `
name: disk
file_size: 32MiB
volumes:
  - {name: disk, type: gp3, size: 100GiB}
phases:
  - {name: layout, volume: disk, rw: write, block_size: 1MiB, queue_depth: 4}
  - {name: mixed, volume: disk, rw: randrw, read_percent: 50, block_size: 4KiB, queue_depth: 4, jobs: 2, duration: 3s}
`
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

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const stalled = `
name: stalled
file_size: 1GiB
volumes:
  - {name: gp3, type: gp3, size: 100GiB}
phases:
  - {name: layout, volume: gp3, rw: write, block_size: 1MiB, queue_depth: 1}
  - {name: seqread-qd8, volume: gp3, rw: read, block_size: 1MiB, queue_depth: 8, duration: 600s}
`

// A machine that stands still does not slow the volume that it emulates down: 125 MiB/s for 10 s, and the 2 MiB that a bucket of
// a sixtieth of a second holds. Five stalls of 100 ms, each 83 ms longer than the bucket can make up for, would cost 4 %.
func TestStalledMachine(t *testing.T) {
	needsEmulation(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "stalled.yaml"), []byte(stalled), 0o600); err != nil {
		t.Fatal(err)
	}
	o := finish(t, command(t, dir, "bench", "--profile", "stalled.yaml", "--compress", "60", "-o", "json"), func(p *os.Process) {
		whenRunning(t, dir, "02-gp3-seqread-qd8")
		for range 5 {
			_ = p.Signal(syscall.SIGSTOP) // fio goes on
			time.Sleep(100 * time.Millisecond)
			_ = p.Signal(syscall.SIGCONT)
			time.Sleep(500 * time.Millisecond)
		}
	})
	if o.code != 0 {
		t.Fatalf("exit %d\n%s", o.code, o.stderr)
	}
	d := parse(t, o.stdout)
	near(t, "MiB/s through five stalls", d.phase(t, "gp3", "seqread-qd8").Throughput, 125.2, 0.015)
	if !slices.ContainsFunc(d.Warnings, func(w struct{ Code, Text string }) bool {
		return w.Code == "machine-stalled" && strings.Contains(w.Text, "seqread-qd8 on gp3")
	}) {
		t.Errorf("the stalls are not told of: %+v", d.Warnings)
	}
}

package affinity_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ebscope/internal/affinity"
)

// threadsOn returns the processors of each thread of this process, as the kernel writes them.
func threadsOn(t *testing.T) (lists map[string]bool) {
	t.Helper()
	files, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil || len(files) == 0 {
		t.Fatalf("no threads: %v", err)
	}
	lists = map[string]bool{}
	for _, file := range files {
		if status, err := os.ReadFile(file); err == nil {
			lists[cpusIn(string(status))] = true
		}
	}
	return lists
}

func cpusIn(status string) string {
	_, after, _ := strings.Cut(status, "Cpus_allowed_list:\t")
	list, _, _ := strings.Cut(after, "\n")
	return list
}

func childOn(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	cmd := exec.CommandContext(t.Context(), "cat", "/proc/self/status")
	cmd.Stdout = &out
	if err := affinity.Unconfined(cmd.Start); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return cpusIn(out.String())
}

func TestConfine(t *testing.T) {
	before := threadsOn(t)
	all := childOn(t)
	if len(before) != 1 || !before[all] {
		t.Skipf("the threads of this process have different processors: %v; run: go test ./internal/affinity", before)
	}
	if !strings.ContainsAny(all, "-,") {
		t.Skip("needs two processors: taskset -c 0,1 go test ./internal/affinity")
	}
	free := affinity.Confine()
	affinity.Confine()() // one within another changes nothing, also when it ends
	confined := threadsOn(t)
	for list := range confined {
		if len(confined) != 1 || strings.ContainsAny(list, "-,") {
			t.Errorf("confined: %v, want one processor for all", confined)
		}
	}
	if got := childOn(t); got != all {
		t.Errorf("a child of a confined process is on %s, want %s", got, all)
	}
	if got := threadsOn(t); len(got) != 1 || got[all] {
		t.Errorf("after a child was started: %v, want one processor for all", got)
	}
	free()
	free()
	if got := threadsOn(t); len(got) != 1 || !got[all] {
		t.Errorf("freed: %v, want %s", got, all)
	}
}

// The request is made as long as it is held: the kernel shows the lowest of all to whoever reads the file.
func TestAwake(t *testing.T) {
	read := func() int32 {
		var us int32
		f, err := os.Open("/dev/cpu_dma_latency")
		if err != nil {
			t.Skipf("%v; run as root: sudo go test ./internal/affinity", err)
		}
		defer f.Close()
		if err := binary.Read(f, binary.NativeEndian, &us); err != nil {
			t.Fatal(err)
		}
		return us
	}
	before := read()
	rest := affinity.Awake()
	if got := read(); got != 0 {
		t.Errorf("awake: the kernel is asked for %d µs, want 0", got)
	}
	rest()
	if got := read(); got != before {
		t.Errorf("afterwards: %d µs, want %d as before", got, before)
	}
}

package process_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ebscope/internal/fio/process"
)

// parentEnv makes this test program a parent that runs fio and waits to be killed.
const parentEnv = "EBSCOPE_TEST_PARENT_OF"

func TestMain(m *testing.M) {
	if path := os.Getenv(parentEnv); path != "" {
		dir, err := os.MkdirTemp("", "ebscope-parent")
		if err == nil {
			err = process.Fio{Path: path}.Run(context.Background(), dir, process.Options{
				// The stand-in gives its process ID as a rate.
				Progress: func(p process.Progress) { fmt.Println(int(p.IOPS)) },
			})
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestFioEndsWithItsParent(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(self)
	parent.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), parentEnv+"="+program(t, `echo "[r=$$ IOPS]"; exec sleep 60`))
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	// Its state is that of a zombie if nobody collects orphans here.
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child))
		if errors.Is(err, os.ErrNotExist) || strings.Contains(string(stat), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			_ = syscall.Kill(-child, syscall.SIGKILL)
			t.Fatalf("process %d outlived its parent", child)
		}
	}
}

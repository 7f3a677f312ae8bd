// Start measures how long the commands that only compute take from start to answer, as a user waits for them.
//
//	go run ./perf/start
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
)

const (
	repeats = 20
	wanted  = 60 * time.Millisecond
)

var commands = []string{
	"limits volume gp3",
	"limits instance m5.xlarge",
	"limits region ap-northeast-2",
	"forecast --type gp2 --size 100GiB --iops 3000",
	"size --region ap-northeast-2",
	"size --region ap-northeast-2 --size 100GiB --iops 3000 --throughput 125 --instance m5.xlarge",
	"size --like gp2:500GiB",
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "perf:", err)
		os.Exit(1)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "ebscope-perf-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "ebscope")
	if out, err := exec.Command("go", "build", "-o", program, "ebscope/cmd/ebscope").CombinedOutput(); err != nil {
		return fmt.Errorf("build ebscope: %w: %s", err, out)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	var slow []string
	for _, line := range commands {
		took, err := quickest(program, strings.Fields(line))
		if err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
		fmt.Fprintf(w, "ebscope %s\t%.0f ms\tat most %.0f\t\n", line, milliseconds(took), milliseconds(wanted))
		if took > wanted {
			slow = append(slow, line)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(slow) > 0 {
		return fmt.Errorf("slower than %v from start to answer: %s", wanted, strings.Join(slow, "; "))
	}
	return nil
}

// quickest runs a command several times and returns the shortest time that it took: other work on the machine only adds.
func quickest(program string, args []string) (time.Duration, error) {
	var least time.Duration
	for i := range repeats {
		start := time.Now()
		if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%w: %s", err, out)
		}
		if took := time.Since(start); i == 0 || took < least {
			least = took
		}
	}
	return least, nil
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

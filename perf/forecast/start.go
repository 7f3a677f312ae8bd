package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// answerLimit is how long a question may take from start to answer.
const answerLimit = 60 * time.Millisecond

// questions are what a user types and waits for.
var questions = []string{
	"forecast --size 100GiB --iops 3000 -o json",
	"limits instance m5.xlarge -o json",
	"size --region ap-northeast-2 --size 100GiB --iops 3000 -o json",
}

// answers builds ebscope and measures how long each question takes: the median, since others may be computing too.
func answers(w io.Writer) error {
	dir, err := os.MkdirTemp("", "ebscope-perf-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "ebscope")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/ebscope").CombinedOutput(); err != nil {
		return fmt.Errorf("build ebscope: %w: %s", err, out)
	}
	var slow []string
	for _, q := range questions {
		times := make([]time.Duration, 21)
		for i := range times {
			start := time.Now()
			if out, err := exec.Command(program, strings.Fields(q)...).CombinedOutput(); err != nil {
				return fmt.Errorf("ebscope %s: %w: %s", q, err, out)
			}
			times[i] = time.Since(start)
		}
		slices.Sort(times)
		median := times[len(times)/2]
		fmt.Fprintf(w, "ebscope %s\t%.0f ms\tat most %.0f\t\n", strings.Fields(q)[0], median.Seconds()*1e3, answerLimit.Seconds()*1e3)
		if median > answerLimit {
			slow = append(slow, q)
		}
	}
	if len(slow) > 0 {
		return fmt.Errorf("slower than %v: %s", answerLimit, strings.Join(slow, "; "))
	}
	return nil
}

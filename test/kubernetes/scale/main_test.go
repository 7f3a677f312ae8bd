//go:build linux

// Package scale holds what follows a run to its limits on a real API server, with more nodes and pods than fit on a machine: kwok
// simulates them.
package scale

import (
	"fmt"
	"os"
	"testing"
)

// followVariable makes this program a follower of the run that it names, in a process whose memory can be measured.
const followVariable = "EBSCOPE_TEST_FOLLOW"

func TestMain(m *testing.M) {
	if run := os.Getenv(followVariable); run != "" {
		if err := follow(run, os.Getenv("KUBECONFIG"), os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

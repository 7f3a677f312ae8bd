//go:build unix

package intake_test

import (
	"context"
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"ebscope/internal/intake"
)

func TestStopWhileOpening(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skipf("no named pipes in %s (%v); run: TMPDIR=/tmp go test ./internal/intake", filepath.Dir(fifo), err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := intake.Open(ctx, []string{fifo}, nil, intake.Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

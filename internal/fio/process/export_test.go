package process

import (
	"testing"
	"time"
)

// SetPatience shortens, until the test is over, how long a fio may take to answer.
func SetPatience(t *testing.T, d time.Duration) {
	t.Helper()
	usual := patience
	patience = d
	t.Cleanup(func() { patience = usual })
}

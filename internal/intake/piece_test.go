package intake

import (
	"io"
	"strings"
	"testing"
)

// endless gives bytes for ever, as what a bomb unpacks to.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

func TestWhatGrowsTooMuchEnds(t *testing.T) {
	// A MiB that unpacks to 500 times its size may; a byte more may not.
	b := &bounded{r: endless{}, packed: &counting{n: 1 << 20}}
	n, err := io.Copy(io.Discard, b)
	if err != nil || b.err == nil || !strings.Contains(b.err.Error(), "more than 500 times its size") {
		t.Errorf("%v, %v", err, b.err)
	}
	if n < 500<<20 || n > 501<<20 {
		t.Errorf("read %d bytes, want 500 MiB", n)
	}
}

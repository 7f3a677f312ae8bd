package output

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"
)

// repeated is a text over and over.
type repeated struct{ text []byte }

func (r repeated) Read(b []byte) (n int, err error) {
	for n+len(r.text) <= len(b) {
		n += copy(b[n:], r.text)
	}
	return n, nil
}

// A line of braces is no object, however long it is: it takes neither memory nor a new start at each brace.
func TestBraces(t *testing.T) {
	const size, most = 4 << 20, 1 << 20
	for _, text := range []string{"{", "{ ", "{\n"} {
		r := io.LimitReader(repeated{bytes.Repeat([]byte(text), 512)}, size)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := Read("a.json", r)
		runtime.ReadMemStats(&after)
		if err == nil || after.TotalAlloc-before.TotalAlloc > most && text != "{\n" {
			t.Errorf("%q: error %v, %d MiB allocated", text, err, (after.TotalAlloc-before.TotalAlloc)>>20)
		}
	}
	// A document may follow on the same line.
	readings, _, err := Read("a.json", strings.NewReader(`{{ { {"fio version":"fio-3.33","jobs":[{"jobname":"a","read":{"iops":5}}]}`))
	if err != nil || len(readings) != 1 {
		t.Errorf("behind braces: %d readings, error %v", len(readings), err)
	}
	// So may one wherever the buffer happens to end.
	for n := bufferSize - 1100; n < bufferSize+100; n += 7 {
		text := strings.Repeat("x", n) + "{ [{ {\n" + `{"fio version":"fio-3.33","jobs":[{"jobname":"a","read":{"iops":5}}]}`
		readings, notes, err := Read("a.json", strings.NewReader(text))
		if err != nil || len(readings) != 1 || len(notes) != 1 {
			t.Fatalf("behind %d bytes: %d readings, notes %v, error %v", n, len(readings), notes, err)
		}
	}
}

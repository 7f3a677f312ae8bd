package intake_test

import (
	"bytes"
	"errors"
	"testing"

	"ebscope/internal/intake"
)

// Whatever comes in: there is a reading, or an error that says what was expected.
func FuzzOpen(f *testing.F) {
	for _, seed := range []string{"", "{", document("a", 60, ""), logOf(3, 0, 3000), "hello\n", "\x1f\x8b\x08", "PK\x03\x04", "(\xb5/\xfd", "BZh91AY&SY", `["a"]`, "\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		readings, notes, err := intake.Open(t.Context(), []string{intake.Stdin}, bytes.NewReader(text), intake.Options{})
		var nothing *intake.NothingError
		if err != nil && !errors.As(err, &nothing) || err == nil && len(readings) == 0 {
			t.Errorf("%d readings, %v", len(readings), err)
		}
		for _, n := range notes {
			if n.Text == "" || n.File == "" {
				t.Errorf("a note without place or words: %+v", n)
			}
		}
	})
}

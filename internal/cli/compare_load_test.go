package cli

import (
	"strings"
	"testing"
)

// Between commas there is something, or else the arguments are wrong.
func TestRepeatsNameSomething(t *testing.T) {
	for _, arg := range []string{",", "a.json,", ",a.json", "a.json, ,b.json"} {
		if _, err := repeats(arg); err == nil || !strings.Contains(err.Error(), "names nothing") {
			t.Errorf("%q: error %v", arg, err)
		}
	}
	if paths, err := repeats("a.json,b.json"); err != nil || len(paths) != 2 {
		t.Errorf("%q, error %v", paths, err)
	}
}

package cli

import (
	"bytes"
	"testing"
)

func TestColours(t *testing.T) {
	for _, tt := range []struct {
		noColor, term string
		want          bool
	}{
		{"", "xterm-256color", true},
		{"1", "xterm-256color", false},
		{"", "dumb", false},
		{"", "", true}, // Windows sets none
	} {
		t.Setenv("NO_COLOR", tt.noColor)
		t.Setenv("TERM", tt.term)
		if got := colours(); got != tt.want {
			t.Errorf("NO_COLOR=%q TERM=%q: colours %v, want %v", tt.noColor, tt.term, got, tt.want)
		}
	}
}

func TestCanvasOfNoTerminal(t *testing.T) {
	if width, colour := canvas(new(bytes.Buffer)); width != 80 || colour {
		t.Errorf("a file has width %d, colours %v; want 80 columns without", width, colour)
	}
}

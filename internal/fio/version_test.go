package fio_test

import (
	"testing"

	"ebscope/internal/fio"
)

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]fio.Version{
		"fio-3.33":                   {3, 33},
		"fio-3.1":                    {3, 1},
		"fio-2.21":                   {2, 21},
		"fio-2.1.11":                 {2, 1},
		"fio-3.35-118-g4a0c76-dirty": {3, 35},
	} {
		if got, err := fio.ParseVersion(text); err != nil || got != want {
			t.Errorf("ParseVersion(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "fio", "3.33", "fio-3", "fio-x.y", "GNU coreutils 9.1", "fio-99999.1"} {
		if got, err := fio.ParseVersion(text); err == nil {
			t.Errorf("ParseVersion(%q) = %v, want an error", text, got)
		}
	}
}

func TestAtLeast(t *testing.T) {
	for _, tt := range []struct {
		a, b fio.Version
		want bool
	}{
		{fio.Version{Major: 3, Minor: 1}, fio.Version{Major: 3, Minor: 1}, true},
		{fio.Version{Major: 3, Minor: 10}, fio.Version{Major: 3, Minor: 9}, true},
		{fio.Version{Major: 3, Minor: 0}, fio.Version{Major: 3, Minor: 1}, false},
		{fio.Version{Major: 2, Minor: 21}, fio.Version{Major: 3, Minor: 1}, false},
		{fio.Version{Major: 4, Minor: 0}, fio.Version{Major: 3, Minor: 18}, true},
	} {
		if got := tt.a.AtLeast(tt.b); got != tt.want {
			t.Errorf("%v.AtLeast(%v) = %v", tt.a, tt.b, got)
		}
	}
}

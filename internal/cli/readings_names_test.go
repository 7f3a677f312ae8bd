package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/analyze"
	"ebscope/internal/result"
)

// A name may be as long as it likes: findings speak of it by its start and its end.
func TestLongNamesAreShortened(t *testing.T) {
	p := analyze.Phase{Name: strings.Repeat("J", 5000), Foreign: &analyze.Foreign{Source: result.Source{File: "a.json"}}}
	if name := base(p); utf8.RuneCountInString(name) != 64 || !strings.HasPrefix(name, "a.json J") {
		t.Errorf("%d characters: %s", utf8.RuneCountInString(name), name)
	}
}

func TestNamesThatOnlyTheEndingTellsApart(t *testing.T) {
	var all []analyze.Phase
	for _, file := range []string{"d/a.json", "d/a.txt", "d/a.json.gz", "d/b.json", "d/b.json"} {
		all = append(all, analyze.Phase{Foreign: &analyze.Foreign{Source: result.Source{File: file}}})
	}
	var got []string
	for _, p := range all {
		got = append(got, place(p, "d/", shortNames(all)))
	}
	if diff := cmp.Diff([]string{"a.json", "a.txt", "a.json.gz", "b", "b"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

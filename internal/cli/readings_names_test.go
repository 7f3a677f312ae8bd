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

// A heading may be as long as two names of 64 characters: it is wrapped as the text below it is.
func TestCandidatesHeadingIsWrapped(t *testing.T) {
	p := analyze.Phase{Name: strings.Repeat("J", 5000), Foreign: &analyze.Foreign{
		Source: result.Source{File: "a.json"}, Candidates: []analyze.Candidate{{Configuration: "gp2", Text: "why", Fit: 0.1}},
	}}
	var b strings.Builder
	writeCandidates(&b, []analyze.Phase{p}, 80)
	if !strings.Contains(b.String(), "Might explain") {
		t.Fatal(b.String())
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

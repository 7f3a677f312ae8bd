package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/analyze"
	"ebscope/internal/result"
)

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

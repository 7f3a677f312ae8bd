package cli

import (
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"

	"ebscope/internal/analyze"
	"ebscope/internal/result"
)

// Names in characters that take two columns keep the table straight: the verdict begins where its title does.
func TestWideNames(t *testing.T) {
	var all []analyze.Phase
	for _, name := range []string{"plain", "测试卷顺序写", "🚀🚀 burst", "一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十"} {
		all = append(all, analyze.Phase{Name: name, RW: "randread", Verdict: analyze.Sustained, Foreign: &analyze.Foreign{Source: result.Source{File: name + ".json"}}})
	}
	var b strings.Builder
	writeReadingTable(&b, all, 80)
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 5 {
		t.Fatalf("%d lines, want a heading and four:\n%s", len(lines), b.String())
	}
	title, _, _ := strings.Cut(lines[0], "verdict")
	for _, line := range lines[1:] {
		before, _, found := strings.Cut(line, "sustained")
		if !found || text.StringWidth(before) != text.StringWidth(title) {
			t.Errorf("the verdict is not in column %d:\n%s", text.StringWidth(title), b.String())
		}
		if n := text.StringWidth(line); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestShortenedByWidth(t *testing.T) {
	for _, tt := range []struct {
		name  string
		width int
		want  string
	}{
		{"fio-randread.json", 10, "fio-ra…son"}, // 6, a mark, 3
		{"一二三四五六", 12, "一二三四五六"},
		{"一二三四五六", 10, "一二三…六"}, // 6, a mark, and 2 of 3, for a character has two
	} {
		if got := shortened(tt.name, tt.width); got != tt.want {
			t.Errorf("%q in %d: %q, want %q", tt.name, tt.width, got, tt.want)
		}
	}
}

package claims_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ebscope/internal/claims"
	"ebscope/internal/ebs"
)

func read(t *testing.T, path string) []claims.Claim {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	stated, err := claims.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return stated
}

func judge(t *testing.T, c claims.Claim) claims.Judgement {
	t.Helper()
	j, err := claims.Judge(c, ebs.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// texts joins the findings of a verdict.
func texts(j claims.Judgement, v claims.Verdict) string {
	var all []string
	for _, f := range j.Findings {
		if f.Verdict == v {
			all = append(all, f.Text)
		}
	}
	return strings.Join(all, " ")
}

// What was measured and written down correctly must come out as possible.
func TestRightClaimsArePossible(t *testing.T) {
	for _, c := range read(t, filepath.Join("testdata", "right.yaml")) {
		if j := judge(t, c); j.Verdict != claims.Possible {
			t.Errorf("line %d, %s: %s: %+v", c.Line, c.Name, j.Verdict, j.Findings)
		}
	}
}

// The statements of the example, among them three wrong ones of an article.
func TestExample(t *testing.T) {
	want := []struct {
		verdict claims.Verdict
		text    []string
	}{
		{claims.Impossible, []string{"4,000 IOPS"}}, // 1,000 MiB/s ÷ 0.25 MiB/s per IOPS
		// 5.4 M ÷ (3,000 − 300) = 2,000 s; 30 s × 2,700 = 81,000 of 5.4 M = 1.5 %
		{claims.Impossible, []string{"5,400,000 ÷ (3,000 − 300) = 2,000 s", "implies a starting balance of 1.5 %"}},
		// 8 ÷ 2,900 = 2.759 ms; (2.759 − 0.99 × 2) ÷ 0.01 = 77.9 ms; 2,900 is 97 % of the volume's 3,000
		{claims.Impossible, []string{"8 outstanding ÷ 2,900 IOPS = a mean of 2.76 ms", "slowest 1 % would have to take 77.86 ms"}},
		{claims.Possible, nil},
		{claims.Possible, nil},
		// 600 s × 2,700 = 1.62 M of 5.4 M
		{claims.Implies, []string{"starting balance of 30 %"}},
	}
	stated := read(t, filepath.Join("..", "..", "docs", "examples", "claims.yaml"))
	if len(stated) != len(want) {
		t.Fatalf("%d claims, want %d", len(stated), len(want))
	}
	for i, w := range want {
		j := judge(t, stated[i])
		if j.Verdict != w.verdict {
			t.Errorf("%s: %s, want %s: %+v", j.Claim.Name, j.Verdict, w.verdict, j.Findings)
		}
		for _, text := range w.text {
			if !strings.Contains(texts(j, w.verdict), text) {
				t.Errorf("%s: no %q in %q", j.Claim.Name, text, texts(j, w.verdict))
			}
		}
	}
}

// The claims shown in the README: none of the three can be.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(text), "```yaml\nclaims:")
	block, _, closed := strings.Cut(block, "```")
	if !found || !closed {
		t.Fatal("the README shows no claims")
	}
	stated, err := claims.Parse([]byte("claims:" + block))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range stated {
		if j := judge(t, c); j.Verdict != claims.Impossible {
			t.Errorf("%s: %s: %+v", c.Name, j.Verdict, j.Findings)
		}
	}
}

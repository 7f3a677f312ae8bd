package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"ebscope/internal/claims"
	"ebscope/internal/ebs"
)

func newCheckCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "check CLAIMS.yaml",
		Short: "Say which stated results cannot be, and why",
		Long: `Holds stated results (a volume, a workload, IOPS, latency, the time of a fall, a monthly cost) against Little's law, the
documented limits, credits, ratios and prices. It says which cannot be, which hold only under a condition that they do not state, and
what is missing, with the arithmetic. "-" reads from standard input.

Exit code 3: at least one claim is impossible.`,
		Example: `  ebscope check docs/examples/claims.yaml
  ebscope check -o json - < claims.yaml`,
		Args: oneArg("a file of claims"),
		RunE: func(cmd *cobra.Command, args []string) error {
			catalog, err := catalogOf(cmd)
			if err != nil {
				return err
			}
			return runCheck(args[0], catalog, output, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	outputFlag(cmd, &output, "text", "json")
	return cmd
}

func runCheck(path string, catalog *ebs.Catalog, output string, stdin io.Reader, stdout io.Writer) error {
	text, err := readClaims(path, stdin)
	if err != nil {
		return err
	}
	stated, err := claims.Parse(text)
	if err != nil {
		return usage("%s: %w", path, err)
	}
	judged := make([]claims.Judgement, len(stated))
	impossible := 0
	for i, c := range stated {
		if judged[i], err = claims.Judge(c, catalog); err != nil {
			return usage("%s: %w", path, err)
		}
		if judged[i].Verdict == claims.Impossible {
			impossible++
		}
	}
	if output == "json" {
		err = checkJSON(stdout, judged)
	} else {
		err = checkText(stdout, judged)
	}
	if err == nil && impossible > 0 {
		err = thresholdError{fmt.Errorf("%d of %d claims cannot be", impossible, len(judged))}
	}
	return err
}

// maxClaims bounds what is read before it is parsed; the parser refuses less.
const maxClaims = 2 << 20

func readClaims(path string, stdin io.Reader) ([]byte, error) {
	r := stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, usage("read the claims: %w", err)
		}
		defer func() { _ = f.Close() }() // nothing was written
		r = f
	}
	text, err := io.ReadAll(io.LimitReader(r, maxClaims))
	if err != nil {
		return nil, usage("read the claims: %w", err)
	}
	return text, nil
}

// The JSON form of judgements.
type checkDocument struct {
	Claims []checkedClaim `json:"claims"`
}

type checkedClaim struct {
	Name     string         `json:"name"`
	Line     int            `json:"line"`
	Source   string         `json:"source,omitempty"`
	Verdict  claims.Verdict `json:"verdict"`
	Findings []claimFinding `json:"findings"`
}

type claimFinding struct {
	Verdict claims.Verdict `json:"verdict"`
	Law     claims.Law     `json:"law"`
	Text    string         `json:"text"`
}

func checkJSON(w io.Writer, judged []claims.Judgement) error {
	d := checkDocument{Claims: make([]checkedClaim, len(judged))}
	for i, j := range judged {
		c := checkedClaim{Name: j.Claim.Name, Line: j.Claim.Line, Source: j.Claim.Source, Verdict: j.Verdict, Findings: []claimFinding{}}
		for _, f := range j.Findings {
			c.Findings = append(c.Findings, claimFinding(f))
		}
		d.Claims[i] = c
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(d)
}

var claimWords = map[claims.Verdict]string{
	claims.Impossible: "IMPOSSIBLE", claims.Implies: "IMPLIES", claims.Possible: "possible", claims.Unjudged: "cannot be judged",
}

// checkText prints each claim with what decided the verdict on it: the other findings are in the JSON form.
func checkText(w io.Writer, judged []claims.Judgement) error {
	var b strings.Builder
	width := textWidth(w)
	for _, j := range judged {
		b.WriteString(wrapped(claimWords[j.Verdict]+": "+visible(j.Claim.Name), "", width))
		for _, f := range j.Findings {
			switch f.Verdict {
			case j.Verdict:
				b.WriteString(wrapped(visible(f.Text), "  ", width))
			case claims.Unjudged:
				b.WriteString(wrapped("Not judged. "+visible(f.Text), "  ", width))
			}
		}
		if len(j.Findings) == 0 {
			b.WriteString(wrapped("It states no figure that a law, a limit or a price is about.", "  ", width))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

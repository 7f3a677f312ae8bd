package cli

import (
	"io"

	"ebscope/internal/analyze"
	"ebscope/internal/report"
)

// againstDocument is what simulate --against prints with -o json.
type againstDocument struct {
	Schema string              `json:"schema"`
	Run    analyze.Identity    `json:"run"` // that was measured
	Rows   []analyze.Agreement `json:"rows"`
}

// showAgainst prints a measured run and its prediction side by side.
func showAgainst(w io.Writer, r report.Report, format string) error {
	rows := analyze.Agreements(r.Document)
	if format == "json" {
		return writeJSON(w, againstDocument{Schema: "ebscope.against/v1", Run: r.Document.Run, Rows: rows})
	}
	width, colour := canvas(w)
	return report.Against(w, r, rows, width, colour)
}

package report

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"ebscope/internal/analyze"
	"ebscope/internal/result"
)

// Parameters are what an artefact was made from and with. Every artefact carries them, so that one that was passed on
// can still be traced and made anew.
type Parameters struct {
	Tool         string          `json:"tool"`    // program and version that made the artefact
	Command      string          `json:"command"` // its command line
	Run          string          `json:"run,omitempty"`
	Profile      string          `json:"profile,omitempty"`
	Target       result.Target   `json:"target,omitempty"`
	Compress     float64         `json:"compress"`
	Started      *time.Time      `json:"started,omitempty"`
	Finished     *time.Time      `json:"finished,omitempty"`
	MeasuredWith string          `json:"measured_with,omitempty"` // ebscope's version at the time of the run
	MeasuredBy   string          `json:"measured_by,omitempty"`   // the command line of the run
	Sources      []result.Source `json:"sources,omitempty"`       // the files, for results of other tools
	Title        string          `json:"title,omitempty"`         // as given
	Theme        Theme           `json:"theme,omitempty"`
	Labels       []string        `json:"labels"` // what a reader must see before any figure: emulated, compressed
	Schema       string          `json:"analysis_schema"`
}

// Parameters returns what the report is made from and with.
func (r Report) Parameters() Parameters {
	p := Parameters{
		Tool: r.Tool, Command: r.Command, Run: r.Document.Run.ID, Profile: r.Document.Run.Profile, Target: r.Document.Run.Target,
		Compress: r.compress(), Finished: r.Run.Finished, MeasuredWith: r.Run.Tool, MeasuredBy: r.Run.Command,
		Title: r.Title, Theme: r.Theme, Labels: r.labels(), Schema: analyze.Schema,
	}
	if !r.Document.Run.Started.IsZero() {
		started := r.Document.Run.Started.UTC()
		p.Started = &started
	}
	if p.Tool == "" {
		p.Tool = r.Run.Tool
	}
	if p.Command == "" {
		p.Command = r.Run.Command
	}
	seen := map[result.Source]bool{}
	for _, reading := range r.Readings {
		if !seen[reading.Source] {
			seen[reading.Source] = true
			p.Sources = append(p.Sources, reading.Source)
		}
	}
	return p
}

// text returns the parameters as JSON in ASCII, which any place for text takes.
func (p Parameters) text() string {
	raw, err := json.Marshal(p)
	if err != nil {
		panic(err) // compress is at least 1 and no NaN; there is nothing else that JSON cannot hold
	}
	var ascii []byte
	for _, c := range string(raw) {
		switch {
		case c < 0x80:
			ascii = append(ascii, byte(c))
		case c < 0x10000:
			ascii = fmt.Appendf(ascii, `\u%04x`, c)
		default:
			c -= 0x10000
			ascii = fmt.Appendf(ascii, `\u%04x\u%04x`, 0xd800+c>>10, 0xdc00+c&0x3ff)
		}
	}
	return string(ascii)
}

// Analysis is the machine-readable report: the analysis, and what it was made from and with.
type Analysis struct {
	analyze.Document
	Parameters *Parameters `json:"parameters,omitempty"`
}

// JSON writes the analysis in the form that docs/schema publishes.
func JSON(w io.Writer, r Report) error {
	p := r.Parameters()
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(Analysis{r.Document, &p}); err != nil {
		return fmt.Errorf("write the analysis: %w", err)
	}
	return nil
}

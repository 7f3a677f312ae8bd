// Package output reads what fio wrote: its JSON and its averaged logs.
package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"time"
)

// Document is a JSON document of fio, and the text that fio wrote around it.
type Document struct {
	Version string // as fio states it, such as "fio-3.33"
	// Messages are the lines of text before and after the document: fio prints errors and notices into it.
	Messages []string

	options map[string]string // that hold for all jobs
	jobs    []jobResult
}

// jobResult is one job, or one group of jobs, as far as it is used.
type jobResult struct {
	Name    string            `json:"jobname"`
	Error   int64             `json:"error"`
	Options map[string]string `json:"job options"`
	Read    direction         `json:"read"`
	Write   direction         `json:"write"`
}

type direction struct {
	Bytes    int64   `json:"io_bytes"`
	BW       float64 `json:"bw"`       // KiB/s
	BWBytes  float64 `json:"bw_bytes"` // bytes/s, more exact, not in every version
	IOPS     float64 `json:"iops"`
	Runtime  int64   `json:"runtime"` // ms
	TotalIOs int64   `json:"total_ios"`
	Lat      latency `json:"lat_ns"`
	Clat     latency `json:"clat_ns"`
}

// latency is in nanoseconds.
type latency struct {
	Min        float64            `json:"min"`
	Max        float64            `json:"max"`
	Mean       float64            `json:"mean"`
	N          *int64             `json:"N"` // not in every version
	Percentile map[string]float64 `json:"percentile"`
	Bins       map[string]int64   `json:"bins"` // with json+
}

// maxFile bounds what is read of one file. A phase of a week, logged every 100 ms, stays below.
const maxFile = 256 << 20

func readAll(name string, r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s is larger than %d MiB, too large for output of fio", name, maxFile>>20)
	}
	return text, nil
}

// documentStart is how a document of fio begins. Text may stand before it on the same line.
var documentStart = regexp.MustCompile(`\{\s*"(fio version|global options|jobs|client_stats)"`)

// ReadDocument reads fio's JSON, in which text may stand before and after the document. The name is that of the file,
// for errors.
func ReadDocument(name string, r io.Reader) (Document, error) {
	text, err := readAll(name, r)
	if err != nil {
		return Document{}, err
	}
	at := documentStart.FindIndex(text)
	if at == nil {
		return Document{}, noDocument(name, text)
	}
	before, text := text[:at[0]], text[at[0]:]

	var raw struct {
		Version     string            `json:"fio version"`
		Options     map[string]string `json:"global options"`
		Jobs        []jobResult       `json:"jobs"`
		ClientStats []jobResult       `json:"client_stats"` // instead of jobs, where fio ran on other machines
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&raw); err != nil {
		return Document{}, damaged(name, err, int64(len(before)), int64(len(before)+len(text)))
	}
	after := text[decoder.InputOffset():]
	if documentStart.Match(after) {
		return Document{}, fmt.Errorf("%s holds more than one document of fio; give each a file of its own", name)
	}
	d := Document{Version: raw.Version, options: raw.Options, jobs: raw.Jobs, Messages: append(messages(before), messages(after)...)}
	for _, job := range raw.ClientStats {
		if job.Name != "All clients" { // the sum of the others
			d.jobs = append(d.jobs, job)
		}
	}
	if len(d.jobs) == 0 {
		return Document{}, fmt.Errorf("%s has no jobs in its JSON", name)
	}
	return d, nil
}

func noDocument(name string, text []byte) error {
	said := messages(text)
	if len(said) == 0 {
		return fmt.Errorf("%s is empty: fio was killed before it could write its results", name)
	}
	return fmt.Errorf("%s holds no JSON of fio; it says: %s", name, strings.Join(said[:min(len(said), 3)], "; "))
}

// damaged names the byte at which a document cannot be read.
func damaged(name string, err error, start, size int64) error {
	var (
		syntax *json.SyntaxError
		value  *json.UnmarshalTypeError
	)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s is cut off at byte %d, in the middle of the document: run the phase again", name, size)
	case errors.As(err, &syntax):
		return fmt.Errorf("%s is damaged at byte %d: %w", name, start+syntax.Offset, err)
	case errors.As(err, &value):
		return fmt.Errorf("%s is damaged at byte %d: %q is a JSON %s", name, start+value.Offset, value.Field, value.Value)
	default:
		return fmt.Errorf("%s is damaged: %w", name, err)
	}
}

// maxMessages bounds what is kept: with a broken disk, fio prints a line for every I/O.
const maxMessages = 100

// messages returns the lines that hold text.
func messages(text []byte) (lines []string) {
	for line := range bytes.Lines(text) {
		clean := strings.TrimSpace(strings.TrimPrefix(strings.ToValidUTF8(string(line), "\uFFFD"), "\uFEFF"))
		if clean == "" {
			continue
		}
		if len(lines) == maxMessages {
			return append(lines, "… and more")
		}
		lines = append(lines, clean)
	}
	return lines
}

// JobError says that a job of fio failed, though fio wrote results.
type JobError struct {
	Code int      // of the operating system; some engines have negative codes of their own
	Text []string // what fio said
}

func (e *JobError) Error() string {
	text := fmt.Sprintf("fio's job failed with error %d", e.Code)
	if len(e.Text) > 0 {
		text += ": " + strings.Join(e.Text[:min(len(e.Text), 3)], "; ")
	}
	return text
}

// Err returns a JobError for the first job that failed, and nil where all succeeded.
func (d Document) Err() error {
	for _, job := range d.jobs {
		if job.Error != 0 {
			// fio prints its 32-bit codes without their sign.
			return &JobError{Code: int(int32(job.Error)), Text: d.Messages}
		}
	}
	return nil
}

// option returns what all jobs were told, or what the first was told for itself.
func (d Document) option(name string) string {
	if value, ok := d.jobs[0].Options[name]; ok {
		return value
	}
	return d.options[name]
}

// runtime returns how long the jobs were told to run at most, without a unit in seconds.
func (d Document) runtime() time.Duration {
	const forEver = time.Duration(math.MaxInt64 / 2)
	text := d.option("runtime")
	if text == "" {
		return forEver
	}
	if c := text[len(text)-1]; c >= '0' && c <= '9' {
		text += "s"
	}
	limit, err := time.ParseDuration(text)
	if err != nil || limit <= 0 {
		return forEver
	}
	return min(limit, forEver)
}

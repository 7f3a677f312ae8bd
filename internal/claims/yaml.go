package claims

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// Bounds on a file of claims, far above any real one.
const (
	maxFileSize = 1 << 20
	maxClaims   = 1000
)

// Parse reads claims from YAML. It is strict: an unknown key, a missing unit or a senseless number is an error that
// gives its line.
func Parse(text []byte) ([]Claim, error) {
	if len(text) > maxFileSize {
		return nil, fmt.Errorf("a file of claims of %d bytes is too large; at most %d", len(text), maxFileSize)
	}
	var form fileForm
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&form); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("line 1: the file is empty; start it with the key claims")
		}
		return nil, plain(err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("the file has more than one YAML document; use one")
	}
	lines, err := claimLines(text)
	if err != nil {
		return nil, err
	}
	switch {
	case len(form.Claims) == 0:
		return nil, errors.New("line 1: there are no claims; list them under the key claims")
	case len(form.Claims) > maxClaims:
		return nil, fmt.Errorf("%d claims, at most %d", len(form.Claims), maxClaims)
	case len(lines) != len(form.Claims):
		return nil, errors.New("line 1: write the claims as a plain list, without aliases")
	}
	claims := make([]Claim, len(form.Claims))
	for i, f := range form.Claims {
		claims[i] = f.claim(lines[i])
		if err := claims[i].validate(); err != nil {
			return nil, fmt.Errorf("line %d: claim %q: %w", lines[i], claims[i].Name, err)
		}
	}
	return claims, nil
}

// claimLines finds the line on which each claim starts.
func claimLines(text []byte) ([]int, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, plain(err)
	}
	var lines []int
	keys := document.Content[0].Content
	for i := 0; i+1 < len(keys); i += 2 {
		if keys[i].Value == "claims" {
			for _, item := range keys[i+1].Content {
				lines = append(lines, item.Line)
			}
		}
	}
	return lines, nil
}

// plain takes the decoder's Go type names out of an error that a user reads.
func plain(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: unmarshal errors:\n  ")
	text = strings.ReplaceAll(strings.TrimPrefix(text, "yaml: "), "\n  ", "; ")
	text = strings.ReplaceAll(text, "field ", "key ")
	for _, name := range []string{"file", "claim", "volume", "workload", "result", "rule"} {
		text = strings.ReplaceAll(text, "not found in type claims."+name+"Form", "is unknown in a "+name)
		text = strings.ReplaceAll(text, "into claims."+name+"Form", "as a "+name)
		text = strings.ReplaceAll(text, "into []claims."+name+"Form", "as a list of "+name+"s")
	}
	return errors.New(text)
}

// The YAML form.
type fileForm struct {
	Claims []claimForm `yaml:"claims"`
}

type claimForm struct {
	Name     string       `yaml:"name"`
	Source   string       `yaml:"source"`
	Volume   volumeForm   `yaml:"volume"`
	Instance string       `yaml:"instance"`
	Region   string       `yaml:"region"`
	Workload workloadForm `yaml:"workload"`
	Balance  *percent     `yaml:"balance"`
	Rest     duration     `yaml:"rest"`
	Duration duration     `yaml:"duration"`
	Result   resultForm   `yaml:"result"`
	Rule     *ruleForm    `yaml:"rule"`
}

type volumeForm struct {
	Type       string     `yaml:"type"`
	Size       size       `yaml:"size"`
	IOPS       rate       `yaml:"iops"`
	Throughput throughput `yaml:"throughput"`
}

type workloadForm struct {
	Pattern    string `yaml:"rw"`
	BlockSize  size   `yaml:"block_size"`
	QueueDepth *int   `yaml:"queue_depth"`
	Jobs       *int   `yaml:"jobs"`
}

type resultForm struct {
	IOPS       rate       `yaml:"iops"`
	Throughput throughput `yaml:"throughput"`
	Mean       latency    `yaml:"mean"`
	P50        latency    `yaml:"p50"`
	P95        latency    `yaml:"p95"`
	P99        latency    `yaml:"p99"`
	Max        latency    `yaml:"max"`
	FallsAfter duration   `yaml:"falls_after"`
	IOPSAfter  rate       `yaml:"iops_after"`
	Monthly    *money     `yaml:"monthly"`
}

type ruleForm struct {
	Type       string     `yaml:"type"`
	IOPS       rate       `yaml:"iops"`
	Throughput throughput `yaml:"throughput"`
	LeastIOPS  rate       `yaml:"least_iops"`
	LeastSize  size       `yaml:"least_size"`
}

func (f claimForm) claim(line int) Claim {
	c := Claim{
		Name: f.Name, Source: f.Source, Line: line, Instance: f.Instance, Region: f.Region,
		Volume: ebs.Volume{Type: ebs.Type(f.Volume.Type), Size: units.Bytes(f.Volume.Size), IOPS: units.IOPS(f.Volume.IOPS),
			Throughput: units.Throughput(f.Volume.Throughput)},
		Workload: Workload{Pattern: workload.Pattern(f.Workload.Pattern), BlockSize: units.Bytes(f.Workload.BlockSize),
			QueueDepth: count(f.Workload.QueueDepth, 0), Jobs: count(f.Workload.Jobs, 1)},
		Balance: (*float64)(f.Balance), Rest: time.Duration(f.Rest), Duration: time.Duration(f.Duration),
		Result: Result{
			IOPS: units.IOPS(f.Result.IOPS), Throughput: units.Throughput(f.Result.Throughput),
			Mean: Latency(f.Result.Mean), P50: Latency(f.Result.P50), P95: Latency(f.Result.P95), P99: Latency(f.Result.P99),
			Max: Latency(f.Result.Max), FallsAfter: time.Duration(f.Result.FallsAfter), IOPSAfter: units.IOPS(f.Result.IOPSAfter),
			Monthly: (*Money)(f.Result.Monthly),
		},
	}
	if r := f.Rule; r != nil {
		c.Rule = &Rule{Type: ebs.Type(r.Type), IOPS: units.IOPS(r.IOPS), Throughput: units.Throughput(r.Throughput),
			LeastIOPS: units.IOPS(r.LeastIOPS), LeastSize: units.Bytes(r.LeastSize)}
	}
	return c
}

// count is a stated whole number, or its default. A stated zero becomes −1, so that validate refuses it.
func count(stated *int, otherwise int) int {
	switch {
	case stated == nil:
		return otherwise
	case *stated == 0:
		return -1
	default:
		return *stated
	}
}

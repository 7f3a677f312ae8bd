package claims_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/claims"
	"ebscope/internal/ebs"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

func TestParse(t *testing.T) {
	got, err := claims.Parse([]byte(`
claims:
  - name: all of it
    source: somewhere
    volume: {type: gp3, size: 100GiB, iops: 6000, throughput: 250MiB/s}
    instance: m5.xlarge
    region: eu-west-1
    workload: {rw: randread, block_size: 4KiB, queue_depth: 32, jobs: 2}
    balance: 40%
    rest: 2m
    duration: 10m
    result: {iops: 3001, throughput: 275MB/s, mean: 10.4ms, p50: 10ms, p95: 11ms, p99: <13ms, max: 1s, falls_after: 60s, iops_after: 300, monthly: $9.12}
  - {name: a rule, rule: {type: gp2, iops: 3000, least_size: 1000GiB}}
`))
	if err != nil {
		t.Fatal(err)
	}
	balance := 0.4
	latency := func(d time.Duration) claims.Latency { return claims.Latency{Value: d} }
	want := []claims.Claim{{
		Name: "all of it", Source: "somewhere", Line: 3, Instance: "m5.xlarge", Region: "eu-west-1",
		Volume:   ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB, IOPS: 6000, Throughput: 250 * units.MiBPerSecond},
		Workload: claims.Workload{Pattern: workload.RandRead, BlockSize: 4 * units.KiB, QueueDepth: 32, Jobs: 2},
		Balance:  &balance, Rest: 2 * time.Minute, Duration: 10 * time.Minute,
		Result: claims.Result{
			IOPS: 3001, Throughput: 275 * units.MBPerSecond, Mean: latency(10400 * time.Microsecond), P50: latency(10 * time.Millisecond),
			P95: latency(11 * time.Millisecond), P99: claims.Latency{Value: 13 * time.Millisecond, Below: true}, Max: latency(time.Second),
			FallsAfter: time.Minute, IOPSAfter: 300, Monthly: &claims.Money{Value: 9.12, Rounding: 0.005},
		},
	}, {
		Name: "a rule", Line: 13, Workload: claims.Workload{Jobs: 1},
		Rule: &claims.Rule{Type: ebs.GP2, IOPS: 3000, LeastSize: 1000 * units.GiB},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseRefuses(t *testing.T) {
	claim := func(keys string) string { return "claims:\n  - name: stated\n" + indent(keys) }
	tests := []struct{ name, text, want string }{
		{"nothing", "", "line 1: the file is empty"},
		{"no claims", "claims: []", "line 1: there are no claims"},
		{"a scalar", "hello", "line 1"},
		{"a claim that is no map", "claims:\n  - hello", "line 2"},
		{"two documents", "claims: []\n---\nclaims: []", "more than one YAML document"},
		{"an unknown key", claim("result: {iops: 3000}\nresults: {iops: 3000}"), "line 4: key results is unknown in a claim"},
		{"an unknown figure", claim("result: {p999: 1ms}"), "line 3: key p999 is unknown in a result"},
		{"a key twice", claim("result: {iops: 3000}\nresult: {iops: 3000}"), "line 4"},
		{"no name", "claims:\n  - result: {iops: 3000}", `line 2: claim "": it needs a name`},
		{"no result", claim("volume: {type: gp3, size: 100GiB}"), "line 2: claim \"stated\": it states no result"},
		{"a size without a unit", claim("volume: {type: gp3, size: 100}\nresult: {iops: 3000}"), "line 3: size \"100\" has no unit"},
		{"decimal gigabytes", claim("volume: {type: gp3, size: 100GB}\nresult: {iops: 3000}"), "line 3: size \"100GB\" is in decimal GB"},
		{"negative IOPS", claim("result: {iops: -1}"), "line 3: IOPS \"-1\" must be greater than zero"},
		{"an exponent beyond sense", claim("result: {iops: 1e30}"), "line 3: IOPS \"1e30\" must be greater than zero and at most a billion"},
		{"an exponent", claim("result: {iops: 1e3}"), "line 3: IOPS \"1e3\": write it in plain digits"},
		{"zero IOPS", claim("result: {iops: 0}"), "line 3: IOPS \"0\" must be greater than zero"},
		{"NaN", claim("result: {iops: .nan}"), "line 3: IOPS \".nan\" is not a number"},
		{"overflow", claim("result: {iops: 99999999999999999999}"), "at most a billion"},
		{"a throughput without a unit", claim("result: {throughput: 125}"), "line 3: throughput \"125\": write it like 250MiB/s"},
		{"a latency without a unit", claim("result: {mean: 10}"), "line 3: latency: \"10\" is not a time"},
		{"a negative latency", claim("result: {mean: -1ms}"), "must be greater than zero"},
		{"centuries", claim("duration: 900000h\nresult: {iops: 3000}"), "line 3: time \"900000h\""},
		{"a balance above all", claim("balance: 140%\nresult: {iops: 3000}"), "line 3: \"140%\" is not a share"},
		{"an unknown pattern", claim("workload: {rw: trim}\nresult: {iops: 3000}"), "rw \"trim\": use read"},
		{"depth zero", claim("workload: {queue_depth: 0}\nresult: {iops: 3000}"), "queue_depth: use 1 to"},
		{"jobs beyond sense", claim("workload: {jobs: 1000000}\nresult: {iops: 3000}"), "jobs: use 1 to"},
		{"a floor without a fall", claim("result: {iops_after: 300}"), "iops_after needs falls_after"},
		{"a fall after the end", claim("duration: 1m\nresult: {falls_after: 2m}"), "later than the end"},
		{"a rest from nowhere", claim("rest: 1m\nresult: {iops: 300}"), "rest needs balance"},
		{"a free volume", claim("result: {monthly: 0}"), "line 3: USD a month \"0\" must be greater"},
		{"a rule and a result", claim("result: {iops: 300}\nrule: {type: gp2, iops: 3000, least_size: 1000GiB}"), "a rule stands alone"},
		{"half a rule", claim("rule: {type: gp2, least_size: 1000GiB}"), "give one"},
		{"two rules in one", claim("rule: {type: gp3, throughput: 1MiB/s, least_iops: 3000, least_size: 1GiB}"), "one of least_iops and least_size"},
		{"a rule without a type", claim("rule: {throughput: 1MiB/s, least_iops: 3000}"), "needs a type"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := claims.Parse([]byte(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "claims.") {
				t.Errorf("error %v, want one that says %q and names no Go type", err, test.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, path := range []string{filepath.Join("testdata", "right.yaml"), filepath.Join("..", "..", "docs", "examples", "claims.yaml")} {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("claims: [{name: x, result: {iops: 1e9, p99: <1ns, max: 87600h}, workload: {block_size: 1b, queue_depth: 1}}]"))
	f.Add([]byte("claims: [{name: x, volume: {type: gp2, size: 100GiB}, balance: 0%, duration: 100s, result: {iops: 309.2}}]"))
	f.Add([]byte("claims: &a [*a]"))
	f.Add([]byte("claims:\nclaims:"))
	f.Fuzz(func(t *testing.T, text []byte) {
		stated, err := claims.Parse(text)
		if err != nil {
			return
		}
		for _, c := range stated {
			j, err := claims.Judge(c, ebs.Embedded())
			if err != nil {
				continue
			}
			if len(j.Findings) == 0 && j.Verdict != claims.Unjudged {
				t.Errorf("%q: %s without a finding", c.Name, j.Verdict)
			}
			for _, f := range j.Findings {
				if strings.Contains(f.Text, "NaN") || strings.Contains(f.Text, "Inf") || strings.Contains(f.Text, "%!") {
					t.Errorf("%q: %s", c.Name, f.Text)
				}
			}
		}
	})
}

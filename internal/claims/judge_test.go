package claims_test

import (
	"fmt"
	"strings"
	"testing"

	"ebscope/internal/claims"
	"ebscope/internal/ebs"
)

// one parses a single claim from the keys after its name.
func one(t *testing.T, keys string) claims.Claim {
	t.Helper()
	stated, err := claims.Parse([]byte("claims:\n  - name: stated\n" + indent(keys)))
	if err != nil {
		t.Fatalf("%s: %v", keys, err)
	}
	return stated[0]
}

func indent(keys string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(keys), "\n") {
		fmt.Fprintf(&b, "    %s\n", strings.TrimSpace(line))
	}
	return b.String()
}

func TestJudge(t *testing.T) {
	const (
		gp2   = "volume: {type: gp2, size: 100GiB}\n"
		gp3   = "volume: {type: gp3, size: 100GiB}\n"
		depth = "workload: {rw: randread, block_size: 4KiB, queue_depth: 8}\n"
	)
	tests := []struct {
		name, keys string
		want       claims.Verdict
		text       string
	}{
		// Little's law
		{"mean too long", depth + "result: {iops: 2900, mean: 5ms}", claims.Impossible, "would take 14.5 outstanding"}, // 5 ms × 2,900
		// 1 ms × 2,000 = 2 of 8; no limit is near, so the benchmark may have held back
		{"mean short of a full queue", gp3 + depth + "result: {iops: 2000, mean: 1ms}", claims.Implies, "only 2 of them outstanding"},
		{"mean short at the limit", gp3 + depth + "result: {iops: 3000, mean: 1ms}", claims.Impossible, "At 3,000 IOPS of the volume the queue is full"},
		// 1 % at 1 s or more: 10 ms at least, above 8 ÷ 2,900 = 2.76 ms
		{"p99 too long", depth + "result: {iops: 2900, p99: 1s}", claims.Impossible, "at least 10 ms"},
		// 0.99 × 1 + 0.01 × 10 = 1.09 ms, below 2.67 ms
		{"maximum too short", gp3 + depth + "result: {iops: 3000, p99: 1ms, max: 10ms}", claims.Impossible, "at most 1.09 ms"},
		{"percentiles fall", depth + "result: {iops: 2900, p50: 3ms, p99: 2ms}", claims.Impossible, "p50 of 3 ms cannot be above the p99"},
		{"no depth", gp3 + "result: {p99: 2ms}", claims.Unjudged, "state queue_depth and iops"},
		// without depth and rate: no mean is above the maximum, and half of the I/Os take p50 or more: 0.5 × 5 ms = 2.5 ms
		{"mean above the maximum", "result: {mean: 5ms, max: 3ms}", claims.Impossible, "at most 3 ms, not 5 ms"},
		{"mean above the maximum at a rate", depth + "result: {iops: 1600, mean: 5ms, max: 3ms}", claims.Impossible, "at most 3 ms, not 5 ms"},
		// 8 ÷ 3,000 = 2.67 ms on average
		{"maximum below the mean", gp3 + depth + "result: {iops: 3000, max: 2ms}", claims.Impossible, "a maximum of 2 ms allows no more"},
		{"maximum above the mean", gp3 + depth + "result: {iops: 3000, max: 3ms}", claims.Possible, ""},
		{"mean below the median's share", "result: {mean: 0.1ms, p50: 5ms}", claims.Impossible, "at least 2.5 ms, not 0.1 ms"},
		{"mean above what the percentiles leave", "result: {mean: 5ms, p99: 1ms, max: 10ms}", claims.Impossible, "at most 1.09 ms"},
		// no I/O takes longer than the maximum, whatever the percentile says
		{"mean and p99 above the maximum", "result: {mean: 6ms, p99: 5ms, max: 4ms}", claims.Impossible, "at most 4 ms, not 6 ms"},
		{"a mean that may be lower", "result: {mean: <5ms, max: 3ms}", claims.Unjudged, "state queue_depth"},
		// throughput = rate × block size: 3,000 × 4 KiB = 11.72 MiB/s
		{"throughput of another block", gp3 + depth + "result: {iops: 3000, throughput: 125MiB/s}", claims.Impossible, "are 11.72 MiB/s, not 125 MiB/s"},
		// limits
		{"no such volume", "volume: {type: gp3, size: 20GiB, iops: 16000}\nresult: {iops: 16000}", claims.Impossible, "500 IOPS per GiB"},
		{"above the limit", gp3 + "result: {iops: 5000}", claims.Impossible, "gives at most 3,000 IOPS, not 5,000 IOPS"},
		{"above the limit for a while", gp3 + "duration: 600s\nresult: {iops: 5000}", claims.Impossible, "over 600 s"},
		{"above the throughput", gp3 + "result: {throughput: 250MiB/s}", claims.Impossible, "at most 125 MiB/s"},
		// 250 MiB/s − 143.75 MB/s = 262.144 − 143.75 = 118.394 MB/s; (593.75 − 143.75) × 1,800 = 810,000 MB last 6,842 s
		{"the instance's burst", "volume: {type: gp3, size: 100GiB, throughput: 250MiB/s}\ninstance: m5.xlarge\nresult: {throughput: 250MiB/s}",
			claims.Implies, "lasts 6,842 s at most"},
		// 118.394 MB/s × 14,400 s = 1,704,874 MB = 1,625,894 MiB
		{"longer than the instance's burst", "volume: {type: gp3, size: 100GiB, throughput: 250MiB/s}\ninstance: m5.xlarge\nduration: 4h\nresult: {throughput: 250MiB/s}",
			claims.Impossible, "takes 1,625,894 MiB"},
		{"above the instance", "instance: m5.xlarge\nresult: {iops: 20000}", claims.Impossible, "The instance gives at most 18,750 IOPS"},
		{"no volume", "result: {iops: 3000}", claims.Unjudged, "state the volume's type and size"},
		// credits: 3,000 for 2,700 s takes 7.29 M of 5.4 M
		{"longer than the credits", gp2 + "duration: 2700s\nresult: {iops: 3000}", claims.Impossible, "takes 7,290,000 more than the volume earns, but its bucket holds 5,400,000"},
		// 2,010 × 2,700 = 5,427,000; 300 + 5,400,000 ÷ 2,010 = 2,987, which is 0.4 % less than 3,000
		{"longer than the credits by less than a mean is off", gp2 + "duration: 2010s\nresult: {iops: 3000}", claims.Possible,
			"takes 5,427,000 more than the volume earns, and its bucket holds 5,400,000: that gives 2,987 IOPS, within 1 %"},
		// 300 + 5,400,000 ÷ 2,030 = 2,960, which is 1.3 % less
		{"longer than the credits by more than a mean is off", gp2 + "duration: 2030s\nresult: {iops: 3000}", claims.Impossible, "takes 5,481,000"},
		// 3,970 × 0.25 = 992.5 MiB/s; 80,000 ÷ 500 = 160 GiB; 999 × 3 = 2,997 IOPS
		{"IOPS one step too few", "rule: {type: gp3, throughput: 1000MiB/s, least_iops: 3970}", claims.Impossible, "3,970 IOPS do not do: it takes 4,000 IOPS"},
		{"IOPS one too many", "rule: {type: gp3, throughput: 1000MiB/s, least_iops: 4001}", claims.Impossible, "It does not take 4,001 IOPS"},
		{"a GiB short for the IOPS", "rule: {type: gp3, iops: 80000, least_size: 159GiB}", claims.Impossible, "gp3 159 GiB do not do: it takes gp3 160 GiB"},
		{"a GiB short for the baseline", "rule: {type: gp2, iops: 3000, least_size: 999GiB}", claims.Impossible, "gp2 999 GiB do not do: it takes gp2 1,000 GiB"},
		{"burst without an end", gp2 + "result: {iops: 3000}", claims.Implies, "3,000 IOPS lasts 2,000 s at most"},
		{"128 MiB/s spend credits", gp2 + "result: {throughput: 128MiB/s}", claims.Implies, "300 IOPS for ever; 512 IOPS"}, // 128 × 4
		// st1, 1 TiB: 40 MiB/s for ever, 250 while 1 TiB of credits lasts: 1,048,576 MiB ÷ (250 − 40) = 4,993 s
		{"st1 bursts", "volume: {type: st1, size: 1TiB}\nresult: {throughput: 250MiB/s}", claims.Implies, "250 MiB/s lasts 4,993 s at most"},
		{"st1 falls", "volume: {type: st1, size: 1TiB}\nresult: {throughput: 250MiB/s, falls_after: 4993s}", claims.Possible, "1,048,576 MiB ÷ (250 MiB − 40 MiB) = 4,993 s"},
		{"st1 after a rest", "volume: {type: st1, size: 1TiB}\nbalance: 0%\nrest: 100s\nduration: 100s\nresult: {throughput: 250MiB/s}",
			claims.Impossible, "takes 21,000 MiB more than the volume earns, but its bucket holds 4,000 MiB"},
		// each random I/O takes a whole MiB: 100 of 4 KiB are 100 MiB/s
		{"st1 at random", "volume: {type: st1, size: 1TiB}\nworkload: {rw: randread, block_size: 4KiB}\nresult: {iops: 100}",
			claims.Implies, "holds 40 MiB/s for ever; 100 MiB/s"},
		// 220 MiB/s are 880 of 900 operations of 256 KiB, but 250 MiB/s are documented only while credits last
		{"throughput without credits", "volume: {type: gp2, size: 300GiB}\nbalance: 0%\nduration: 10h\nresult: {throughput: 220MiB/s}",
			claims.Possible, "is not documented"},
		// falls
		{"gp3 falls", gp3 + "result: {iops: 3000, falls_after: 30m}", claims.Implies, "the burst of an instance ran out"},
		{"gp3 falls on an instance without burst", gp3 + "instance: m5.4xlarge\nresult: {iops: 3000, falls_after: 30m}", claims.Impossible, "it does not fall"},
		{"a fall too late", gp2 + "result: {iops: 3000, falls_after: 1h}", claims.Impossible, "Even a full bucket lasts only"},
		{"a floor too high", gp2 + "result: {iops: 3000, falls_after: 2000s, iops_after: 600}", claims.Impossible, "Without credits the volume gives 300 IOPS, not 600 IOPS"},
		{"a stated balance", gp2 + "balance: 50%\nresult: {falls_after: 1000s}", claims.Possible, "2,700,000 ÷ (3,000 − 300) = 1,000 s"},
		{"a full bucket", gp2 + "result: {falls_after: 2000s}", claims.Possible, "= 2,000 s"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			j := judge(t, one(t, test.keys))
			if j.Verdict != test.want || !strings.Contains(texts(j, test.want), test.text) {
				t.Errorf("%s: %+v; want %s with %q", j.Verdict, j.Findings, test.want, test.text)
			}
		})
	}
}

func TestJudgeRefusesUnknownNames(t *testing.T) {
	for keys, want := range map[string]string{
		"instance: m5.xlrge\nresult: {iops: 3000}":                          `line 2: claim "stated": unknown instance type "m5.xlrge"; did you mean m5.xlarge`,
		"region: ap-northeast-9\nresult: {monthly: 9.12}":                   `line 2: claim "stated": unknown region "ap-northeast-9"`,
		"volume: {type: gp4, size: 100GiB}\nresult: {iops: 3000}":           `line 2: claim "stated": unknown volume type "gp4"`,
		"rule: {type: gp4, throughput: 1000MiB/s, least_iops: 4000}":        `line 2: claim "stated": unknown volume type "gp4"`,
		"volume: {type: gp3, size: 100GiB}\nregion: x\nresult: {iops: 300}": `unknown region "x"`,
	} {
		if _, err := claims.Judge(one(t, keys), ebs.Embedded()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one that says %q", keys, err, want)
		}
	}
}

package analyze_test

import (
	"strings"
	"testing"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/workload"
)

// 1 TiB of st1, 60 times compressed: 17,476 MiB of credits. The layout of 136 MiB at 250 MiB/s takes 115 of them, for it
// earns 40 a second meanwhile. The read spends 210 a second: it falls from 250 to 40 MiB/s after
// (17,476 − 115 − 4 of the rate bucket) ÷ 210 = 82.6 s.
func TestFallOfAnHDD(t *testing.T) {
	p, err := workload.Parse(ebs.Embedded(), []byte(`
name: hdd
file_size: 8GiB
gap: 450ms
volumes:
  - {name: st1, type: st1, size: 1TiB}
phases:
  - {name: layout, volume: st1, rw: write, block_size: 1MiB, queue_depth: 8}
  - {name: read, volume: st1, rw: read, block_size: 1MiB, queue_depth: 8, duration: 120m}
  - {name: random, volume: st1, rw: randread, block_size: 4KiB, queue_depth: 8, duration: 10m}
`))
	if err != nil {
		t.Fatal(err)
	}
	run, measured, predicted := simulated(t, p, 60)
	d := analyze.Run(ebs.Embedded(), run, measured, predicted)
	read := phaseOf(t, d, "st1", "read")
	if read.Cliff == nil {
		t.Fatalf("no fall: %s", read.Summary)
	}
	if read.Cliff.Cause != analyze.HDDCredits || read.Verdict != analyze.BurstThenBaseline {
		t.Errorf("cause %s, verdict %s", read.Cliff.Cause, read.Verdict)
	}
	near(t, "fall", read.Cliff.AtS, 82.6, 0.5)
	near(t, "MiB/s before", read.Cliff.BeforeIOPS, 250, 2)
	near(t, "MiB/s after", read.Cliff.AfterIOPS, 40, 1)
	shares := limits(read)
	near(t, "share of the burst", shares[model.VolumeThroughput], 82.6/120, 0.02)
	near(t, "share of the baseline", shares[model.VolumeBaselineThroughput], 1-82.6/120, 0.02)

	// Without credits each random I/O uses up a MiB: 40 a second.
	random := phaseOf(t, d, "st1", "random")
	near(t, "random IOPS", random.IOPS.Mean, 40, 1)
	if random.Verdict != analyze.Sustained || !strings.Contains(random.Summary, "baseline throughput") {
		t.Errorf("random: %s, %s", random.Verdict, random.Summary)
	}
	// 1 TiB ÷ 210 MiB/s, and ÷ 40.
	near(t, "seconds to empty", d.Volumes[0].SecondsToEmpty, 4993, 1)
	near(t, "seconds to refill", d.Volumes[0].SecondsToRefill, 26214, 1)
}

package analyze_test

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/workload"
)

const twoVolumes = `
name: two
instance: m5.xlarge
file_size: 1GiB
volumes:
  - {name: a, type: gp3, size: 100GiB, iops: 12000}
  - {name: b, type: gp3, size: 100GiB, iops: 6000}
phases:
  - {name: layout, volume: a, rw: write, block_size: 1MiB, queue_depth: 4}
  - {name: layout, volume: b, rw: write, block_size: 1MiB, queue_depth: 4}
  - {name: busy, volume: a, rw: randread, block_size: 4KiB, queue_depth: 64, duration: 1h, together: both}
  - {name: busy, volume: b, rw: randread, block_size: 4KiB, queue_depth: 16, duration: 1h, together: both}
`

const stripeAndVolume = `
name: raid
instance: m5.xlarge
file_size: 1GiB
volumes:
  - {name: x, type: gp3, size: 100GiB}
  - {name: y, type: gp3, size: 100GiB}
  - {name: a, stripe: [x, y], stripe_size: 64KiB}
  - {name: b, type: gp3, size: 100GiB}
phases:
  - {name: layout, volume: a, rw: write, block_size: 1MiB, queue_depth: 4}
  - {name: layout, volume: b, rw: write, block_size: 1MiB, queue_depth: 4}
  - {name: busy, volume: a, rw: randread, block_size: 4KiB, queue_depth: 64, duration: 3h, together: both}
  - {name: busy, volume: b, rw: randwrite, block_size: 4KiB, queue_depth: 16, duration: 3h, together: both}
`

const byThroughput = `
name: uneven
instance: m5.xlarge
file_size: 1GiB
volumes:
  - {name: a, type: gp3, size: 100GiB, throughput: 250MiB/s}
  - {name: b, type: gp3, size: 100GiB}
phases:
  - {name: layout, volume: a, rw: write, block_size: 1MiB, queue_depth: 4}
  - {name: layout, volume: b, rw: write, block_size: 1MiB, queue_depth: 4}
  - {name: busy, volume: a, rw: read, block_size: 1MiB, queue_depth: 8, duration: 2h, together: both}
  - {name: busy, volume: b, rw: read, block_size: 1MiB, queue_depth: 8, duration: 2h, together: both}
`

// The burst of an m5.xlarge is 30 min × (18,750 − 6,000) = 22.95 M operations, and as long at 566.2 − 137.1 MiB/s 772,486 MiB.
// What it leaves is shared out by the I/Os in flight.
func TestInstanceBurstEndsUnderUnequalDemands(t *testing.T) {
	type volume struct{ before, after float64 }
	for name, tt := range map[string]struct {
		profile string
		at      float64 // seconds, uncompressed
		a, b    volume
		own     model.Limit // that holds before
		then    model.Limit
	}{
		// 22.95 M ÷ (18,000 − 6,000); 64 and 16 in flight have four fifths and a fifth of 6,000
		"IOPS": {twoVolumes, 1912.5, volume{12000, 4800}, volume{6000, 1200}, model.VolumeIOPS, model.InstanceIOPS},
		// 22.95 M ÷ (9,000 − 6,000)
		"a stripe": {stripeAndVolume, 7650, volume{6000, 4800}, volume{3000, 1200}, model.VolumeIOPS, model.InstanceIOPS},
		// 772,486 ÷ (375 − 137.1); as many in flight on each
		"throughput": {byThroughput, 3247, volume{250, 68.55}, volume{125, 68.55}, model.VolumeThroughput, model.InstanceThroughput},
	} {
		profile, err := workload.Parse(ebs.Embedded(), []byte(tt.profile))
		if err != nil {
			t.Fatal(err)
		}
		run, measured, predicted := simulated(t, profile, 60)
		d := analyze.Run(ebs.Embedded(), run, measured, predicted)
		for i, want := range []volume{tt.a, tt.b} {
			p := d.Phases[2+i]
			switch c := p.Cliff; {
			case p.Verdict != analyze.BurstThenBaseline || p.Burst != analyze.InstanceBurst || c == nil || c.Cause != analyze.InstanceBurst:
				t.Errorf("%s, %s: %s, %q, %+v", name, p.Volume, p.Verdict, p.Summary, c)
			case !around(c.AtSUncompressed, tt.at) || !around(c.BeforeIOPS, want.before) || !around(c.AfterIOPS, want.after):
				t.Errorf("%s, %s: from %v to %v after %v s, want %v after %v s", name, p.Volume, c.BeforeIOPS, c.AfterIOPS, c.AtSUncompressed, want, tt.at)
			}
			limits := map[model.Limit]float64{}
			for _, l := range p.LimitedBy {
				limits[l.Limit] = l.Share
			}
			before := tt.at / (60 * p.DurationS)
			if len(limits) != 2 || !around(limits[tt.own], before) || !around(limits[tt.then], 1-before) {
				t.Errorf("%s, %s: limited by %v, want %s for %.3f, then %s", name, p.Volume, p.LimitedBy, tt.own, before, tt.then)
			}
			if slices.Contains(codes(p.Warnings), "above-limit") {
				t.Errorf("%s, %s: %v", name, p.Volume, p.Warnings)
			}
		}
	}
}

// A run that is too short to end the burst says what its end will leave, and when: as the longer one above shows it.
// Compressed, a stripe waits for one of its volumes now and then: 7,650 s are 2 h 8 min, give or take 3.
func TestInstanceBurstGoesOnUnderUnequalDemands(t *testing.T) {
	for _, tt := range []struct {
		profile, long string
		want          []string
	}{
		{twoVolumes, "1h", []string{"it lasts 31 min 5[0-9] s from full, then 4,800 IOPS remain", "it lasts 31 min 5[0-9] s from full, then 1,200 IOPS remain"}},
		{stripeAndVolume, "3h", []string{"it lasts 2 h ([5-9]|10) min from full, then 4,800 IOPS remain", "it lasts 2 h ([5-9]|10) min from full, then 1,200 IOPS remain"}},
	} {
		profile, err := workload.Parse(ebs.Embedded(), []byte(strings.ReplaceAll(tt.profile, tt.long, "20m")))
		if err != nil {
			t.Fatal(err)
		}
		run, measured, predicted := simulated(t, profile, 60)
		d := analyze.Run(ebs.Embedded(), run, measured, predicted)
		for i, want := range tt.want {
			if p := d.Phases[2+i]; p.Verdict != analyze.BurstOnly || !regexp.MustCompile(want).MatchString(p.Summary) {
				t.Errorf("%s: %s, %q; want %q", p.Volume, p.Verdict, p.Summary, want)
			}
		}
	}
}

// around says whether a figure is within 2 % of another.
func around(got, want float64) bool { return math.Abs(got/want-1) < 0.02 }

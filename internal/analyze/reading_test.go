package analyze_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// foreign makes a reading of 4 KiB random reads with so many IOPS over so long, and a latency that fits 32 in flight.
func foreign(iops float64, runtime time.Duration) result.Reading {
	r := result.Reading{Source: result.Source{File: "fio.json", Document: 1}, Tool: "fio-3.33", Job: "job"}
	r.Workload = result.Stated{Pattern: "randread", BlockSize: 4 * units.KiB, QueueDepth: 32, Jobs: 1}
	return rated(r, iops, 4*units.KiB, runtime)
}

// rated gives a reading other figures.
func rated(r result.Reading, iops float64, size units.Bytes, runtime time.Duration) result.Reading {
	ios := int64(iops * runtime.Seconds())
	r.Total = result.Direction{
		IOs: ios, Bytes: units.Bytes(ios) * size, Runtime: runtime, IOPS: units.IOPS(iops), Throughput: units.Throughput(iops * float64(size)),
		Latency: result.Latency{Kind: "lat", Samples: ios, Mean: time.Duration(32 / iops * float64(time.Second))},
	}
	return r
}

// logged gives a reading a series of levels, each for so many seconds, and the totals that follow.
func logged(r result.Reading, valueAndCount ...float64) result.Reading {
	var sum float64
	values := levels(valueAndCount...)
	for i, v := range values {
		r.IOPS = append(r.IOPS, result.Point{End: time.Duration(i+1) * time.Second, Value: v})
		sum += v
	}
	r.Window = time.Second
	size := r.Total.Bytes / units.Bytes(max(1, r.Total.IOs))
	return rated(r, sum/float64(len(values)), size, time.Duration(len(values))*time.Second)
}

func given(t *testing.T, volume ebs.Volume, instance string) analyze.Given {
	t.Helper()
	g := analyze.Given{Volume: &volume}
	if volume.Type == "" {
		g.Volume = nil
	}
	if instance != "" {
		i, err := ebs.Embedded().Instance(instance)
		if err != nil {
			t.Fatal(err)
		}
		g.Instance = &i
	}
	return g
}

// readings analyzes, and checks that the document is finite.
func readings(t *testing.T, g analyze.Given, all ...result.Reading) analyze.Document {
	t.Helper()
	d := analyze.Readings(ebs.Embedded(), all, nil, g)
	if _, err := json.Marshal(d); err != nil {
		t.Fatal(err)
	}
	return d
}

func one(t *testing.T, g analyze.Given, r result.Reading) analyze.Phase {
	t.Helper()
	return readings(t, g, r).Phases[0]
}

func text(warnings []result.Warning, code string) string {
	for _, w := range warnings {
		if w.Code == code {
			return w.Text
		}
	}
	return ""
}

func says(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s should say %q: %q", what, part, text)
		}
	}
}

func TestReadingOfAGivenVolume(t *testing.T) {
	gp3of500 := ebs.Volume{Type: ebs.GP3, Size: 500 * units.GiB, IOPS: 6000, Throughput: 250 * units.MiBPerSecond}
	for name, tt := range map[string]struct {
		volume   ebs.Volume
		instance string
		reading  result.Reading
		verdict  analyze.Verdict
		limits   map[model.Limit]float64
		summary  string
	}{
		"held": {gp3of500, "m5.xlarge", foreign(5990, time.Minute), analyze.Sustained,
			map[model.Limit]float64{model.VolumeIOPS: 1}, "5,990 IOPS on average, held by the volume's provisioned IOPS."},
		"below": {gp3of500, "", foreign(2000, time.Minute), analyze.Sustained,
			map[model.Limit]float64{model.QueueDepth: 1}, "queue depth 32 and latency set the rate."},
		// m5.large holds 3,600 IOPS, less than the volume's 6,000.
		"held by the instance": {gp3of500, "m5.large", foreign(3600, time.Minute), analyze.Sustained,
			map[model.Limit]float64{model.InstanceIOPS: 1}, "held by the instance's IOPS."},
		"series": {gp2of100, "", logged(foreign(1, time.Minute), 6000, 1, 3000, 39, 300, 60), analyze.BurstThenBaseline,
			map[model.Limit]float64{model.VolumeBurstIOPS: 0.4, model.VolumeBaselineIOPS: 0.6}, "3,000 IOPS for 40 s, then 300 IOPS: the burst credits were spent."},
		"one burst": {gp2of100, "", foreign(3000, time.Minute), analyze.BurstOnly,
			map[model.Limit]float64{model.VolumeBurstIOPS: 1}, "a full bucket lasts 33 min 20 s, then 300 IOPS remain."},
		"between": {gp2of100, "", foreign(1500, time.Minute), "", map[model.Limit]float64{}, "Whether they ran out, a mean cannot say."},
	} {
		p := one(t, given(t, tt.volume, tt.instance), tt.reading)
		if p.Verdict != tt.verdict {
			t.Errorf("%s: verdict %q, want %q", name, p.Verdict, tt.verdict)
		}
		says(t, name, p.Summary, tt.summary)
		for limit, share := range tt.limits {
			near(t, name+": "+string(limit), limits(p)[limit], share, 0.01)
		}
		if len(p.LimitedBy) != len(tt.limits) {
			t.Errorf("%s: limits %v", name, p.LimitedBy)
		}
	}
}

// A summary may state a rate, and no length.
func TestSummaryWithoutItsRuntime(t *testing.T) {
	p := one(t, analyze.Given{}, foreign(9000, 0))
	if p.IOPS.Mean != 9000 || p.IOPS.FioMean != 9000 || p.RuntimeS != nil || p.DurationS != 0 {
		t.Errorf("IOPS %+v, runtime %v, duration %v: the summary's 9,000, and no time", p.IOPS, p.RuntimeS, p.DurationS)
	}
	p = one(t, analyze.Given{}, foreign(9000, time.Minute))
	if p.RuntimeS == nil || *p.RuntimeS != 60 {
		t.Errorf("runtime %v, want a minute", p.RuntimeS)
	}
	// A log beside it is read to its end: 100 in the first second, which is left out, then 10 s at 9,000 and 10 s at 8,000.
	r := logged(foreign(8500, 0), 100, 1, 9000, 10, 8000, 10)
	r.Total.Runtime, r.Total.IOs, r.Total.IOPS = 0, 0, 8500
	if p = one(t, analyze.Given{}, r); p.IOPS.Mean != 8500 || len(p.Segments) != 2 {
		t.Errorf("IOPS %+v, segments %v: the log's", p.IOPS, p.Segments)
	}
}

// 9,000 reads in 100 s are 90 a second, 3,000 writes in 60 s are 50: a share of the I/Os would give reads 105 of the 140.
func TestDirectionsOfUnlikeLength(t *testing.T) {
	r := foreign(140, 100*time.Second)
	r.Total.IOs = 12_000
	r.Read = &result.Direction{IOs: 9000, Runtime: 100 * time.Second, IOPS: 90}
	r.Write = &result.Direction{IOs: 3000, Runtime: 60 * time.Second, IOPS: 50}
	p := one(t, analyze.Given{}, r)
	if p.Read.IOPS != (analyze.IOPS{Mean: 90, FioMean: 90}) || p.Write.IOPS != (analyze.IOPS{Mean: 50, FioMean: 50}) {
		t.Errorf("reads %+v, writes %+v: want 90 and 50", p.Read.IOPS, p.Write.IOPS)
	}
}

// A log whose windows hold a few I/Os each starts far above what the job as a whole did.
func TestLogThatDisagreesWithTheTotal(t *testing.T) {
	r := logged(foreign(1, time.Minute), 272269, 1, 350, 59)
	r = rated(r, 226000, 4*units.KiB, time.Minute) // the JSON's total
	p := one(t, analyze.Given{}, r)
	says(t, "warning", text(p.Warnings, "series-differs"), "226,000", "the summary counts every I/O and is trusted")
	if p.IOPS.Mean != 226000 || len(p.Segments) != 0 || p.Cliff != nil {
		t.Errorf("IOPS %+v, segments %v, cliff %v: the summary's, and no level of the log", p.IOPS, p.Segments, p.Cliff)
	}
	says(t, "advice", p.Advice, "log_avg_msec=1000")
	for _, c := range readings(t, analyze.Given{}, r).Checks {
		if c.Code == "series-total" && c.OK {
			t.Errorf("check %+v", c)
		}
	}
	// Up to 10 % apart, the log is believed.
	p = one(t, analyze.Given{}, rated(logged(foreign(1, time.Minute), 3000, 60), 3200, 4*units.KiB, time.Minute))
	if text(p.Warnings, "series-differs") != "" || len(p.Segments) != 1 {
		t.Errorf("7 %% apart: %v, segments %v", p.Warnings, p.Segments)
	}
}

func TestQueueDepthIsNotInvented(t *testing.T) {
	r := foreign(3000, time.Minute)
	r.Workload.QueueDepth, r.Workload.Jobs = 0, 0
	d := readings(t, given(t, gp3base, ""), r)
	p := d.Phases[0]
	encoded, _ := json.Marshal(p)
	says(t, "JSON", string(encoded), `"queue_depth":null`, `"jobs":null`)
	// 3,000 IOPS × 10.67 ms.
	near(t, "outstanding", *p.Outstanding, 32, 0.1)
	says(t, "warning", text(p.Warnings, "queue-depth-derived"), "about 32 I/Os outstanding")
	for _, c := range d.Checks {
		if c.Code == "littles-law" {
			t.Errorf("a check of what was derived: %+v", c)
		}
	}
	r.Total.Latency = result.Latency{}
	if p = one(t, given(t, gp3base, ""), r); p.Outstanding != nil || p.Latency != nil {
		t.Errorf("outstanding %v, latency %v from nothing", p.Outstanding, p.Latency)
	}
}

func TestNotDeviceBacked(t *testing.T) {
	p := one(t, given(t, gp2of100, ""), foreign(24959, time.Minute))
	says(t, "summary", p.Summary, "24,959 IOPS is more than the 3,000 IOPS that a gp2 volume of 100 GiB can do: a cache, never-written blocks or another volume.")
	says(t, "warning", text(p.Warnings, "above-limit"), "never written")
	says(t, "advice", p.Advice, "precondition")
	if p.Verdict != "" {
		t.Errorf("verdict %q", p.Verdict)
	}
	// A series says the same, and nothing of credits that were never spent.
	p = one(t, given(t, gp2of100, ""), logged(foreign(1, time.Minute), 16002, 120))
	says(t, "series", p.Summary, "16,002 IOPS is more than the 3,000 IOPS that a gp2 volume of 100 GiB can do")
	says(t, "advice", p.Advice, "Check which volume")
	if p.Verdict != "" || p.Burst != "" || len(p.LimitedBy) != 0 || text(p.Warnings, "burst-only") != "" || strings.Contains(p.Summary+p.Advice, "credits") {
		t.Errorf("verdict %q, burst %q, limits %v: %s %s", p.Verdict, p.Burst, p.LimitedBy, p.Summary, p.Advice)
	}
	// m5.large passes 18,750 IOPS on for half an hour, but the volume has 16,000.
	gp3of16000 := ebs.Volume{Type: ebs.GP3, Size: 500 * units.GiB, IOPS: 16000, Throughput: 500 * units.MiBPerSecond}
	for name, r := range map[string]result.Reading{"mean": foreign(18739, time.Minute), "series": logged(foreign(1, time.Minute), 18739, 60)} {
		p = one(t, given(t, gp3of16000, "m5.large"), r)
		says(t, name, p.Summary, "18,739 IOPS is more than the 16,000 IOPS that a gp3 volume of 500 GiB can do")
		says(t, name, p.Advice, "Check which volume")
		if p.Verdict != "" || p.Burst != "" {
			t.Errorf("%s: verdict %q, burst %q", name, p.Verdict, p.Burst)
		}
	}
	// A run of 5 s at the limit has a second's worth more in it: 3,000 × 6 ÷ 5.
	p = one(t, given(t, gp3base, ""), foreign(3600, 5*time.Second))
	says(t, "short run", text(p.Warnings, "rate-bucket"), "3,000 IOPS", "5.0 s")
	if text(p.Warnings, "above-limit") != "" {
		t.Error("a short run is not above the limit")
	}
	p = one(t, analyze.Given{}, foreign(985234, time.Minute))
	says(t, "no volume", p.Summary, "more than any EBS volume has (256,000 IOPS)")
	if len(p.Candidates) != 0 {
		t.Errorf("candidates %v", p.Candidates)
	}
}

func TestFullBucketOfGP2(t *testing.T) {
	// 5.4 M ÷ (3,000 − 300) = 2,000 s.
	volume := readings(t, given(t, gp2of100, ""), foreign(3000, time.Minute)).Volumes[0]
	near(t, "seconds to empty", volume.SecondsToEmpty, 2000, 0.1)
	// A gp2 volume of 30 GiB has 100 IOPS: 5.4 M ÷ 2,900 = 1,862 s. In 45 minutes: (3,000 × 1,862 + 100 × 838) ÷ 2,700 = 2,100.
	gp2of30 := ebs.Volume{Type: ebs.GP2, Size: 30 * units.GiB}
	p := one(t, given(t, gp2of30, ""), foreign(2100, 45*time.Minute))
	if p.Verdict != analyze.BurstThenBaseline || p.Burst != analyze.GP2Credits {
		t.Errorf("verdict %q, burst %q", p.Verdict, p.Burst)
	}
	says(t, "summary", p.Summary, "empty after 31 min 2 s", "100 IOPS remain for the other 13 min 58 s")
	says(t, "advice", p.Advice, "BurstBalance at the start and the end", "in runs of their own")
	near(t, "share", limits(p)[model.VolumeBurstIOPS], 0.69, 0.01)
}

func TestInstanceCap(t *testing.T) {
	volume := ebs.Volume{Type: ebs.GP3, Size: 1000 * units.GiB, IOPS: 12000, Throughput: 500 * units.MiBPerSecond}
	// m5.large holds 650 Mbit/s = 81.25 MB/s.
	r := rated(foreign(1, time.Minute), 81.25e6/float64(units.MiB), units.MiB, time.Minute)
	p := one(t, given(t, volume, "m5.large"), r)
	if limits(p)[model.InstanceThroughput] != 1 {
		t.Errorf("limits %v", p.LimitedBy)
	}
	says(t, "advice", p.Advice, "m5.large", "81 MB/s", "provisioning more on the volume changes nothing")
}

func TestInstanceBurstIsNotGP2Credits(t *testing.T) {
	// t3.medium: 2,085 Mbit/s = 260.6 MB/s for 30 minutes, then 347 Mbit/s = 43.4 MB/s. gp2 of 600 GiB: 250 MiB/s = 262 MB/s, 1,800 IOPS.
	gp2of600 := ebs.Volume{Type: ebs.GP2, Size: 600 * units.GiB}
	high, low := 260.6e6/float64(units.MiB), 43.4e6/float64(units.MiB)
	r := logged(rated(foreign(1, time.Minute), 1, units.MiB, time.Minute), high, 1800, low, 900)
	p := one(t, given(t, gp2of600, "t3.medium"), r)
	if p.Cliff == nil || p.Cliff.Cause != analyze.InstanceBurst || p.Burst != analyze.InstanceBurst {
		t.Errorf("cliff %+v, burst %q", p.Cliff, p.Burst)
	}
	says(t, "advice", p.Advice, "EBSByteBalance%")
	// Without the volume it is found by both levels and the time.
	p = one(t, analyze.Given{}, r)
	if len(p.Candidates) == 0 || p.Candidates[0].Cause != analyze.InstanceBurst || !strings.Contains(p.Candidates[0].Configuration, "t3") {
		t.Errorf("candidates %+v", p.Candidates)
	}
}

func TestRAID(t *testing.T) {
	r := foreign(6000, time.Minute)
	r.Disks = []result.Disk{{Name: "md0", Reads: 360000}, {Name: "nvme1n1", Reads: 180000}, {Name: "nvme2n1", Reads: 180000}}
	p := one(t, given(t, gp3base, ""), r)
	if limits(p)[model.VolumeIOPS] != 1 || len(p.Members) != 2 {
		t.Errorf("limits %v, members %v: two volumes of 3,000 IOPS are wanted", p.LimitedBy, p.Members)
	}
	says(t, "warning", text(p.Warnings, "raid"), "2 devices (nvme1n1, nvme2n1)")
	// RAID 1 writes everything to both: the limits are those of one.
	r.Disks = []result.Disk{{Name: "md0", Writes: 360000}, {Name: "nvme1n1", Writes: 360000}, {Name: "nvme2n1", Writes: 360000}}
	if p = one(t, given(t, gp3base, ""), r); len(p.Members) != 0 {
		t.Errorf("members of a mirror: %v", p.Members)
	}
}

func TestMoveToTheDefaultOfGP3(t *testing.T) {
	gp2of1000 := ebs.Volume{Type: ebs.GP2, Size: 1000 * units.GiB}
	p := one(t, given(t, gp2of1000, ""), rated(foreign(1, time.Minute), 200, units.MiB, time.Minute))
	says(t, "warning", text(p.Warnings, "gp3-default-throughput"), "125 MiB/s", "200 MiB/s measured", "provision 200 to 250 MiB/s")
	p = one(t, given(t, gp2of1000, ""), rated(foreign(1, time.Minute), 100, units.MiB, time.Minute))
	if text(p.Warnings, "gp3-default-throughput") != "" {
		t.Error("100 MiB/s fit into gp3's default")
	}
}

func TestFailureIsNotJudged(t *testing.T) {
	r := foreign(3000, time.Minute)
	r.Failure = &result.Failure{Code: 5, Text: []string{"fio: io_u error on file /dev/sdb: Input/output error"}}
	d := readings(t, given(t, gp3base, ""), r)
	p := d.Phases[0]
	if p.State != "failed" || p.Failed == nil || p.Verdict != "" || p.IOPS.Mean != 0 || len(p.LimitedBy) != 0 || len(d.Checks) != 0 {
		t.Errorf("%+v, checks %v", p, d.Checks)
	}
	says(t, "summary", p.Summary, "error (5)", "Input/output error", "worth nothing")
	encoded, _ := json.Marshal(p)
	says(t, "JSON", string(encoded), `"iops":null`, `"failed":{"code":5`)
}

func TestJobsSideBySide(t *testing.T) {
	// Four jobs share what the volume has: 750 IOPS each are its 3,000.
	var all []result.Reading
	for range 4 {
		all = append(all, foreign(750, time.Minute))
	}
	for _, p := range readings(t, given(t, gp3base, ""), all...).Phases {
		if limits(p)[model.VolumeIOPS] != 1 {
			t.Errorf("limits %v", p.LimitedBy)
		}
		says(t, "warning", text(p.Warnings, "side-by-side"), "4 jobs", "3,000 IOPS", "25 %")
	}
	// One after another they do not, as other tools always run.
	for i := range all {
		all[i].Tool = "CrystalDiskMark 8.0.4"
	}
	if p := readings(t, given(t, gp3base, ""), all...).Phases[0]; limits(p)[model.QueueDepth] != 1 {
		t.Errorf("limits of CrystalDiskMark %v", p.LimitedBy)
	}
	for i := range all {
		all[i].Tool, all[i].Group = "fio-3.33", i
	}
	if p := readings(t, given(t, gp3base, ""), all...).Phases[0]; limits(p)[model.QueueDepth] != 1 {
		t.Errorf("limits %v", p.LimitedBy)
	}
}

func TestApplicationWithARateOfItsOwn(t *testing.T) {
	// Two jobs that each read and write 500 times a second.
	r := foreign(2000, time.Minute)
	r.Workload.Pattern, r.Workload.Jobs, r.Workload.Options = "randrw", 2, map[string]string{"rate_iops": "500"}
	p := one(t, given(t, gp3base, ""), r)
	says(t, "summary", p.Summary, "no limit was reached, the application keeps to its own rate")
	if p = one(t, analyze.Given{}, r); len(p.Candidates) != 0 || p.Advice != "" {
		t.Errorf("candidates %v, advice %q", p.Candidates, p.Advice)
	}
	says(t, "no volume", p.Summary, "kept to its own rate (rate_iops=500)")
}

func TestRatesOfEachDirection(t *testing.T) {
	for name, tt := range map[string]struct {
		pattern string
		options map[string]string
		iops    float64
		text    string
	}{
		"reads and writes apart": {"randrw", map[string]string{"rate_iops": "500,300"}, 800, "rate_iops=500,300"},
		"reads":                  {"randread", map[string]string{"rate_iops": "500,300"}, 500, "rate_iops=500,300"},
		"writes":                 {"randwrite", map[string]string{"rate_iops": "500,300"}, 300, "rate_iops=500,300"},
		// 2 MiB/s ÷ 4 KiB = 512.
		"bytes": {"randread", map[string]string{"rate": "2m"}, 512, "rate=2m"},
		// 1,024 KiB/s ÷ 4 KiB = 256, and 3 MiB/s ÷ 4 KiB = 768.
		"bytes apart": {"randrw", map[string]string{"rate": "1024k,3m"}, 1024, "rate=1024k,3m"},
	} {
		r := foreign(tt.iops, time.Minute)
		r.Workload.Pattern, r.Workload.Options = tt.pattern, tt.options
		p := one(t, analyze.Given{}, r)
		says(t, name, p.Summary, "kept to its own rate ("+tt.text+")")
		if len(p.Candidates) != 0 || strings.Contains(p.Summary, "One I/O at a time") {
			t.Errorf("%s: %s, candidates %v", name, p.Summary, p.Candidates)
		}
	}
	// Reads and writes of a mix of 70 to 30 wait for each other: 500 reads hold 214 writes.
	r := foreign(714, time.Minute)
	r.Workload.Pattern, r.Workload.Options = "randrw", map[string]string{"rate_iops": "500"}
	r.Read, r.Write = &result.Direction{IOPS: 500}, &result.Direction{IOPS: 214}
	says(t, "mix", one(t, analyze.Given{}, r).Summary, "kept to its own rate (rate_iops=500)")
	// 800 IOPS × 0.002 ms = 0.0016 in flight.
	r = foreign(800, time.Minute)
	r.Total.Latency.Mean = 2 * time.Microsecond
	p := one(t, analyze.Given{}, r)
	says(t, "idle", p.Summary, "0.0016 I/Os in flight on average (Little's law): the application set the rate, not latency")
	if strings.Contains(p.Summary, "One I/O at a time") {
		t.Error(p.Summary)
	}
	says(t, "idle, given", one(t, given(t, gp3base, ""), r).Summary, "the application set the rate, not latency")
	// 1,000 IOPS × 1 ms = 1.
	r = foreign(1000, time.Minute)
	r.Total.Latency.Mean = time.Millisecond
	says(t, "one at a time", one(t, analyze.Given{}, r).Summary, "One I/O at a time: latency set the rate")
}

func TestNoIO(t *testing.T) {
	for name, r := range map[string]result.Reading{"series": logged(foreign(1, time.Minute), 0, 60), "mean": rated(foreign(1, time.Minute), 0, 1, time.Minute)} {
		r.Total.Latency = result.Latency{}
		if p := one(t, given(t, gp3base, ""), r); p.Verdict != "" || p.Summary != "No read or write completed." || len(p.LimitedBy) != 0 {
			t.Errorf("%s: verdict %q, %s", name, p.Verdict, p.Summary)
		}
	}
}

func TestBimodal(t *testing.T) {
	r := foreign(3000, time.Minute)
	// 70 % around 0.5 ms, 30 % around 10 ms, and hardly any between.
	for _, b := range []struct{ ms, count float64 }{{0.4, 200}, {0.5, 300}, {0.6, 200}, {1, 10}, {2, 2}, {4, 1}, {8, 80}, {10, 140}, {12, 80}} {
		r.Total.Latency.Bins = append(r.Total.Latency.Bins, result.Bin{At: time.Duration(b.ms * 1e6), Count: int64(b.count)})
	}
	p := one(t, analyze.Given{}, r)
	if len(p.Modes) != 2 {
		t.Fatalf("modes %+v", p.Modes)
	}
	near(t, "first", p.Modes[0].Share, 0.7, 0.02)
	near(t, "second", p.Modes[1].AtMS, 10, 1.5)
	says(t, "warning", text(p.Warnings, "bimodal"), "2 groups", "about 0.5 ms")
	// One group with a long tail is one.
	r.Total.Latency.Bins = nil
	for i := range 20 {
		r.Total.Latency.Bins = append(r.Total.Latency.Bins, result.Bin{At: time.Duration(i+1) * time.Millisecond, Count: int64(10000 >> i)})
	}
	if p = one(t, analyze.Given{}, r); len(p.Modes) != 0 {
		t.Errorf("modes of a tail: %+v", p.Modes)
	}
}

// A t3.medium holds 2,000 IOPS, as a gp2 volume of 667 GiB does: only the time of the fall can tell which of them it was.
func TestTwoCausesOfOneLevel(t *testing.T) {
	gp2of667 := ebs.Volume{Type: ebs.GP2, Size: 667 * units.GiB}
	// 5.4 M ÷ (3,000 − 2,001) = 5,405 s. The instance's burst, full, would last (11,800 ÷ 2,000 − 1) × 1,800 s ÷ (3,000 ÷ 2,000 − 1) = 17,640 s.
	p := one(t, given(t, gp2of667, "t3.medium"), logged(foreign(1, time.Minute), 3000, 5400, 2000, 1000))
	if p.Cliff == nil {
		t.Fatalf("no cliff: %s", p.Summary)
	}
	says(t, "both fit", text(p.Warnings, "two-causes"), "BurstBalance", "EBSIOBalance% and EBSByteBalance%")
	p = one(t, given(t, gp2of667, "t3.medium"), logged(foreign(1, time.Minute), 3000, 10000, 2000, 2000))
	if p.Cliff == nil || p.Cliff.Cause != analyze.InstanceBurst || p.Burst != analyze.InstanceBurst {
		t.Errorf("after 10,000 s no gp2 volume has credits left: %+v", p.Cliff)
	}
	says(t, "summary", p.Summary, "the instance's burst was spent")
}

// CrystalDiskMark 3 states throughput alone of some tests: 50 MiB/s ÷ 512 KiB are 100 I/Os a second. Neither that nor a log of
// throughput means that nothing completed.
func TestThroughputAlone(t *testing.T) {
	gp3of200 := ebs.Volume{Type: ebs.GP3, Size: 200 * units.GiB, IOPS: 3000, Throughput: 250 * units.MiBPerSecond}
	alone := func(size units.Bytes, rate float64) result.Reading {
		r := result.Reading{Source: result.Source{File: "cdm.txt", Document: 1}, Job: "job", Workload: result.Stated{Pattern: "read", BlockSize: size, QueueDepth: 32}}
		r.Total.Throughput = units.Throughput(rate) * units.MiBPerSecond
		return r
	}
	for name, tt := range map[string]struct {
		reading result.Reading
		volume  ebs.Volume
		verdict analyze.Verdict
		summary string
	}{
		"size known":                {alone(512*units.KiB, 50), gp3of200, analyze.Sustained, "50 MiB/s on average, below every limit: queue depth 32 and latency"},
		"at the volume's":           {alone(0, 249), gp3of200, analyze.Sustained, "249 MiB/s on average, held by the volume's throughput."},
		"more than can be held":     {alone(0, 300), gp3of200, "", "300 MiB/s on average, more than the 250 MiB/s"},
		"no volume, no size":        {alone(0, 347), ebs.Volume{}, "", "347 MiB/s on average: the size of an I/O is not known, and so no IOPS."},
		"nothing at all":            {alone(0, 0), gp3of200, "", "No read or write completed."},
		"a log of latencies it has": {result.Reading{Source: result.Source{File: "a_clat.1.log"}}, gp3of200, "", "No rate was logged"},
	} {
		g := given(t, tt.volume, "")
		p := one(t, g, tt.reading)
		if p.Verdict != tt.verdict {
			t.Errorf("%s: verdict %q, want %q", name, p.Verdict, tt.verdict)
		}
		says(t, name, p.Summary, tt.summary)
		if name == "at the volume's" {
			says(t, name, text(p.Warnings, "block-size-unknown"), "only limits on throughput")
		}
	}
}

// CrystalDiskMark states how long it measures, and nothing else of the length: 262 MiB/s over 5 s, where 250 are held, have the
// full bucket of the first second in them.
func TestLengthThatIsOnlyStated(t *testing.T) {
	r := foreign(1, time.Minute)
	r.Workload.BlockSize, r.Workload.Duration = units.MiB, 5*time.Second
	r.Total = result.Direction{IOPS: 262, Throughput: 262 * units.MiBPerSecond}
	g := given(t, ebs.Volume{Type: ebs.GP3, Size: 200 * units.GiB, IOPS: 3000, Throughput: 250 * units.MiBPerSecond}, "")
	says(t, "stated", text(one(t, g, r).Warnings, "rate-bucket"), "a run of 5.0 s")
	r.Workload.Duration = 0
	if got := text(one(t, g, r).Warnings, "rate-bucket"); got != "" {
		t.Errorf("of unknown length: %s", got)
	}
}

package intake_test

import (
	"strings"
	"testing"
	"time"

	"ebscope/internal/units"
)

// Three jobs of 3,000 IOPS write one log, each a line a second; of the last second fio logs one job only. Beside the jobs there is
// a reading of them together: 9,000 IOPS in each of the 59 seconds that all of them have, by 3 jobs with 32 I/Os each in flight.
func TestLogThatJobsShare(t *testing.T) {
	job := document("a", 60, `, "numjobs": "3", "per_job_logs": "0", "write_iops_log": "a"`)
	first, last := strings.Index(job, `{"jobname"`), strings.LastIndex(job, "]}")
	one := job[first:last]
	text := job[:first] + one + ", " + one + ", " + one + job[last:]
	log := logOf(59, 0, 3000) + logOf(59, 0, 3000) + logOf(60, 0, 3000)
	dir := folder(t, map[string]string{"a.json": text, "a_iops.log": log})
	readings, notes := open(t, dir)
	if len(readings) != 4 || len(notes) != 0 {
		t.Fatalf("%v, notes %v", jobs(readings, dir), notes)
	}
	all := readings[3]
	if w := all.Workload; all.Job != "a" || w.Jobs != 3 || w.QueueDepth != 32 || w.Pattern != "randread" || w.BlockSize != 4*units.KiB || all.Tool != "fio-3.33" {
		t.Errorf("%q by %s: %+v", all.Job, all.Tool, w)
	}
	if all.Total.IOPS != 9000 || all.Total.IOs != 3*180_000 || all.Total.Runtime != time.Minute || all.Summed {
		t.Errorf("total %+v", all.Total)
	}
	if n := len(all.IOPS); n != 59 || all.IOPS[0].Value != 9000 || all.IOPS[n-1].Value != 9000 {
		t.Errorf("%d points, %v … %v", n, all.IOPS[0], all.IOPS[n-1])
	}
	for _, r := range readings[:3] {
		if len(r.IOPS) != 0 || r.Total.IOPS != 3000 {
			t.Errorf("the log of all is given to one: %d points", len(r.IOPS))
		}
	}
}

// Logs that fio numbered 1 to 3 may be of jobs that ran side by side: 1,000 + 1,000 + 1,000. One that ran twice as long did not.
func TestNumberedLogsMayBelongTogether(t *testing.T) {
	one := logOf(60, 0, 1000)
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"three at the same times": {map[string]string{"a_iops.1.log": one, "a_iops.2.log": one, "a_iops.3.log": one}, "3 jobs of one run: if they ran side by side, limits hold for all together, 3000 IOPS"},
		"of other lengths":        {map[string]string{"a_iops.1.log": one, "a_iops.2.log": logOf(120, 0, 1000)}, ""},
		"of other runs":           {map[string]string{"a_iops.1.log": one, "b_iops.2.log": one}, ""},
	} {
		readings, _ := open(t, folder(t, c.files))
		for _, r := range readings {
			text := ""
			for _, w := range r.Warnings {
				text += w.Text
			}
			if !strings.Contains(text, c.want) || (text == "") != (c.want == "") {
				t.Errorf("%s: %s: %q", name, r.Source.File, text)
			}
		}
	}
}

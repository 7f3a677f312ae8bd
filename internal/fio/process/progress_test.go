package process

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/units"
)

func TestFollow(t *testing.T) {
	// As fio 3.33 writes it to a pipe, with a line that is too long for a status put in.
	status := "Jobs: 1 (f=1)\rJobs: 1 (f=1): [r(1)][50.0%][r=16.4MiB/s][r=4202 IOPS][eta 00m:01s]\r\n" +
		"Jobs: 2 (f=2), 0-6000 IOPS: [m(2)][-.-%][r=7.0MiB/s,w=7203KiB/s][r=1.8k,w=1801 IOPS][eta 00m:01s]\r" +
		"Jobs: 1 (f=1): [W(1)][100.0%][w=4GiB/s][w=1.05M IOPS][eta 00m:00s]\n" +
		strings.Repeat("x", 1<<20)
	var rates []units.IOPS
	follow(strings.NewReader(status), time.Now(), func(p Progress) { rates = append(rates, p.IOPS) })
	if diff := cmp.Diff([]units.IOPS{4202, 3601, 1_050_000}, rates); diff != "" {
		t.Errorf("rates (-want +got):\n%s", diff)
	}
}

func FuzzStatus(f *testing.F) {
	f.Add("Jobs: 1 (f=1): [r(1)][50.0%][r=16.4MiB/s][r=4202,w=1.2k IOPS][eta 00m:01s]")
	f.Add("[r=... IOPS]")
	f.Fuzz(func(t *testing.T, line string) {
		if rate, ok := StatusRate(line); !(rate >= 0) || !ok && rate != 0 {
			t.Errorf("rate %v, %v", rate, ok)
		}
	})
}

package cli

import (
	"strings"
	"testing"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

func TestOverride(t *testing.T) {
	p, err := workload.Shipped(ebs.Embedded(), "gp2-vs-gp3")
	if err != nil {
		t.Fatal(err)
	}
	got, err := override(p, []string{"gp2=gp2:500GiB", "gp3=gp3:500GiB,iops=6000,throughput=250MiB/s"})
	if err != nil {
		t.Fatal(err)
	}
	small, _ := got.Volume("gp2")
	large, _ := got.Volume("gp3")
	if small.Config != (ebs.Volume{Type: ebs.GP2, Size: 500 * units.GiB}) || small.Balance != 1 ||
		large.Config != (ebs.Volume{Type: ebs.GP3, Size: 500 * units.GiB, IOPS: 6000, Throughput: 250 * units.MiBPerSecond}) {
		t.Errorf("%+v and %+v", small, large)
	}
	if before, _ := p.Volume("gp2"); before.Config.Size != 100*units.GiB {
		t.Error("the profile itself was changed")
	}
	for text, want := range map[string]string{
		"gp2":                               "write it like gp2=gp2:500GiB",
		"gp9=gp2:500GiB":                    "it has gp3, gp2",
		"gp2=500GiB":                        "write it like gp2:500GiB",
		"gp2=gp2:500":                       "no unit",
		"gp2=gp2:500GB":                     "write 500GiB",
		"gp2=gp3:500GiB,iops=":              "iops=6000",
		"gp2=gp3:500GiB,iops=NaN":           "iops=6000",
		"gp2=gp3:500GiB,iops=-1":            "iops=6000",
		"gp2=gp3:500GiB,size=4000":          "use iops and throughput",
		"gp2=gp3:9GiB,iops=4000,iops=5000":  "iops is given twice",
		"gp2=gp3:500GiB,throughput=250MB/s": "throughput=250MiB/s",
		"gp2=gp3:500GiB,throughput=250":     "throughput=250MiB/s",
	} {
		if _, err := override(p, []string{text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one that says %q", text, err, want)
		}
	}
	if _, err := override(p, []string{"gp3=gp3:100GiB", "gp3=gp3:200GiB"}); err == nil || !strings.Contains(err.Error(), "gp3 is given twice") {
		t.Errorf("error %v, want one that says that gp3 is given twice", err)
	}
}

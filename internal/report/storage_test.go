package report_test

import (
	"strings"
	"testing"

	"ebscope/internal/report"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

func TestReportSaysWhatAVolumeWasReachedThrough(t *testing.T) {
	r := fixture(t)
	r.Run.Environment.Instance, r.Run.Environment.InstanceID, r.Run.Environment.Region = "m5.xlarge", "i-0123", "eu-west-1"
	r.Run.Environment.Clock = "tsc"
	r.Run.Environment.Storage = map[string]result.Storage{
		"gp2": {Device: "nvme1n1", Scheduler: "none", QueueRequests: 1023, MaxRequestKiB: 256, WriteCache: "write through"},
		"gp3": {Device: "md0", Members: []string{"nvme2n1", "nvme3n1"}, FileSystem: "xfs", MountOptions: "noatime,rw"},
	}
	r.Run.Devices = map[string]result.BlockDevice{"gp2": {Model: "Amazon Elastic Block Store", VolumeID: "vol-0123", Size: 100 * units.GiB}}
	var b strings.Builder
	if err := report.Markdown(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"m5.xlarge, i-0123, eu-west-1", "| Clock source | tsc |",
		"nvme1n1, Amazon Elastic Block Store, vol-0123, scheduler none, 1,023 requests queued, requests of at most 256 KiB, write through",
		"md0, made of nvme2n1 and nvme3n1, xfs, mounted with noatime,rw",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, b.String())
		}
	}
}

package crystaldiskmark_test

import (
	"strings"
	"testing"
)

func TestDecimalCommas(t *testing.T) {
	readings, notes := read(t, strings.NewReplacer("126.012", "126,012", "120.2", "120,2", "66338.80", "66338,80").Replace(version8))
	if r := readings[0]; len(notes) != 1 || r.Total.Throughput != mbps(126.012) || r.Total.IOPS != 120.2 {
		t.Errorf("%+v, notes %v", r.Total, notes)
	}
}

func TestLineThatCannotBeRead(t *testing.T) {
	// Eight lines are above: four of the frame, two remarks, an empty one and the section.
	_, notes := read(t, strings.Replace(version8, "126.012 MB/s", "126.0x2 MB/s", 1))
	if len(notes) != 2 || !notes[0].Skipped || notes[0].Line != 9 {
		t.Errorf("notes %+v", notes)
	}
}

// 3,025.4 I/Os of 4,096 bytes are 12.392 MB/s: a tenth of what is stated.
func TestBandwidthContradicts(t *testing.T) {
	readings, _ := read(t, strings.Replace(version8, " 12.392 MB/s", "123.920 MB/s", 1))
	for i, r := range readings {
		if contradicts := len(r.Warnings) == 1 && r.Warnings[0].Code == "bandwidth-contradicts"; contradicts != (i == 1) {
			t.Errorf("%s: %v", r.Job, r.Warnings)
		}
	}
}

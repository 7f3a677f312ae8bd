package ebs_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/ebs"
)

// Everything that ships, written as a user's catalog and read again over it, is what ships.
func TestWriteAndExtend(t *testing.T) {
	shipped := ebs.Embedded()
	var text bytes.Buffer
	if err := ebs.Write(&text, shipped.Instances(), shipped.Regions()); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"  m5.xlarge: {baseline_iops: 6000, maximum_iops: 18750, baseline_mbps: 1150, maximum_mbps: 4750, hypervisor: nitro, maximum_volumes: 27, source: ec2-user-guide ebs-optimized, date: 2026-04}\n",
		"      standard: {gib_month: 0.08, per_io: 8e-08, source: EBS price list, date: \"2026-09-02\"}\n",
	} {
		if !strings.Contains(text.String(), line) {
			t.Errorf("the catalog has no line %q", line)
		}
	}
	again, err := shipped.Extend(&text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(shipped.Instances(), again.Instances()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(shipped.Regions(), again.Regions()); diff != "" {
		t.Error(diff)
	}
}

package report_test

import (
	"strings"
	"testing"

	"ebscope/internal/report"
	"ebscope/internal/result"
)

func TestReportOfAClusterSaysWhere(t *testing.T) {
	r := fixture(t)
	r.Run.Environment.Cluster = &result.Cluster{
		Version: "v1.36.3", Namespace: "ebscope", Node: "ip-10-0-1-7", Zone: "ap-northeast-2a", ImageDigest: "sha256:1234",
		Volumes: []result.ClusterVolume{{Name: "gp2", Claim: "run-gp2-0", Volume: "pvc-1", Handle: "vol-0123", Class: "gp2", Driver: "ebs.csi.aws.com", DriverVersion: "v1.51.1"}},
	}
	var b strings.Builder
	if err := report.Markdown(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"v1.36.3", "ip-10-0-1-7", "sha256:1234", "claim run-gp2-0, volume pvc-1, vol-0123, class gp2, by ebs.csi.aws.com v1.51.1"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the report lacks %q", want)
		}
	}
}

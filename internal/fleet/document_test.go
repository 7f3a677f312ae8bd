package fleet_test

import (
	"encoding/json"
	"testing"

	"ebscope/internal/fleet"
)

// What scripts read keeps its name and its kind: numbers are numbers, and what is not known is null.
func TestDocumentInJSON(t *testing.T) {
	c := east()
	claimed(&c, "prod", "data", csi("vol-a"))
	s := inSeoul(20, gp2("vol-a", 100))
	s.Clusters = []fleet.Cluster{c}
	text, err := json.Marshal(scan(s, reads("vol-a", 20, 1200, 50)))
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Schema  string           `json:"schema"`
		Volumes []map[string]any `json:"volumes"`
		Totals  map[string]any   `json:"totals"`
		Missing []any            `json:"missing"`
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if d.Schema != "ebscope.scan/v1" || len(d.Volumes) != 1 || d.Missing == nil || d.Totals["usd_month"] != 11.4 || d.Totals["usd_month_saving"] != 2.28 {
		t.Errorf("got %s", text)
	}
	for name, want := range map[string]any{
		"volume_id": "vol-a", "pvc": "data", "namespace": "prod", "pv": "pv-prod-data", "storage_class": "gp2", "type": "gp2", "size_gib": 100.0,
		"instance_id": "i-1", "baseline_iops": 300.0, "seconds_to_empty": 3000.0, "usd_month": 11.4,
	} {
		if got := d.Volumes[0][name]; got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	recommendation, _ := d.Volumes[0]["recommendation"].(map[string]any)
	for name, want := range map[string]any{"action": "modify", "type": "gp3", "size_gib": 100.0, "iops": 3000.0, "throughput_mib_s": 125.0, "usd_month": 9.12, "usd_month_difference": -2.28} {
		if got := recommendation[name]; got != want {
			t.Errorf("%s of the recommendation is %v, want %v", name, got, want)
		}
	}
	findings, _ := d.Volumes[0]["findings"].([]any)
	if first, _ := findings[0].(map[string]any); len(findings) != 1 || first["code"] != "gp2-at-risk" {
		t.Errorf("findings %v", findings)
	}
}

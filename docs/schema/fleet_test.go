package schema_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"ebscope/internal/cli"
	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
)

// saved is the file of a fleet that has something of everything: a gp2 volume of a StatefulSet's claim with metrics, one that
// becomes dearer, one that is attached to nothing, one under change, one of no known type, an alarm of ebscope's that is to go,
// and something that could not be read.
func saved(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fleet.jsonl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	taken := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	of := func(id fleet.VolumeID, kind ebs.Type, gib, iops int64) fleet.Volume {
		return fleet.Volume{ID: id, Zone: "ap-northeast-2a", State: "in-use", Created: taken.Add(-1000 * time.Hour), Setting: fleet.Setting{Type: kind, SizeGiB: gib, IOPS: iops},
			Attachments: []fleet.Attachment{{Instance: "i-1", State: "attached"}}, Tags: map[string]string{"team": "shop"}}
	}
	alone := of("vol-3", ebs.GP2, 10, 100)
	alone.State, alone.Attachments = "available", nil
	s := fleet.Snapshot{Tool: "test", Taken: taken, Window: fleet.Window{Start: taken.Add(-time.Hour), Step: 5 * time.Minute, Points: 12},
		Regions: []fleet.Region{{
			Account: "123456789012", Name: "ap-northeast-2",
			Volumes:       []fleet.Volume{of("vol-1", ebs.GP2, 100, 300), of("vol-2", ebs.GP2, 171, 513), alone, of("vol-4", ebs.GP2, 50, 150), of("vol-5", "gp9", 50, 150)},
			Instances:     []fleet.Instance{{ID: "i-1", Type: "m5.xlarge", State: "running"}},
			Modifications: []fleet.Modification{{Volume: "vol-4", State: "optimizing", Progress: 40, Start: taken.Add(-time.Hour)}},
			Alarms: []fleet.Alarm{{Name: "ebscope-vol-9-burst-balance", Namespace: "AWS/EBS", Metric: "BurstBalance", Dimensions: map[string]string{"VolumeId": "vol-9"},
				Comparison: "LessThanOrEqualToThreshold", Threshold: 15, PeriodS: 60, EvaluationPeriods: 1}},
		}},
		Clusters: []fleet.Cluster{{
			UID: "cluster-1", Name: "east", Server: "v1.36.0",
			Claims:       []fleet.Claim{{UID: "claim-1", Namespace: "shop", Name: "data-db-0", Volume: "pv-1"}},
			Volumes:      []fleet.PersistentVolume{{UID: "pv-uid-1", Name: "pv-1", Driver: fleet.EBSDriver, Handle: "vol-1", ClaimNamespace: "shop", ClaimName: "data-db-0", ClaimUID: "claim-1"}},
			Classes:      []fleet.StorageClass{{UID: "class-1", Name: "gp2", Provisioner: fleet.EBSDriver, Parameters: map[string]string{"type": "gp2"}, Default: true}},
			StatefulSets: []fleet.StatefulSet{{UID: "set-1", Namespace: "shop", Name: "db", Templates: []fleet.Template{{Name: "data"}}}},
		}},
	}
	w, err := fleet.NewWriter(file, s)
	if err != nil {
		t.Fatal(err)
	}
	m := fleet.Metrics{Volume: "vol-1", ReadOps: fleet.NewSeries(12), BurstBalance: fleet.NewSeries(12)}
	for i := range 12 {
		m.ReadOps[i], m.BurstBalance[i] = 1000*300, 20
	}
	if err := w.Metrics(m); err != nil {
		t.Fatal(err)
	}
	missing := []fleet.Missing{{Account: "123456789012", Region: "us-east-1", Operation: "ec2:DescribeVolumes", Reason: fleet.Denied, Text: "a permission is missing"}}
	if err := w.Close(missing); err != nil {
		t.Fatal(err)
	}
	return path
}

// What the commands print is what the schemas say, and a schema refuses what is wrong.
func TestFleetDocumentsHold(t *testing.T) {
	file := saved(t)
	for command, d := range map[string]document{
		"scan":            scanDocument,
		"scan --type st1": scanDocument, // of which there are none
		"migrate plan":    migrationDocument,
		"alarm plan":      alarmDocument,
	} {
		var out, told bytes.Buffer
		words := append([]string{"ebscope"}, append(strings.Fields(command), "--from", file, "-o", "json")...)
		const part = 5 // something could not be read
		if code := cli.Main(t.Context(), words, &out, &told); code != part {
			t.Fatalf("%s: exit code %d: %s", command, code, &told)
		}
		s := d.compiled(t)
		valid := func(text string) error {
			value, err := validator.UnmarshalJSON(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			return s.Validate(value)
		}
		if err := valid(out.String()); err != nil {
			t.Errorf("%s: %v\n%s", command, err, &out)
		}
		for old, edit := range map[string]string{
			`"schema": "ebscope.`: `"schema": "other.`, `"tool": `: `"tool": 1, "was": `, `"schema": `: `"scheme": `,
		} {
			text := strings.Replace(out.String(), old, edit, 1)
			if text == out.String() || valid(text) == nil {
				t.Errorf("%s: a document with %s instead of %s is valid, or there was none", command, edit, old)
			}
		}
		if err := valid(strings.Replace(out.String(), `"schema": `, `"new": 1, "schema": `, 1)); err != nil {
			t.Errorf("%s: fields may be added: %v", command, err)
		}
	}
}

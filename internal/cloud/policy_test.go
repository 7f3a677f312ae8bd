package cloud_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"ebscope/internal/cloud"
	"ebscope/internal/fleet"
	"ebscope/test/fakeaws"
)

// Each task works under the policy that ships for it, and uses all that the policy allows.
func TestPolicies(t *testing.T) {
	for name, task := range map[string]func(*testing.T, cloud.Account, *fakeaws.Server){
		"scan": func(t *testing.T, account cloud.Account, server *fakeaws.Server) {
			who, err := account.Identity(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			names, lost, err := account.Regions(t.Context(), who, []string{"*"})
			if err != nil || len(lost) > 0 {
				t.Fatal(lost, err)
			}
			regions, lost := account.Inventory(t.Context(), who, names)
			if len(lost) > 0 || len(regions[0].Volumes) != 1 {
				t.Fatal(lost)
			}
			w, _ := cloud.LatestWindow(server.Now(), time.Hour)
			if lost, err := account.Metrics(t.Context(), regions[0], regions[0].Volumes, w, cloud.DefaultQuota, func(fleet.Metrics) error { return nil }); len(lost) > 0 || err != nil {
				t.Error(lost, err)
			}
		},
		"migrate": func(t *testing.T, account cloud.Account, _ *fakeaws.Server) {
			if _, err := account.Volume(t.Context(), seoul, "vol-1"); err != nil {
				t.Error(err)
			}
			change := cloud.Change{Volume: "vol-1", Target: gp3(100, 3000, 128)}
			if _, err := account.ModifyVolume(t.Context(), seoul, change); err != nil {
				t.Error(err)
			}
			if _, made, err := account.Made(t.Context(), seoul, change); !made || err != nil {
				t.Error(made, err)
			}
		},
		"alarm": func(t *testing.T, account cloud.Account, _ *fakeaws.Server) {
			if err := account.PutAlarm(t.Context(), seoul, balance("ebscope-vol-1", "vol-1")); err != nil {
				t.Error(err)
			}
			if ours, err := account.Alarms(t.Context(), seoul); err != nil || len(ours) != 1 {
				t.Error(ours, err)
			}
			if err := account.DeleteAlarms(t.Context(), seoul, []string{"ebscope-vol-1"}); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			account, server := open(t)
			v := gp2(100)
			v.ID = "vol-1"
			server.AddVolume(seoul, v)
			document, err := os.ReadFile(filepath.Join("..", "..", "docs", "aws", name+"-policy.json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := server.SetPolicy(document); err != nil {
				t.Fatal(err)
			}
			task(t, account, server)
			used := []string{"cloudwatch:TagResource"} // asked for by PutMetricAlarm with tags, not by a call of its own
			for _, c := range server.Calls("") {
				if c.Code != "" {
					t.Errorf("%s:%s is answered %s", c.Service, c.Action, c.Code)
				}
				used = append(used, c.Service+":"+c.Action)
			}
			for _, action := range actionsOf(t, document) {
				if !slices.Contains(used, action) {
					t.Errorf("the policy allows %s, which is not needed", action)
				}
			}
		})
	}
}

// Without one action of its policy a task says which is missing.
func TestPolicyLacksAnAction(t *testing.T) {
	account, server := open(t)
	if err := server.SetPolicy([]byte(`{"Statement": [{"Effect": "Allow", "Action": "cloudwatch:*", "Resource": "arn:aws:cloudwatch:*:*:alarm:other-*"}]}`)); err != nil {
		t.Fatal(err)
	}
	_, lost := account.Inventory(t.Context(), "1", []string{seoul})
	if len(lost) != 1 || lost[0].Reason != fleet.Denied {
		t.Errorf("missing: %+v", lost)
	}
	if err := account.PutAlarm(t.Context(), seoul, balance("ebscope-vol-1", "vol-1")); err == nil {
		t.Error("an alarm was made that the policy does not allow")
	}
}

func actionsOf(t *testing.T, document []byte) []string {
	t.Helper()
	var p struct{ Statement []struct{ Action any } }
	if err := json.Unmarshal(document, &p); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, s := range p.Statement {
		switch a := s.Action.(type) {
		case string:
			all = append(all, a)
		case []any:
			for _, one := range a {
				all = append(all, one.(string))
			}
		}
	}
	return all
}

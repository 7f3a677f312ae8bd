//go:build linux

package migrate

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ebscope/internal/cluster/manifest"
	"ebscope/test/fakeaws"
	"ebscope/test/kubernetes/testcluster"
)

// What the roles and policies that ship allow is what was asked for: nothing was refused, and nothing is allowed for nothing.
func (u *user) rights(t *testing.T) {
	u = u.in(t)
	for name, permissions := range map[string][]manifest.Permission{scanner: manifest.ScanPermissions(), account: manifest.MigratePermissions()} {
		requests, err := cluster.Requests("system:serviceaccount:" + account + ":" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range requests {
			if r.Code == http.StatusForbidden {
				t.Errorf("%s was refused %+v", name, r)
			}
		}
		for _, p := range permissions {
			if !slices.ContainsFunc(requests, func(r testcluster.Request) bool { return uses(r, p) }) {
				t.Errorf("%s may %s %s %s, and had no need of it", name, p.Verb, p.Resource, p.Name)
			}
		}
	}

	used := map[string]bool{"cloudwatch:TagResource": true} // asked for by PutMetricAlarm with tags, not by a call of its own
	for _, c := range aws.Calls("") {
		if c.Key != fakeaws.UserKey {
			continue
		}
		used[c.Service+":"+c.Action] = true
		if strings.Contains(c.Code, "Unauthorized") || strings.Contains(c.Code, "AccessDenied") {
			t.Errorf("%s:%s was refused: %s", c.Service, c.Action, c.Code)
		}
	}
	for _, name := range []string{"scan", "migrate", "alarm"} {
		for _, action := range u.actions(name) {
			if !used[action] {
				t.Errorf("the policy %s allows %s, and there was no need of it", name, action)
			}
		}
	}
}

// uses says whether a request needed a permission. What is applied on the server and was not there before is created.
func uses(r testcluster.Request, p manifest.Permission) bool {
	verb := r.Verb
	if verb == "patch" && r.Code == http.StatusCreated && p.Verb == "create" {
		verb = "create"
	}
	return verb == p.Verb && r.Group == p.Group && r.Resource == p.Resource && (p.Name == "" || r.Name == p.Name)
}

// actions are those that an IAM policy allows.
func (u *user) actions(policy string) (all []string) {
	u.Helper()
	text, err := os.ReadFile(filepath.Join(docs, "aws", policy+"-policy.json"))
	if err != nil {
		u.Fatal(err)
	}
	var d struct{ Statement []struct{ Action any } }
	if err := json.Unmarshal(text, &d); err != nil {
		u.Fatal(err)
	}
	for _, s := range d.Statement {
		switch a := s.Action.(type) {
		case string:
			all = append(all, a)
		case []any:
			for _, x := range a {
				all = append(all, x.(string))
			}
		}
	}
	return all
}

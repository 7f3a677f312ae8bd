package manifest_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"ebscope/internal/cluster/manifest"
)

// fleetRoles are the ClusterRoles of the commands about fleets. They are written from the permissions.
var fleetRoles = []struct {
	file, name, title string
	permissions       []manifest.Permission
	rules             []rbacv1.PolicyRule
}{
	{"scan-role.yaml", "ebscope-scan", "What `ebscope scan` may do in a cluster: read, and change nothing.", manifest.ScanPermissions(), manifest.ScanRules()},
	{"migrate-role.yaml", "ebscope-migrate", "What `ebscope migrate` may do in a cluster: what a scan may, and change claims and classes.", manifest.MigratePermissions(), manifest.MigrateRules()},
}

var fleetRoleForm = template.Must(template.Must(roleForm.Clone()).New("fleet").Parse(`# {{.Title}}
# Written from internal/cluster/manifest/permissions_fleet.go by: go test ./internal/cluster/manifest -update
# Put your user or group in place of the ServiceAccount. See README.md.
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{.Name}}
rules:
{{- range .Kinds}}{{template "rule" .}}{{end}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{.Name}}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{.Name}}
subjects:
  - kind: ServiceAccount
    name: ebscope
    namespace: ebscope
`))

func TestFleetRoleDocuments(t *testing.T) {
	for _, r := range fleetRoles {
		t.Run(r.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := fleetRoleForm.ExecuteTemplate(&b, "fleet", map[string]any{"Title": r.title, "Name": r.name, "Kinds": byKind(r.permissions)}); err != nil {
				t.Fatal(err)
			}
			file := strings.Replace(roleFile, "role.yaml", r.file, 1)
			golden(t, file, b.Bytes())
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			role, _, _ := strings.Cut(string(text), "\n---\n")
			var granted rbacv1.ClusterRole
			if err := yaml.UnmarshalStrict([]byte(role), &granted); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(r.rules, granted.Rules); diff != "" {
				t.Errorf("-rules +%s:\n%s", file, diff)
			}
		})
	}
}

// A scan reads. No role of the two may do what neither needs: read secrets, make or delete volumes.
func TestFleetRolesAreTheLeast(t *testing.T) {
	for _, r := range fleetRoles {
		seen := map[string]bool{}
		for _, p := range r.permissions {
			key := fmt.Sprint(p.Verb, " ", p.Group, "/", p.Resource, " ", p.Name)
			if seen[key] {
				t.Errorf("%s: %s is granted twice", r.name, key)
			}
			seen[key] = true
			reads := p.Verb == "get" || p.Verb == "list"
			switch {
			case p.Why == "", strings.Contains(key, "*"), p.Resource == "secrets", p.Verb == "delete", p.Resource == "persistentvolumes" && !reads:
				t.Errorf("%s: %s (%s)", r.name, key, p.Why)
			case r.name == "ebscope-scan" && !reads:
				t.Errorf("a scan may %s", key)
			}
		}
	}
}

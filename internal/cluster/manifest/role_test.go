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

// roleFile is what an administrator applies. It is written from Permissions, so that it cannot fall behind.
const roleFile = "../../../docs/kubernetes/role.yaml"

var roleForm = template.Must(template.New("").Parse(`# What ebscope may do in a cluster: no more than it needs, each verb with its reason.
# Written from internal/cluster/manifest/permissions.go by: go test ./internal/cluster/manifest -update
# Put your user or group in place of the ServiceAccount where the two bindings name it. See README.md.
apiVersion: v1
kind: Namespace
metadata:
  name: ebscope
  labels:
    pod-security.kubernetes.io/enforce: restricted # baseline for raw devices and existing claims
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: ebscope
  namespace: ebscope
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: ebscope
  namespace: ebscope
rules:
{{- range .Namespaced}}{{template "rule" .}}{{end}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: ebscope
  namespace: ebscope
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: ebscope
subjects:
  - kind: ServiceAccount
    name: ebscope
    namespace: ebscope
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: ebscope
rules:
{{- range .ClusterWide}}{{template "rule" .}}{{end}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: ebscope
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: ebscope
subjects:
  - kind: ServiceAccount
    name: ebscope
    namespace: ebscope
{{define "rule"}}
{{- range $i, $p := .}}
{{- if eq $i 0}}
  - apiGroups: ["{{.Group}}"]
    resources: ["{{.Resource}}"]
{{- if .Name}}
    resourceNames: ["{{.Name}}"]
{{- end}}
    verbs:
{{- end}}
      - {{.Verb}} # {{.Why}}{{if ne .Need "every run"}} ({{.Need}}){{end}}
{{- end}}
{{- end}}`))

// byKind puts the verbs of a kind together, without those that only make namespaces.
func byKind(permissions []manifest.Permission) (kinds [][]manifest.Permission) {
	for _, p := range permissions {
		if p.Need == manifest.ToMakeNamespace {
			continue
		}
		if n := len(kinds); n > 0 && kinds[n-1][0].Group == p.Group && kinds[n-1][0].Resource == p.Resource {
			kinds[n-1] = append(kinds[n-1], p)
		} else {
			kinds = append(kinds, []manifest.Permission{p})
		}
	}
	return kinds
}

func TestRoleDocuments(t *testing.T) {
	namespaced, clusterWide := manifest.Permissions()
	var b bytes.Buffer
	if err := roleForm.Execute(&b, map[string]any{"Namespaced": byKind(namespaced), "ClusterWide": byKind(clusterWide)}); err != nil {
		t.Fatal(err)
	}
	golden(t, roleFile, b.Bytes())
}

// The documents that ship grant the rules, no more and no less.
func TestRoleDocumentsGrantTheRules(t *testing.T) {
	text, err := os.ReadFile(roleFile)
	if err != nil {
		t.Fatal(err)
	}
	namespaced, clusterWide := manifest.Rules()
	want := map[string][]rbacv1.PolicyRule{"Role": namespaced, "ClusterRole": clusterWide}
	for _, document := range strings.Split(string(text), "\n---\n") {
		var role struct {
			Kind  string
			Rules []rbacv1.PolicyRule
		}
		if err := yaml.Unmarshal([]byte(document), &role); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[role.Kind], role.Rules); diff != "" {
			t.Errorf("%s (-Rules +%s):\n%s", role.Kind, roleFile, diff)
		}
		delete(want, role.Kind)
	}
	if len(want) > 0 {
		t.Errorf("%s has no %v", roleFile, want)
	}
}

// A verb is granted once: twice, one of the two reasons would be overlooked when the other goes.
func TestAVerbIsGrantedOnce(t *testing.T) {
	namespaced, clusterWide := manifest.Permissions()
	seen := map[string]bool{}
	for _, p := range append(namespaced, clusterWide...) {
		key := fmt.Sprint(p.Verb, " ", p.Group, "/", p.Resource, " ", p.Name)
		if seen[key] {
			t.Errorf("%s is granted twice", key)
		}
		seen[key] = true
		if p.Why == "" || p.Need == "" {
			t.Errorf("%s has no reason", key)
		}
		if strings.Contains(p.Verb+p.Group+p.Resource, "*") || p.Resource == "secrets" {
			t.Errorf("%s is more than any run needs", key)
		}
	}
}

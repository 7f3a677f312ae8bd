package cluster_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"ebscope/internal/cluster"
	"ebscope/internal/cluster/manifest"
)

// Each permission taken away alone is named, with its verb, its resource and where, unless the run does not need it.
func TestEachMissingPermissionIsNamed(t *testing.T) {
	namespaced, clusterWide := manifest.Permissions()
	for i, p := range slices.Concat(namespaced, clusterWide) {
		t.Run(p.Verb+" "+p.Resource, func(t *testing.T) {
			s := good()
			s.pools = []runtime.Object{}
			s.denied = []string{p.Verb + " " + p.Resource}
			found := s.preflight(t)
			if p.Need == manifest.ToMakeNamespace { // the namespace exists
				if len(found) != 0 {
					t.Errorf("found %+v, want nothing", found)
				}
				return
			}
			name := p.Resource
			if p.Group != "" {
				name += "." + p.Group
			}
			where, severity := "in the cluster", cluster.Refuse
			if i < len(namespaced) {
				where = "in namespace ebscope"
			}
			if p.Need == manifest.ForChecks {
				severity = cluster.Warn
			}
			named := slices.ContainsFunc(found, func(f cluster.Finding) bool {
				return f.Code == "permission" && f.Severity == severity && strings.Contains(f.Text, "may not "+p.Verb+" "+name) && strings.Contains(f.Text, where)
			})
			if !named {
				t.Errorf("found %+v, want %s: may not %s %s %s", found, severity, p.Verb, name, where)
			}
			if rest := slices.DeleteFunc(found, func(f cluster.Finding) bool { return f.Code == "permission" }); slices.ContainsFunc(rest, func(f cluster.Finding) bool { return f.Severity == cluster.Refuse }) {
				t.Errorf("what could not be seen was refused for: %+v", rest)
			}
		})
	}
}

func TestPermissionsOfWhatIsMade(t *testing.T) {
	s := good()
	s.remove("ebscope")
	s.denied = []string{"create namespaces", "create storageclasses"}
	if found := s.preflight(t); len(found) != 2 || !strings.Contains(found[0].Text, "create namespaces") || !strings.Contains(found[1].Text, "create storageclasses.storage.k8s.io") {
		t.Errorf("found %+v", found)
	}
	// With classes that exist, also for the results, none is made.
	s = good()
	s.add(class("fast"), class("old", "type", "gp2"))
	s.wanted.Spec.Volumes[0].Class, s.wanted.Spec.Volumes[1].Class, s.wanted.Spec.ResultsClass = "fast", "old", "fast"
	s.denied = []string{"create storageclasses"}
	if found := s.preflight(t); len(found) != 0 {
		t.Errorf("found %+v, want nothing", found)
	}
}

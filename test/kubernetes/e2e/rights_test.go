//go:build linux

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/cluster/manifest"
	"ebscope/test/kubernetes/testcluster"
)

// roleFile is the Role that ships. It is for the namespace and the ServiceAccount of this name.
const (
	roleFile = "../../../docs/kubernetes/role.yaml"
	roleName = "ebscope"
)

// realTimeProfile is for volumes of classes that ebscope makes, which cannot be compressed.
const realTimeProfile = `
name: real-time
instance: m5.xlarge
file_size: 64MiB
gap: 450ms
volumes:
  - {name: gp3, type: gp3, size: 100GiB}
  - {name: gp2, type: gp2, size: 100GiB}
phases:
  - {name: layout, volume: gp3, rw: write, block_size: 1MiB, queue_depth: 1}
  - {name: layout, volume: gp2, rw: write, block_size: 1MiB, queue_depth: 1}
  - {name: randread-qd32, volume: gp3, rw: randread, block_size: 4KiB, queue_depth: 32, duration: 2s}
  - {name: randread-qd32, volume: gp2, rw: randread, block_size: 4KiB, queue_depth: 32, duration: 2s}
`

// Whoever is bound to the Role that ships, and may do nothing else, can do all that ebscope does in a cluster.
func TestShippedRole(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.namespace = roleName // it goes with the test
	u.kubectl("", "apply", "-f", roleFile)
	t.Cleanup(func() { u.kubectlAfter("delete", "clusterrole,clusterrolebinding", roleName) })
	var err error
	if u.kubeconfig, err = cluster.ServiceAccountKubeconfig(t.Context(), roleName, roleName); err != nil {
		t.Fatal(err)
	}
	u.awaitVerdict(manifest.Permission{Resource: "nodes", Verb: "list"}, "", true)
	bench := []string{"bench", "--target", "kubernetes", "--profile", u.file("real-time.yaml", realTimeProfile), "--image", testcluster.Image}

	t.Run("everything works", func(t *testing.T) {
		begun := u.run(append(bench, "--detach")...)
		begun.expect(t, 0)
		if strings.Contains(begun.stderr, "may not") {
			t.Errorf("something could not be checked:\n%s", begun.stderr)
		}
		id := strings.TrimSpace(begun.stdout)
		u.run("status").expect(t, 0)
		u.run("status", id).expect(t, 0)
		u.run("attach", id, "--keep").expect(t, 0, "[4/4] gp2 randread-qd32", "the run is left in the cluster")
		measured(t, u.onlyRun("runs"), 4)
		u.run("collect", id, "--runs", "again").expect(t, 0)
		measured(t, u.onlyRun("again"), 4)
		u.run("cleanup", id).expect(t, 0)
		u.nothingLeft()
		u.noClassLeft()

		u.run(bench...).expect(t, 0, "removing run")
		u.nothingLeft()
		u.noClassLeft()
	})
	namespaced, clusterWide := manifest.Permissions()
	for _, p := range namespaced {
		u.without(t, bench, p, u.namespace)
	}
	for _, p := range clusterWide {
		u.without(t, bench, p, "")
	}
}

// without takes one permission away: preflight names it, and nothing else; without one that only a check needs, it says so.
func (u *user) without(t *testing.T, bench []string, p manifest.Permission, namespace string) {
	if p.Need == manifest.ToMakeNamespace {
		return // the Role does not have it
	}
	name := p.Resource
	if p.Group != "" {
		name = strings.Join(append([]string{p.Resource}, p.Group), ".")
	}
	t.Run(p.Verb+" "+name, func(t *testing.T) {
		restore := u.take(p, namespace)
		defer restore()
		u.awaitVerdict(p, namespace, false)
		where := "in the cluster"
		if namespace != "" {
			where = "in namespace " + namespace
		}
		resource := name
		if p.Name != "" {
			resource += " " + p.Name
		}
		text := fmt.Sprintf("this user may not %s %s %s", p.Verb, resource, where)
		if p.Need == manifest.ForChecks {
			// The run would go on: something else ends it.
			u.run(append(slices.Clone(bench), "--pvc", "gp2=none")...).expect(t, 4, text, "there is no claim none")
			return
		}
		o := u.run(bench...)
		o.expect(t, 4, text)
		if n := strings.Count(o.stderr, "this user may not"); n != 1 {
			t.Errorf("%d permissions are named, want one:\n%s", n, o.stderr)
		}
		if left := u.kubectl("", "get", kinds, "--selector="+manifest.ManagedByLabel, "--output=name"); left != "" {
			t.Errorf("something was made: %s", left)
		}
		u.noClassLeft()
	})
}

// take removes a verb from the rules that ship.
func (u *user) take(p manifest.Permission, namespace string) (restore func()) {
	u.Helper()
	less := func(rules []rbacv1.PolicyRule) (all []rbacv1.PolicyRule) {
		for _, r := range rules {
			if slices.Equal(r.APIGroups, []string{p.Group}) && slices.Equal(r.Resources, []string{p.Resource}) {
				r.Verbs = slices.DeleteFunc(slices.Clone(r.Verbs), func(verb string) bool { return verb == p.Verb })
				if len(r.Verbs) == 0 {
					continue
				}
			}
			all = append(all, r)
		}
		return all
	}
	set := func(change func([]rbacv1.PolicyRule) []rbacv1.PolicyRule) (was []rbacv1.PolicyRule) {
		ctx, rbac := u.Context(), cluster.Client.RbacV1()
		var err error
		if namespace != "" {
			role, e := rbac.Roles(namespace).Get(ctx, roleName, metav1.GetOptions{})
			if e != nil {
				u.Fatal(e)
			}
			was, role.Rules = role.Rules, change(role.Rules)
			_, err = rbac.Roles(namespace).Update(ctx, role, metav1.UpdateOptions{})
		} else {
			role, e := rbac.ClusterRoles().Get(ctx, roleName, metav1.GetOptions{})
			if e != nil {
				u.Fatal(e)
			}
			was, role.Rules = role.Rules, change(role.Rules)
			_, err = rbac.ClusterRoles().Update(ctx, role, metav1.UpdateOptions{})
		}
		if err != nil {
			u.Fatal(err)
		}
		return was
	}
	was := set(less)
	return func() {
		set(func([]rbacv1.PolicyRule) []rbacv1.PolicyRule { return was })
		u.awaitVerdict(p, namespace, true)
	}
}

// awaitVerdict waits until the API server has heard of a changed role.
func (u *user) awaitVerdict(p manifest.Permission, namespace string, allowed bool) {
	u.Helper()
	resource, sub, _ := strings.Cut(p.Resource, "/")
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: "system:serviceaccount:" + roleName + ":" + roleName,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: p.Verb, Group: p.Group, Resource: resource, Subresource: sub, Name: p.Name,
		}}}
	eventually(u, 20*time.Second, fmt.Sprintf("%s %s is %v", p.Verb, p.Resource, allowed), func() error {
		answer, err := cluster.Client.AuthorizationV1().SubjectAccessReviews().Create(u.Context(), review, metav1.CreateOptions{})
		if err == nil && answer.Status.Allowed != allowed {
			return fmt.Errorf("allowed: %v", answer.Status.Allowed)
		}
		return err
	})
}

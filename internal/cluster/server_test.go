package cluster_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"ebscope/internal/cluster"
	"ebscope/internal/cluster/manifest"
)

// TestServer asks a real API server what a fake does not know: defaults, validation, field management and RBAC.
func TestServer(t *testing.T) {
	path := os.Getenv("EBSCOPE_TEST_KUBECONFIG")
	if path == "" {
		t.Skip("no cluster: start one with `go run ./test/kubernetes/up` and put the path that it prints in EBSCOPE_TEST_KUBECONFIG")
	}
	admin := connect(t, path)
	admin.Namespace = namespaceOf(t, admin.Kubernetes)
	t.Cleanup(func() { removeClasses(t, admin.Kubernetes) })
	user := limited(t, admin, nil)

	t.Run("applied twice", func(t *testing.T) {
		for range 2 {
			if err := user.Apply(t.Context(), objectsOf(t, admin.Namespace)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(everything, names(t, admin.Kubernetes, admin.Namespace)); diff != "" {
				t.Fatal(diff)
			}
		}
		job, err := admin.Kubernetes.BatchV1().Jobs(admin.Namespace).Get(t.Context(), manifest.JobName(run, 0), metav1.GetOptions{})
		if err != nil || job.Generation != 1 {
			t.Errorf("the Job was changed: generation %d, error %v", job.Generation, err)
		}
	})
	t.Run("foreign", func(t *testing.T) {
		configs := admin.Kubernetes.CoreV1().ConfigMaps(admin.Namespace)
		if err := configs.Delete(t.Context(), manifest.ConfigMapName(run), metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		mine := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: manifest.ConfigMapName(run)}, Data: map[string]string{"mine": "yes"}}
		if _, err := configs.Create(t.Context(), mine, metav1.CreateOptions{FieldManager: "helm"}); err != nil {
			t.Fatal(err)
		}
		err := user.Apply(t.Context(), objectsOf(t, admin.Namespace))
		var declined *cluster.DeclinedError
		if !errors.As(err, &declined) || len(declined.Findings) != 1 || !strings.Contains(err.Error(), "configmap "+admin.Namespace+"/"+mine.Name) || !strings.Contains(err.Error(), "helm") {
			t.Errorf("error %v, want a DeclinedError that names the ConfigMap and helm", err)
		}
		if after, err := configs.Get(t.Context(), mine.Name, metav1.GetOptions{}); err != nil || after.Data["mine"] != "yes" || len(after.Data) != 1 {
			t.Errorf("it is now %+v, error %v", after.Data, err)
		}
	})
	t.Run("forbidden", func(t *testing.T) {
		other := connect(t, path)
		other.Namespace = namespaceOf(t, admin.Kubernetes)
		user := limited(t, other, func(p manifest.Permission) bool { return p.Resource == "configmaps" && p.Verb == "create" })
		removeClasses(t, admin.Kubernetes)
		w := good().wanted
		w.Spec.Namespace, w.Objects = other.Namespace, objectsOf(t, other.Namespace)
		found, err := user.Preflight(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		var missing []string
		for _, f := range found {
			if f.Code == "permission" || f.Code == "unchecked" && !strings.Contains(f.Text, "has room") {
				missing = append(missing, f.Text)
			}
		}
		if len(missing) != 1 || !strings.HasPrefix(missing[0], "this user may not create configmaps in namespace "+other.Namespace) {
			t.Errorf("missing permissions %q, want the one that was taken away", missing)
		}
		err = user.Apply(t.Context(), w.Objects)
		var forbidden *cluster.ForbiddenError
		if !errors.As(err, &forbidden) || forbidden.Verb != "create" || forbidden.Resource != "configmaps" || forbidden.Namespace != other.Namespace || forbidden.Who != userName {
			t.Errorf("error %v, want a ForbiddenError about create configmaps", err)
		}
		var part *cluster.PartlyAppliedError
		if !errors.As(err, &part) || len(part.Applied) != 6 { // 3 classes and 3 claims come first
			t.Errorf("error %v, want a PartlyAppliedError about 6 objects", err)
		}
	})
}

func namespaceOf(t *testing.T, k kubernetes.Interface) string {
	t.Helper()
	n, err := k.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "ebscope-test-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.CoreV1().Namespaces().Delete(context.WithoutCancel(t.Context()), n.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	return n.Name
}

func removeClasses(t *testing.T, k kubernetes.Interface) {
	t.Helper()
	o := metav1.ListOptions{LabelSelector: manifest.RunLabel + "=" + manifest.Name(run)}
	if err := k.StorageV1().StorageClasses().DeleteCollection(context.WithoutCancel(t.Context()), metav1.DeleteOptions{}, o); err != nil {
		t.Error(err)
	}
}

const userName = "ebscope-test-user"

// limited is a client of a user who has the permissions of the Role that ships, and no others, except those left out.
func limited(t *testing.T, admin *cluster.Client, leftOut func(manifest.Permission) bool) *cluster.Client {
	t.Helper()
	namespaced, clusterWide := manifest.Permissions()
	roles := admin.Kubernetes.RbacV1()
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: userName, APIGroup: rbacv1.GroupName}}
	meta := metav1.ObjectMeta{Name: admin.Namespace}
	role := &rbacv1.Role{ObjectMeta: meta, Rules: rulesOf(namespaced, leftOut)}
	if _, err := roles.Roles(admin.Namespace).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name}}
	if _, err := roles.RoleBindings(admin.Namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	clusterRole := &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rulesOf(clusterWide, leftOut)}
	if _, err := roles.ClusterRoles().Create(t.Context(), clusterRole, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	clusterBinding := &rbacv1.ClusterRoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name}}
	if _, err := roles.ClusterRoleBindings().Create(t.Context(), clusterBinding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(roles.ClusterRoleBindings().Delete(context.WithoutCancel(t.Context()), meta.Name, metav1.DeleteOptions{}), roles.ClusterRoles().Delete(context.WithoutCancel(t.Context()), meta.Name, metav1.DeleteOptions{})); err != nil {
			t.Error(err)
		}
	})
	config := rest.CopyConfig(admin.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: userName}
	return &cluster.Client{Kubernetes: kubernetes.NewForConfigOrDie(config), Dynamic: dynamic.NewForConfigOrDie(config), Config: config, Namespace: admin.Namespace}
}

func rulesOf(permissions []manifest.Permission, leftOut func(manifest.Permission) bool) (rules []rbacv1.PolicyRule) {
	for _, p := range permissions {
		if leftOut != nil && leftOut(p) {
			continue
		}
		r := rbacv1.PolicyRule{APIGroups: []string{p.Group}, Resources: []string{p.Resource}, Verbs: []string{p.Verb}}
		if p.Name != "" {
			r.ResourceNames = []string{p.Name}
		}
		rules = append(rules, r)
	}
	return rules
}

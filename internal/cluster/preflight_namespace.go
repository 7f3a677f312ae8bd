package cluster

import (
	"context"
	"errors"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/cluster/manifest"
)

// inspectNamespace reads the namespace: whether it exists, and whether it admits the run's pods.
func (s *survey) inspectNamespace(ctx context.Context) ([]Finding, error) {
	n, err := s.Kubernetes.CoreV1().Namespaces().Get(ctx, s.Namespace, metav1.GetOptions{})
	err = s.failed(err, "read namespace %s", s.Namespace)
	var forbidden *ForbiddenError
	switch {
	case errors.As(err, &forbidden):
		s.namespaceHidden = true
		return nil, err
	case isNotFound(err) && s.Spec.CreateNamespace:
		return nil, nil
	case isNotFound(err):
		return []Finding{refuse("no-namespace", "there is no namespace %s: make it with `kubectl create namespace %s`, or name another", s.Namespace, s.Namespace)}, nil
	case err != nil:
		return nil, err
	}
	s.namespace = n
	if n.Status.Phase == corev1.NamespaceTerminating {
		return []Finding{refuse("namespace-terminating", "namespace %s is being deleted: wait until it is gone, or name another", n.Name)}, nil
	}
	level, needs := n.Labels[manifest.EnforceLabel], s.Spec.PodSecurityLevel()
	if level == manifest.LevelRestricted && needs != manifest.LevelRestricted {
		return []Finding{refuse("pod-security", "namespace %s enforces Pod Security level %s, and the run's pod needs %s, since raw devices and the "+
			"file systems of existing claims are root's: use another namespace, or let the run make volumes with a file system of its own", n.Name, level, needs)}, nil
	}
	return nil, nil
}

// otherRuns finds runs that are still active in the namespace: the volumes of two would share the nodes' limits.
func (s *survey) otherRuns(ctx context.Context) ([]Finding, error) {
	jobs, err := s.Kubernetes.BatchV1().Jobs(s.Namespace).List(ctx, metav1.ListOptions{LabelSelector: manifest.ManagedByLabel + "=" + manifest.ManagedBy})
	if err != nil {
		return nil, s.failed(err, "list the Jobs of runs in namespace %s", s.Namespace)
	}
	own := manifest.Name(s.Spec.Run)
	var active []string
	for _, j := range jobs.Items {
		if run := j.Labels[manifest.RunLabel]; run != "" && run != own && !over(j) && !slices.Contains(active, run) {
			active = append(active, run)
		}
	}
	if len(active) == 0 {
		return nil, nil
	}
	slices.Sort(active)
	return []Finding{refuse("other-run", "namespace %s has an active run already, %s: wait for it (`ebscope attach %[3]s -n %[1]s`), remove it (`ebscope cleanup %[3]s -n %[1]s`), or use another namespace",
		s.Namespace, strings.Join(active, ", "), active[0])}, nil
}

// over says whether a Job has come to its end.
func over(j batchv1.Job) bool {
	return slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
}

package cluster

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"ebscope/internal/cluster/manifest"
	"ebscope/internal/cluster/runner"
)

// PodState says how a pod stands.
type PodState string

// The states of a pod.
const (
	PodPending   PodState = "pending" // Reason says what it waits for, where the cluster says it
	PodRunning   PodState = "running"
	PodSucceeded PodState = "succeeded"
	PodFailed    PodState = "failed"  // its container failed
	PodEvicted   PodState = "evicted" // taken away: drained, preempted, out of memory or disk on the node
	PodLost      PodState = "lost"    // its node is gone or does not answer
	PodDeleted   PodState = "deleted" // somebody deleted it, or it was deleted unseen
)

// Over says that a pod in this state will not run again.
func (s PodState) Over() bool { return s != PodPending && s != PodRunning }

// PodStatus is a pod as the cluster sees it.
type PodStatus struct {
	Name    string
	Created time.Time
	Node    string // empty until it is scheduled
	State   PodState
	Reason  string // the cluster's own word: Unschedulable, ErrImagePull, Evicted; may be empty
	Message string // in the cluster's own words, or the runner's where it failed; may be empty
	Exit    int    // of the container, where it ended
	Image   string // with its digest, once it runs
}

// podStatus reads a pod's state from what Kubernetes says in several places.
func podStatus(p *corev1.Pod) PodStatus {
	s := PodStatus{
		Name: p.Name, Created: p.CreationTimestamp.Time, Node: p.Spec.NodeName,
		Reason: p.Status.Reason, Message: p.Status.Message,
	}
	for _, c := range p.Status.ContainerStatuses {
		if c.Name == manifest.RunnerContainer {
			s.Image = c.ImageID
			if c.State.Terminated != nil {
				s.Exit = int(c.State.Terminated.ExitCode)
			}
		}
	}
	switch {
	case p.Status.Phase == corev1.PodSucceeded:
		s.State = PodSucceeded
	case p.Status.Reason == "NodeLost":
		s.State = PodLost
	case p.Status.Reason == "Evicted":
		s.State = PodEvicted
	case disruption(p, &s):
	case p.DeletionTimestamp != nil:
		s.State = PodDeleted
		ended(p, &s) // it is asked to end, and fails because of it
	case p.Status.Phase == corev1.PodFailed:
		s.State = PodFailed
		ended(p, &s)
	case p.Status.Phase == corev1.PodRunning:
		s.State = PodRunning
	default:
		s.State = PodPending
		waits(p, &s)
	}
	return s
}

// disruption sees a pod that the cluster takes away: the condition says who, and comes before the pod has ended.
func disruption(p *corev1.Pod, s *PodStatus) bool {
	c := condition(p, corev1.DisruptionTarget)
	if c == nil || c.Status != corev1.ConditionTrue {
		return false
	}
	s.State, s.Reason, s.Message = PodEvicted, c.Reason, c.Message
	if c.Reason == corev1.PodReasonTerminationByKubelet && p.Status.Reason != "" {
		s.Reason, s.Message = p.Status.Reason, p.Status.Message
	}
	if c.Reason == "DeletionByTaintManager" || c.Reason == "DeletionByPodGC" {
		s.State = PodLost
	}
	return true
}

// ended finds out why a container failed.
func ended(p *corev1.Pod, s *PodStatus) {
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		t := c.State.Terminated
		if t == nil || t.ExitCode == 0 {
			continue
		}
		s.Exit = int(t.ExitCode)
		if s.Reason == "" {
			s.Reason = t.Reason
		}
		if s.Message == "" {
			s.Message = cmp.Or(lastWords(t.Message), "container "+c.Name+" ended with exit code "+strconv.Itoa(s.Exit))
		}
		return
	}
}

// lastWords returns what the end of a container's log says, which Kubernetes keeps as its message: the text of an event of
// the runner, or else the last line.
func lastWords(log string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	for _, line := range slices.Backward(lines) {
		if e, ok := eventLine(line); ok && e.Text != "" {
			return e.Text
		}
	}
	last := lines[len(lines)-1]
	if _, ok := eventLine(last); ok {
		return ""
	}
	return last
}

// eventLine reads an event line of the runner.
func eventLine(line string) (runner.Event, bool) {
	var e runner.Event
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil {
		return runner.Event{}, false
	}
	return e, e.Kind != ""
}

// waits finds out what a pending pod waits for.
func waits(p *corev1.Pod, s *PodStatus) {
	if c := condition(p, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionFalse {
		s.Reason, s.Message = c.Reason, c.Message
		return
	}
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if w := c.State.Waiting; w != nil && w.Reason != "" {
			s.Reason, s.Message = w.Reason, w.Message
			return
		}
	}
}

func condition(p *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == kind {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}

// JobState says how the Job of a pair stands.
type JobState string

// The states of a Job.
const (
	JobActive    JobState = "active"
	JobSucceeded JobState = "succeeded"
	JobFailed    JobState = "failed"
	JobDeleted   JobState = "deleted" // somebody deleted it before it had ended
)

// PairStatus is how one pair of volumes comes along.
type PairStatus struct {
	Pair    int // from 0
	Job     string
	State   JobState
	Reason  string // of a failure, the cluster's own word: BackoffLimitExceeded, DeadlineExceeded, PodFailurePolicy
	Message string
	Ended   time.Time   // zero while it is active, and where it was deleted
	Pods    []PodStatus // the oldest first
}

// pairStatus reads a Job's state. Its conditions are set only when all its pods have ended.
func pairStatus(j *batchv1.Job) PairStatus {
	s := PairStatus{Pair: pairOf(j.Labels), Job: j.Name, State: JobActive}
	for _, c := range j.Status.Conditions {
		if c.Status != corev1.ConditionTrue {
			continue
		}
		switch c.Type {
		case batchv1.JobComplete:
			s.State, s.Ended = JobSucceeded, c.LastTransitionTime.Time
		case batchv1.JobFailed:
			s.State, s.Reason, s.Message, s.Ended = JobFailed, c.Reason, c.Message, c.LastTransitionTime.Time
		case batchv1.JobSuspended:
			s.Reason, s.Message = c.Reason, c.Message
		}
	}
	return s
}

// pairOf returns the pair that an object's labels name, 0 without one.
func pairOf(labels map[string]string) int {
	n, err := strconv.Atoi(labels[manifest.PairLabel])
	if err != nil {
		return 0
	}
	return n
}

// pairs puts Jobs and pods together, in the order of the pairs.
func pairs(jobs []*batchv1.Job, pods []*corev1.Pod) []PairStatus {
	all := make([]PairStatus, 0, len(jobs))
	at := map[int]int{}
	slices.SortFunc(jobs, func(a, b *batchv1.Job) int { return cmp.Compare(pairOf(a.Labels), pairOf(b.Labels)) })
	for _, j := range jobs {
		at[pairOf(j.Labels)] = len(all)
		all = append(all, pairStatus(j))
	}
	for _, p := range pods {
		if i, ok := at[pairOf(p.Labels)]; ok && p.Labels[manifest.RoleLabel] == manifest.RoleRunner {
			all[i].Pods = append(all[i].Pods, podStatus(p))
		}
	}
	for i := range all {
		slices.SortFunc(all[i].Pods, func(a, b PodStatus) int {
			return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Name, b.Name))
		})
	}
	return all
}

package cluster

import (
	"cmp"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Event is what a part of the cluster says about an object of a run, in its own words.
type Event struct {
	Time    time.Time // of the last time that it happened
	Kind    string    // of the object: Pod, Job, PersistentVolumeClaim
	Object  string    // its name
	Reason  string    // FailedScheduling, ProvisioningFailed, FailedMount, Evicted, …
	Message string
	Source  string // who says it: default-scheduler, kubelet, ebs.csi.aws.com_…
	Count   int    // how often it happened
	Warning bool   // else it is normal, and tells what is waited for or who takes a pod away
}

// notableEvents is a field selector that leaves out what each pod has in the ordinary course of things: most of a namespace's
// events. Selecting warnings alone would hide why a claim waits, which provisioners say as normal events.
var notableEvents = func() string {
	ordinary := []string{
		"Scheduled", "SuccessfulAttachVolume", "SuccessfulMountVolume", "Pulling", "Pulled", "Created", "Started",
		"SuccessfulCreate", "SuccessfulDelete", "Completed", "Provisioning", "ProvisioningSucceeded", "WaitForFirstConsumer",
		"WaitForPodScheduled", "NoPods", "Killing",
	}
	for i, reason := range ordinary {
		ordinary[i] = "reason!=" + reason
	}
	return strings.Join(ordinary, ",")
}()

// telling are the reasons of normal events that explain a delay or an interruption.
var telling = []string{
	"ExternalProvisioning",                  // the claim waits for a provisioner, which may not be there
	"NotTriggerScaleUp", "TriggeredScaleUp", // cluster-autoscaler
	"Nominated", "Evicted", "DisruptionBlocked", // Karpenter, and whoever evicts
	"Preempted", "TaintManagerEviction", "NodeNotReady", // scheduler, controllers
}

// clusterEvent returns an event in our form, and whether it is worth being heard.
func clusterEvent(e *corev1.Event) (Event, bool) {
	c := Event{
		Kind: e.InvolvedObject.Kind, Object: e.InvolvedObject.Name, Reason: e.Reason, Message: strings.TrimSpace(e.Message),
		Source: cmp.Or(e.ReportingController, e.Source.Component), Count: max(1, int(e.Count)), Warning: e.Type == corev1.EventTypeWarning,
		Time: e.CreationTimestamp.Time,
	}
	// Old and new reporters fill different fields.
	for _, t := range []time.Time{e.EventTime.Time, e.FirstTimestamp.Time, e.LastTimestamp.Time} {
		if t.After(c.Time) {
			c.Time = t
		}
	}
	if e.Series != nil {
		c.Count = max(c.Count, int(e.Series.Count))
		if e.Series.LastObservedTime.After(c.Time) {
			c.Time = e.Series.LastObservedTime.Time
		}
	}
	return c, c.Warning || slices.Contains(telling, c.Reason)
}

// eventsOf returns the events about a run's objects, the oldest first. Claims are those that its pods use.
func eventsOf(run string, claims map[string]bool, events []corev1.Event) []Event {
	var all []Event
	for i := range events {
		if c, notable := clusterEvent(&events[i]); notable && concerns(c, run, claims) {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b Event) int { return a.Time.Compare(b.Time) })
	return all
}

// concerns says whether an event is about an object of a run: one that is named like it, followed by a pair for Jobs and
// pods, or a claim. A repeat of the run has a name that begins alike: "…-r1".
func concerns(c Event, run string, claims map[string]bool) bool {
	if c.Kind == "PersistentVolumeClaim" {
		return claims[c.Object]
	}
	rest, ours := strings.CutPrefix(c.Object, run)
	return ours && (rest == "" || len(rest) > 1 && rest[0] == '-' && '0' <= rest[1] && rest[1] <= '9')
}

// claimsOf returns the names of the claims that the pods of Jobs use.
func claimsOf(jobs []*batchv1.Job) map[string]bool {
	claims := map[string]bool{}
	for _, j := range jobs {
		for _, v := range j.Spec.Template.Spec.Volumes {
			if v.PersistentVolumeClaim != nil {
				claims[v.PersistentVolumeClaim.ClaimName] = true
			}
		}
	}
	return claims
}

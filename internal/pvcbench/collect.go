package pvcbench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"ebscope/internal/bench"
	"ebscope/internal/cluster"
	"ebscope/internal/cluster/runner"
	"ebscope/internal/result"
)

// Record is the record of a run in a cluster, as it was planned.
func Record(run cluster.RunStatus) (result.Run, error) {
	if len(run.Record) == 0 {
		return result.Run{}, &cluster.RunRemovedError{Run: run.ID, Namespace: run.Namespace, Half: true} // its ConfigMap is gone
	}
	return result.Parse(run.Record, "the record of run "+run.ID+" in its ConfigMap")
}

// patience is how long the pod that reads the results may take to come up: a node may have to be started for it.
const patience = 10 * time.Minute

// Collect brings the results of one pair of a run into its run directory below runs, as far as there are any, and completes
// the record with what the cluster and the caller tell of it. What an earlier call has brought is not fetched again, and what
// it knew of the cluster is kept where the cluster no longer tells it. The caller releases the directory.
func Collect(ctx context.Context, client *cluster.Client, run cluster.RunStatus, pair int, runs string, told []result.Event) (*bench.Directory, error) {
	record, err := Record(run)
	if err != nil {
		return nil, err
	}
	if n := len(run.Pairs); n > 1 {
		record.Repeat = &result.Repeat{Index: pair + 1, Of: n}
		record.ID = fmt.Sprintf("%s-r%d", record.ID, record.Repeat.Index)
	}
	directory, err := bench.Adopt(filepath.Join(runs, record.ID), record)
	if err != nil {
		return nil, err
	}
	fail := func(err error) (*bench.Directory, error) { return nil, errors.Join(err, directory.Release()) }
	if _, err := client.Collect(ctx, run, pair, directory.Path, cluster.CollectOptions{Patience: patience}); err != nil {
		return fail(err)
	}
	before := directory.Run
	if directory.Run, err = Assemble(record, directory.Path); err != nil {
		return fail(err)
	}
	directory.Run.Events = append(directory.Run.Events, clusterEvents(run, pair)...)
	directory.Run.Events = append(directory.Run.Events, told...)
	place(&directory.Run, client.Describe(ctx, run, pair, names(record)))
	keep(&directory.Run, before)
	if err := directory.Run.Save(directory.Path); err != nil {
		return fail(err)
	}
	return directory, nil
}

// mostEvents bounds what a run's record tells of a cluster that has much to say.
const mostEvents = 20

// clusterEvents are what the cluster said of a pair's pods, and what it warned of.
func clusterEvents(run cluster.RunStatus, pair int) (all []result.Event) {
	for _, s := range run.Pairs {
		if s.Pair != pair {
			continue
		}
		for _, p := range s.Pods {
			switch p.State {
			case cluster.PodFailed, cluster.PodEvicted, cluster.PodLost:
				all = append(all, result.Event{At: p.Created.UTC(), Code: "pod-" + string(p.State), Text: fmt.Sprintf(
					"pod %s: %s", p.Name, strings.Trim(p.Reason+": "+runnersWord(p.Message), ": "))})
			}
		}
	}
	told := map[string]bool{}
	for _, e := range run.Events {
		matter := e.Kind + e.Object + e.Reason
		if e.Warning && !told[matter] && len(all) < mostEvents {
			told[matter] = true
			all = append(all, result.Event{At: e.Time.UTC(), Code: "cluster-event", Text: fmt.Sprintf("%s %s: %s: %s", e.Kind, e.Object, e.Reason, e.Message)})
		}
	}
	return all
}

// runnersWord is what the runner said last, where a container's last words are its log.
func runnersWord(message string) string {
	word := message
	for line := range strings.Lines(message) {
		if e, ok := runner.ParseEvent(line); ok && e.Text != "" {
			word = e.Text
		}
	}
	return word
}

// keep puts back what an earlier collection knew of the cluster, where the run's objects are gone since.
func keep(run *result.Run, before result.Run) {
	was, is := before.Environment.Cluster, run.Environment.Cluster
	if was != nil && len(was.Volumes) > len(is.Volumes) {
		run.Environment.Cluster, run.Environment.Instance, run.Profile.Instance, run.Target = was, before.Environment.Instance, before.Profile.Instance, before.Target
	}
}

func names(run result.Run) (all []string) {
	for _, v := range run.Profile.Volumes {
		all = append(all, v.Name)
	}
	return all
}

// place puts down where a run took place.
func place(run *result.Run, p cluster.Place) {
	run.Environment.Cluster, run.Environment.Device = &p.Cluster, "PersistentVolumeClaim"
	if p.InstanceType != "" {
		run.Environment.Instance = p.InstanceType
		// The limits of the node's type hold, whatever the profile was written for.
		if catalog, err := run.Limits(); err == nil {
			if _, err := catalog.Instance(p.InstanceType); err == nil {
				run.Profile.Instance = p.InstanceType
			}
		}
	}
	if p.Emulated {
		run.Target = result.KubernetesEmulated
	}
}

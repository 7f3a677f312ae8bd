package pvcbench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"ebscope/internal/bench"
	"ebscope/internal/cluster"
	"ebscope/internal/result"
)

// Record is the record of a run in a cluster, as it was planned.
func Record(run cluster.RunStatus) (result.Run, error) {
	return result.Parse(run.Record, "the record of run "+run.ID+" in its ConfigMap")
}

// patience is how long the pod that reads the results may take to come up: a node may have to be started for it.
const patience = 10 * time.Minute

// Collect brings the results of one pair of a run into its run directory below runs, as far as there are any, and completes
// the record. What an earlier call has brought is not fetched again. The caller releases the directory.
func Collect(ctx context.Context, client *cluster.Client, run cluster.RunStatus, pair int, runs string, progress func(cluster.Fetched)) (*bench.Directory, error) {
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
	if _, err := client.Collect(ctx, run, pair, directory.Path, cluster.CollectOptions{Patience: patience, Progress: progress}); err != nil {
		return fail(err)
	}
	if directory.Run, err = Assemble(record, directory.Path); err != nil {
		return fail(err)
	}
	place(&directory.Run, client.Describe(ctx, run, pair, names(record)))
	if err := directory.Run.Save(directory.Path); err != nil {
		return fail(err)
	}
	return directory, nil
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

//go:build unix

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ebscope/internal/cloud"
	"ebscope/internal/cluster"
	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
	"ebscope/internal/units"
)

// unbound is a rate that holds nothing back.
const unbound = 1e9

// bounded is how many volumes are read at CloudWatch's own rate.
const bounded = 200

// scan reads the account as `ebscope scan --no-cluster --metrics gp2` does.
func scan(ctx context.Context, r *report, _ *servers) error {
	account, err := cloud.Open(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	who, err := account.Identity(ctx)
	if err != nil {
		return err
	}
	regions, missing := account.Inventory(ctx, who, []string{seoul})
	if len(missing) > 0 {
		return fmt.Errorf("not read: %+v", missing)
	}
	described := time.Since(began)
	window, err := cloud.LatestWindow(began, cloud.MaxWindow)
	if err != nil {
		return err
	}
	inventory := fleet.Join(fleet.Snapshot{Taken: began, Window: window, Regions: regions})
	wanted := slices.DeleteFunc(slices.Clone(regions[0].Volumes), func(v fleet.Volume) bool { return v.Type != ebs.GP2 })
	s := fleet.NewScan(inventory, fleet.Options{Catalog: ebs.Embedded()})
	read := func(some []fleet.Volume, q cloud.Quota, each func(fleet.Metrics) error) error {
		missing, err := account.Metrics(ctx, regions[0], some, window, q, each)
		if err == nil && len(missing) > 0 {
			err = fmt.Errorf("not read: %+v", missing)
		}
		return err
	}
	calls := cloud.DefaultQuota.CallsPerSecond
	err = read(wanted, cloud.Quota{CallsPerSecond: calls, PointsPerSecond: unbound}, func(m fleet.Metrics) error { s.Add(m); return nil })
	if err != nil {
		return err
	}
	d := s.Document(nil)
	took := time.Since(began)
	memory, err := peakMemory()
	if err != nil {
		return err
	}
	if d.Totals.Volumes != volumes || len(wanted) != creditVolumes {
		return fmt.Errorf("%d volumes, %d of them gp2", d.Totals.Volumes, len(wanted))
	}
	points := float64(cloud.MetricQueries(wanted) * window.Points)
	r.hold(fmt.Sprintf("scan of %d volumes, %d metrics of %d points", volumes, cloud.MetricQueries(wanted), window.Points), took, scanWanted)
	r.row("… of it volumes, instances, modifications, alarms", fmt.Sprintf("%.2f s", described.Seconds()), "")
	r.row("… peak memory", fmt.Sprintf("%d MiB", memory>>20), fmt.Sprintf("at most %d", memoryWanted>>20))
	if memory > memoryWanted {
		r.fault("the scan held %d MiB: want at most %d", memory>>20, memoryWanted>>20)
	}
	rate := cloud.DefaultQuota.PointsPerSecond
	r.row(fmt.Sprintf("… what CloudWatch's rate of %s points a second adds", units.Thousands(rate)), fmt.Sprintf("%.0f s", points/rate),
		fmt.Sprintf("a minute needs a quota of %s", units.Thousands(points/scanWanted.Seconds())))

	began = time.Now()
	if err := read(wanted[:bounded], cloud.DefaultQuota, func(fleet.Metrics) error { return nil }); err != nil {
		return err
	}
	// What may come at once is not part of the rate.
	got := (float64(cloud.MetricQueries(wanted[:bounded])*window.Points) - rate) / time.Since(began).Seconds()
	r.row(fmt.Sprintf("… points a second of %d volumes at that rate", bounded), units.Thousands(got), "at most "+units.Thousands(rate))
	if got > rate {
		r.fault("%.0f points a second were read: CloudWatch admits %.0f", got, rate)
	}
	return nil
}

// join reads a cluster and joins it.
func join(ctx context.Context, r *report, s *servers) error {
	client, err := cluster.Connect(cluster.Options{Kubeconfig: s.Kubeconfig})
	if err != nil {
		return err
	}
	began := time.Now()
	read, missing, err := client.Snapshot(ctx, cluster.SnapshotOptions{})
	if err != nil || len(missing) > 0 {
		return fmt.Errorf("read the cluster: %w, missing %+v", err, missing)
	}
	reading := time.Since(began)
	inventory := fleet.Join(fleet.Snapshot{Taken: began, Clusters: []fleet.Cluster{read}})
	if n := len(inventory.Entries); n != claims {
		return fmt.Errorf("%d volumes of the cluster: want %d", n, claims)
	}
	r.hold(fmt.Sprintf("cluster of %d claims read and joined", claims), time.Since(began), joinWanted)
	r.row("… of it reading", fmt.Sprintf("%.2f s", reading.Seconds()), "")
	return nil
}

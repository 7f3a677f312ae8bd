//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"ebscope/internal/cloud"
	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
	"ebscope/internal/migrate"
	"ebscope/internal/migration"
)

// plan plans a migration of as many gp2 volumes as the fleet has, and writes it.
func plan(_ context.Context, r *report, _ *servers) error {
	region := fleet.Region{Account: "123456789012", Name: seoul}
	for i := range volumes {
		region.Volumes = append(region.Volumes, fleet.Volume{ID: fleet.VolumeID(volumeID(i)), Zone: seoul + "a", State: "in-use", Setting: credit(int64(20 + i%900))})
	}
	began := time.Now()
	p := planOf(region)
	var text bytes.Buffer
	if err := migration.Write(&text, p); err != nil {
		return err
	}
	if p.Totals.Ready != volumes {
		return fmt.Errorf("%d volumes are planned: want %d", p.Totals.Ready, volumes)
	}
	r.hold(fmt.Sprintf("plan for %d volumes, from the snapshot to %d MiB of JSON", volumes, text.Len()>>20), time.Since(began), planWanted)
	return nil
}

func credit(gib int64) fleet.Setting {
	return fleet.Setting{Type: ebs.GP2, SizeGiB: gib, IOPS: max(100, 3*gib)}
}

func planOf(region fleet.Region) migration.Plan {
	inventory := fleet.Join(fleet.Snapshot{Taken: time.Now(), Regions: []fleet.Region{region}})
	rows := fleet.NewScan(inventory, fleet.Options{Catalog: ebs.Embedded()}).Document(nil).Volumes
	return migration.Make(&inventory, rows, migration.Options{Catalog: ebs.Embedded(), Rules: migration.Rules{BatchSize: changes}})
}

// apply carries out a migration, and counts how many changes are under way.
func apply(ctx context.Context, r *report, _ *servers) (err error) {
	account, err := cloud.Open(ctx)
	if err != nil {
		return err
	}
	who, err := account.Identity(ctx)
	if err != nil {
		return err
	}
	regions, missing := account.Inventory(ctx, who, []string{virginia})
	if len(missing) > 0 {
		return fmt.Errorf("not read: %+v", missing)
	}
	p := planOf(regions[0])
	dir, err := os.MkdirTemp("", "ebscope-perf-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	journal, err := migrate.OpenJournal(filepath.Join(dir, "journal"), p.MadeFrom, "perf")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, journal.Close()) }()
	var o occupancy
	began := time.Now()
	if err := migrate.Apply(ctx, &p, account, nil, journal, migrate.Options{Account: who, Poll: time.Second, Tell: o.tell}); err != nil {
		return err
	}
	r.row(fmt.Sprintf("apply to %d volumes, each under change for 8 s", changes), fmt.Sprintf("%.1f s", time.Since(began).Seconds()), "")
	r.row("… changes under way at most", fmt.Sprint(o.most), fmt.Sprint(migrate.DefaultInFlight))
	r.row("… on average from when they were that many until the last was sent", fmt.Sprintf("%.0f", o.mean()), fmt.Sprintf("at least %.0f", occupied*migrate.DefaultInFlight))
	if o.most != migrate.DefaultInFlight || o.mean() < occupied*migrate.DefaultInFlight {
		r.fault("at most %d changes were under way, on average %.0f: want %d, and on average at least %.0f", o.most, o.mean(), migrate.DefaultInFlight, occupied*migrate.DefaultInFlight)
	}
	return nil
}

// occupancy is how many changes are under way over time.
type occupancy struct {
	now, most, sent int
	full, at        time.Time
	area            float64 // changes × seconds since full
	until           time.Time
	areaUntil       float64
}

func (o *occupancy) tell(e migrate.Event) {
	now := time.Now()
	if !o.full.IsZero() {
		o.area += float64(o.now) * now.Sub(o.at).Seconds()
	}
	o.at = now
	switch e.Kind {
	case migrate.Sent:
		o.now++
		o.sent++
		o.until, o.areaUntil = now, o.area
	case migrate.Ended:
		o.now--
	}
	o.most = max(o.most, o.now)
	if o.full.IsZero() && o.now == migrate.DefaultInFlight {
		o.full = now
	}
}

func (o *occupancy) mean() float64 { return o.areaUntil / o.until.Sub(o.full).Seconds() }

package cli

import (
	"context"
	"io"
	"time"

	"ebscope/internal/alarm"
	"ebscope/internal/cloud"
	"ebscope/internal/fleet"
)

// planLive plans the alarms of the environment's account, read as a scan reads it: with the metrics of the types that have
// alarms alone, because CloudWatch charges for them. Tags of alarms are not read; apply looks at them.
func planLive(ctx context.Context, regions []string, length time.Duration, o alarm.Options, stderr io.Writer) (alarm.Plan, error) {
	s := newSteps(stderr)
	defer s.close()
	now := time.Now()
	asked := &scanPlan{scanOptions: scanOptions{catalog: o.Catalog, regions: regions}, length: length}
	for _, t := range o.Catalog.VolumeTypes() {
		if alarm.Credits(t.Type) {
			asked.metrics = append(asked.metrics, string(t.Type))
		}
	}
	l := &live{scanPlan: asked, steps: s, snapshot: fleet.Snapshot{Tool: tool(), Taken: now.UTC().Truncate(time.Second)}}
	if err := l.readAccount(ctx); err != nil {
		return alarm.Plan{}, err
	}
	if len(l.snapshot.Regions) == 0 && len(l.missing) > 0 {
		return alarm.Plan{}, unmetError{missingError(l.missing)}
	}
	if length > 0 {
		var err error
		if l.snapshot.Window, err = cloud.LatestWindow(now, length); err != nil {
			return alarm.Plan{}, usageError{err}
		}
	}
	inventory := fleet.Join(l.snapshot)
	scan := fleet.NewScan(inventory, fleet.Options{Catalog: o.Catalog})
	err := l.readMetrics(ctx, &inventory, func(m fleet.Metrics) error {
		scan.Add(m)
		return nil
	})
	if err != nil {
		return alarm.Plan{}, err
	}
	inventory.Snapshot.Missing = l.missing
	return alarm.New(&inventory, scan.Observed, o), nil
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ebscope/internal/cloud"
	"ebscope/internal/cluster"
	"ebscope/internal/fleet"
	"ebscope/internal/units"
)

// live is a fleet while it is read.
type live struct {
	*scanPlan
	steps    *steps
	account  *cloud.Account // nil where it could not be read
	snapshot fleet.Snapshot
	missing  []fleet.Missing
}

// read reads clusters and account, and looks at them. Where one of the two cannot be read, it is missing; where none can, that
// is the error.
func (p *scanPlan) read(ctx context.Context, s *steps) (fleet.Document, error) {
	now := time.Now()
	l := &live{scanPlan: p, steps: s, snapshot: fleet.Snapshot{Tool: tool(), Taken: now.UTC().Truncate(time.Second)}}
	var failed []error
	if !p.noCluster {
		err := l.readClusters(ctx)
		if wrong(ctx, err) {
			return fleet.Document{}, err
		}
		failed = append(failed, err)
	}
	if !p.noAccount {
		err := l.readAccount(ctx)
		if wrong(ctx, err) {
			return fleet.Document{}, err
		}
		failed = append(failed, err)
	}
	if len(l.snapshot.Clusters)+len(l.snapshot.Regions) == 0 && len(l.missing) > 0 {
		if err := errors.Join(failed...); err != nil {
			return fleet.Document{}, err
		}
		return fleet.Document{}, unmetError{missingError(l.missing)}
	}
	if p.length > 0 && len(l.snapshot.Regions) > 0 {
		var err error
		if l.snapshot.Window, err = cloud.LatestWindow(now, p.length); err != nil {
			return fleet.Document{}, usageError{err}
		}
	}
	return l.look(ctx)
}

// wrong says whether an error ends the scan: the command is used wrongly, or was interrupted.
func wrong(ctx context.Context, err error) bool {
	var config *cluster.ConfigError
	var used usageError
	return ctx.Err() != nil || errors.As(err, &config) || errors.As(err, &used)
}

// readClusters reads the clusters of the contexts, one after the other.
func (l *live) readClusters(ctx context.Context) error {
	contexts := l.contexts
	if len(contexts) == 0 {
		contexts = []string{""}
	}
	var failed []error
	for _, name := range contexts {
		if err := l.readCluster(ctx, name); err != nil {
			if wrong(ctx, err) {
				return err
			}
			failed = append(failed, err)
			l.missing = append(l.missing, fleet.Missing{Cluster: name, Operation: "cluster", Reason: clusterReason(err), Text: err.Error() + "; or leave clusters out by --no-cluster"})
		}
	}
	return errors.Join(failed...)
}

func (l *live) readCluster(ctx context.Context, name string) error {
	client, err := cluster.Connect(cluster.Options{Kubeconfig: l.kubeconfig, Context: name, Version: strings.TrimPrefix(tool(), "ebscope ")})
	if err != nil {
		return err
	}
	o := cluster.SnapshotOptions{Progress: func(n int) { l.steps.at("reading the cluster: %s objects", units.Thousands(float64(n))) }}
	if !slices.ContainsFunc(l.namespaces, isPattern) {
		o.Namespaces = l.namespaces
	}
	read, missing, err := client.Snapshot(ctx, o)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(l.snapshot.Clusters, func(other fleet.Cluster) bool { return other.UID == read.UID }); i >= 0 {
		return usage("contexts %s and %s are of the same cluster: name one of them", l.snapshot.Clusters[i].Name, read.Name)
	}
	l.snapshot.Clusters = append(l.snapshot.Clusters, read)
	l.missing = append(l.missing, missing...)
	return nil
}

func clusterReason(err error) fleet.MissingReason {
	var (
		silent    *cluster.UnreachableError
		forbidden *cluster.ForbiddenError
		unknown   *cluster.UnauthorizedError
	)
	switch {
	case errors.As(err, &silent):
		return fleet.Unreachable
	case errors.As(err, &forbidden), errors.As(err, &unknown):
		return fleet.Denied
	}
	return fleet.Failed
}

// readAccount reads the regions of the account.
func (l *live) readAccount(ctx context.Context) error {
	l.steps.at("looking for the AWS account")
	account, err := cloud.Open(ctx)
	if err != nil {
		return l.missAccount("AWS account", err)
	}
	who, err := account.Identity(ctx)
	if err != nil {
		return l.missAccount("sts:GetCallerIdentity", err)
	}
	patterns := l.patterns(account)
	l.steps.at("looking for the regions of account %s", who)
	names, missing, err := account.Regions(ctx, who, patterns)
	switch {
	case errors.Is(err, cloud.ErrNoRegion):
		return l.missAccount("regions", fmt.Errorf("%w; --region names regions", err))
	case err != nil && ctx.Err() == nil:
		return usage("--region: %w", err)
	case err != nil:
		return err
	}
	l.account = &account
	l.missing = append(l.missing, missing...)
	l.steps.at("reading the volumes of %s", strings.Join(names, ", "))
	l.snapshot.Regions, missing = account.Inventory(ctx, who, names)
	l.missing = append(l.missing, missing...)
	return ctx.Err()
}

// patterns are the regions to read: those that are named, or the environment's and those of the clusters' volumes. None stands
// for the environment's alone.
func (l *live) patterns(account cloud.Account) []string {
	if len(l.regions) > 0 {
		return l.regions
	}
	found := map[string]bool{}
	for _, e := range fleet.Join(l.snapshot).Entries {
		if e.Region != "" {
			found[e.Region] = true
		}
	}
	if here, err := account.Region(); err == nil {
		if delete(found, here); len(found) == 0 {
			return nil
		}
		found[here] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// missAccount notes that the account could not be read.
func (l *live) missAccount(operation string, err error) error {
	m := fleet.Missing{Operation: operation, Reason: fleet.Failed, Text: err.Error() + "; or leave the account out by --no-account"}
	switch {
	case isOneOf(err, cloud.ErrNoCredentials, cloud.ErrInvalid, cloud.ErrDenied):
		m.Reason = fleet.Denied
	case errors.Is(err, cloud.ErrUnreachable):
		m.Reason = fleet.Unreachable
	case errors.Is(err, cloud.ErrThrottled):
		m.Reason = fleet.Throttled
	}
	l.missing = append(l.missing, m)
	return err
}

// look joins what was read, reads the metrics, and saves both where that is wanted.
func (l *live) look(ctx context.Context) (fleet.Document, error) {
	inventory := fleet.Join(l.snapshot)
	scan := fleet.NewScan(inventory, l.options(l.priceRegion()))
	add := func(m fleet.Metrics) error {
		scan.Add(m)
		return nil
	}
	if l.save == "" {
		if err := l.readMetrics(ctx, &inventory, add); err != nil {
			return fleet.Document{}, err
		}
		return scan.Document(l.missing), nil
	}
	file, err := os.CreateTemp(filepath.Dir(l.save), ".ebscope-snapshot-*") // nobody else may read it
	if err != nil {
		return fleet.Document{}, usage("--snapshot: %w", err)
	}
	defer func() { _ = os.Remove(file.Name()) }() // it has another name where all went well
	writer, err := fleet.NewWriter(file, l.snapshot)
	if err == nil {
		err = l.readMetrics(ctx, &inventory, func(m fleet.Metrics) error {
			scan.Add(m)
			return writer.Metrics(m)
		})
	}
	if err == nil {
		err = writer.Close(l.missing)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return fleet.Document{}, err
	}
	if err := os.Rename(file.Name(), l.save); err != nil {
		return fleet.Document{}, fmt.Errorf("save the snapshot: %w", err)
	}
	return scan.Document(l.missing), nil
}

// priceRegion is that of volumes whose region is not known.
func (l *live) priceRegion() string {
	if name := l.onlyRegion(); name != "" {
		return name
	}
	if len(l.snapshot.Regions) == 1 {
		return l.snapshot.Regions[0].Name
	}
	return ""
}

// readMetrics reads the metrics of the volumes that are wanted.
func (l *live) readMetrics(ctx context.Context, inventory *fleet.Inventory, each func(fleet.Metrics) error) error {
	if l.snapshot.Window == (fleet.Window{}) {
		return ctx.Err()
	}
	total, done := 0, 0
	wanted := make([][]fleet.Volume, len(l.snapshot.Regions))
	for i, region := range l.snapshot.Regions {
		for _, v := range region.Volumes {
			if l.measured(inventory.Find(v.ID)) {
				wanted[i] = append(wanted[i], v)
			}
		}
		total += len(wanted[i])
	}
	for i, region := range l.snapshot.Regions {
		l.steps.at("reading the metrics of %s in %s", counted(total, "volume"), region.Name)
		missing, err := l.account.Metrics(ctx, region, wanted[i], l.snapshot.Window, cloud.DefaultQuota, func(m fleet.Metrics) error {
			done++
			l.steps.at("reading metrics: %s of %s volumes", units.Thousands(float64(done)), units.Thousands(float64(total)))
			return each(m)
		})
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		l.missing = append(l.missing, missing...)
	}
	return nil
}

// measured says whether a volume's metrics are read: it is of a wanted type, and of a wanted namespace.
func (l *live) measured(e *fleet.Entry) bool {
	if len(l.metrics) > 0 && !slices.Contains(l.metrics, string(e.Volume.Type)) {
		return false
	}
	if len(l.namespaces) == 0 {
		return true
	}
	spaces := []string{e.Tagged.Namespace}
	for _, u := range e.Uses {
		spaces = append(spaces, u.PV.ClaimNamespace)
	}
	return slices.ContainsFunc(spaces, func(space string) bool {
		return slices.ContainsFunc(l.namespaces, func(pattern string) bool {
			ok, err := filepath.Match(pattern, space)
			return ok && err == nil
		})
	})
}

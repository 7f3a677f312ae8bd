package migrate

import (
	"context"
	"errors"
	"fmt"

	"ebscope/internal/cluster"
	"ebscope/internal/fleet"
)

// classOf names a VolumeAttributesClass of a cluster.
type classOf struct {
	cluster fleet.UID
	name    string
}

// objects makes the classes that the plan needs, and moves the defaults. What a cluster declines is told, and keeps the steps
// that need it from being sent; the rest of the plan goes on.
func (r *run) objects(ctx context.Context) error {
	for i := range r.plan.Classes {
		c := &r.plan.Classes[i]
		kube := r.clusters[c.ClusterUID]
		if kube == nil {
			continue // its steps say so
		}
		what := fmt.Sprintf("VolumeAttributesClass %s in cluster %s", c.Name, c.Cluster)
		if err := r.journal.write(Entry{Kind: Object, Text: what}); err != nil {
			return err
		}
		_, err := kube.EnsureAttributesClass(ctx, fleet.AttributesClass{Name: c.Name, Driver: c.Driver, Parameters: c.Parameters})
		if ofObject(err) {
			r.withoutClass[classOf{c.ClusterUID, c.Name}] = true
		}
		if err := r.declined(what, err); err != nil {
			return err
		}
	}
	for i := range r.plan.Defaults {
		d := &r.plan.Defaults[i]
		what := fmt.Sprintf("StorageClass %s as the default of cluster %s", d.To, d.Cluster)
		kube := r.clusters[d.ClusterUID]
		if kube == nil {
			r.objectsRefused++
			r.tell(Event{Kind: Object, Outcome: Refused, Text: what + ": no connection to the cluster; name its context"})
			continue
		}
		if err := r.journal.write(Entry{Kind: Object, Text: what}); err != nil {
			return err
		}
		var err error
		if n := d.Create; n != nil {
			_, err = kube.EnsureStorageClass(ctx, fleet.StorageClass{Name: d.To, Provisioner: n.Provisioner, Parameters: n.Parameters,
				Reclaim: n.Reclaim, Binding: n.Binding, Expandable: n.Expandable})
		}
		if err == nil {
			_, err = kube.SetDefaultClass(ctx, d.To)
		}
		if err := r.declined(what, err); err != nil {
			return err
		}
	}
	return nil
}

// declined tells what a cluster said, and passes on only what ends the run.
func (r *run) declined(what string, err error) error {
	switch {
	case err == nil:
		r.tell(Event{Kind: Object, Outcome: Done, Text: what})
		return nil
	case ofObject(err):
		r.objectsRefused++
		r.tell(Event{Kind: Object, Outcome: Refused, Text: what + ": " + err.Error()})
		return nil
	default:
		return err
	}
}

// ofObject says whether an error is about the object alone, rather than about the whole cluster.
func ofObject(err error) bool {
	var (
		declined *cluster.DeclinedError
		missing  *cluster.NotFoundError
	)
	return errors.As(err, &declined) || errors.As(err, &missing)
}

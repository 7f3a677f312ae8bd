package fleet_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
)

// claimed is a bound claim with its PV, and adds both to a cluster.
func claimed(c *fleet.Cluster, namespace, name string, pv fleet.PersistentVolume) {
	uid := fleet.UID("uid-" + c.Name + "-" + namespace + "-" + name)
	pv.Name, pv.UID = "pv-"+namespace+"-"+name, "pv-"+uid
	pv.ClaimUID, pv.ClaimNamespace, pv.ClaimName, pv.Class = uid, namespace, name, "gp2"
	pv.CapacityBytes = 100 * gib
	c.Volumes = append(c.Volumes, pv)
	c.Claims = append(c.Claims, fleet.Claim{UID: uid, Namespace: namespace, Name: name, Class: ptr("gp2"), Volume: pv.Name, Phase: "Bound", CapacityBytes: 100 * gib})
}

func csi(id fleet.VolumeID) fleet.PersistentVolume {
	return fleet.PersistentVolume{Driver: fleet.EBSDriver, Handle: string(id)}
}

// east is a cluster in Seoul with two classes.
func east() fleet.Cluster {
	return fleet.Cluster{UID: "cluster-east", Name: "east", Server: "v1.36.3", Classes: []fleet.StorageClass{
		{UID: "sc-1", Name: "gp2", Provisioner: fleet.InTreeDriver, Default: true, Parameters: map[string]string{"type": "gp2"}},
		{UID: "sc-2", Name: "fast", Provisioner: fleet.EBSDriver, Parameters: map[string]string{"type": "gp3", "iops": "6000", "throughput": "250"}},
	}, Nodes: []fleet.Node{{UID: "node-1", Name: "node-1", Instance: "i-1", Type: "m5.xlarge", Zone: seoul + "a"}}}
}

func TestJoin(t *testing.T) {
	s := inSeoul(0, gp2("vol-1", 100), gp2("vol-2", 100), gp2("vol-3", 100), gp2("vol-5", 100))
	s.Regions[0].Volumes[3].Tags = map[string]string{"kubernetes.io/created-for/pvc/namespace": "shop", "kubernetes.io/created-for/pvc/name": "data",
		"kubernetes.io/created-for/pv/name": "pvc-55", "kubernetes.io/cluster/west": "owned"}
	s.Regions[0].Modifications = []fleet.Modification{
		{Volume: "vol-2", State: "completed", Start: taken.Add(-48 * time.Hour)}, {Volume: "vol-2", State: "optimizing", Progress: 40, Start: taken.Add(-time.Hour)},
	}
	c := east()
	claimed(&c, "prod", "data-db-0", csi("vol-1"))
	claimed(&c, "test", "data-db-0", csi("vol-2"))
	claimed(&c, "prod", "old", fleet.PersistentVolume{InTree: "aws://ap-northeast-2a/vol-3"})
	claimed(&c, "prod", "gone", fleet.PersistentVolume{InTree: "aws://ap-northeast-2c/vol-4"})
	claimed(&c, "prod", "files", fleet.PersistentVolume{Driver: "efs.csi.aws.com", Handle: "fs-1"})
	c.Volumes = append(c.Volumes, fleet.PersistentVolume{UID: "pv-static", Name: "by-hand", Driver: fleet.EBSDriver, Handle: "vol-6", Class: "fast", CapacityBytes: 20*gib + 1,
		Labels: map[string]string{"topology.kubernetes.io/zone": "us-west-2-lax-1a"}})
	c.Claims = append(c.Claims, fleet.Claim{UID: "uid-static", Namespace: "prod", Name: "static", Volume: "by-hand"})
	c.StatefulSets = []fleet.StatefulSet{{UID: "set-1", Namespace: "prod", Name: "db", Replicas: 1, Templates: []fleet.Template{{Name: "data", Class: ptr("gp2")}}}}
	c.Pods = []fleet.Pod{{UID: "pod-1", Namespace: "prod", Name: "db-0", Node: "node-1", Claims: []string{"data-db-0"}}}
	s.Clusters = []fleet.Cluster{c}

	d := scan(s)
	type line struct {
		ID                            fleet.VolumeID
		Cluster, Namespace, Claim, PV string
		UID                           fleet.UID
		Region, Set, Class            string
		Pods                          []string
		Type                          ebs.Type
		Size                          int64
	}
	var got []line
	for _, r := range d.Volumes {
		got = append(got, line{r.ID, r.Cluster, r.Namespace, r.Claim, r.PV, r.ClaimUID, r.Region, r.StatefulSet, r.StorageClass, r.Pods, r.Type, r.SizeGiB})
	}
	want := []line{
		{"vol-1", "east", "prod", "data-db-0", "pv-prod-data-db-0", "uid-east-prod-data-db-0", seoul, "db", "gp2", []string{"db-0"}, "gp2", 100},
		{"vol-2", "east", "test", "data-db-0", "pv-test-data-db-0", "uid-east-test-data-db-0", seoul, "", "gp2", []string{}, "gp2", 100},
		{"vol-3", "east", "prod", "old", "pv-prod-old", "uid-east-prod-old", seoul, "", "gp2", []string{}, "gp2", 100},
		{"vol-4", "east", "prod", "gone", "pv-prod-gone", "uid-east-prod-gone", seoul, "", "gp2", []string{}, "gp2", 100},
		{"vol-5", "west", "shop", "data", "pvc-55", "", seoul, "", "", []string{}, "gp2", 100},
		{"vol-6", "east", "prod", "static", "by-hand", "uid-static", "us-west-2", "", "fast", []string{}, "gp3", 21},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for id, want := range map[fleet.VolumeID][]fleet.Code{
		"vol-1": {fleet.GP2AtRisk},
		"vol-2": {fleet.Optimizing, fleet.GP2AtRisk},
		"vol-3": {fleet.InTreePV, fleet.GP2AtRisk},
		"vol-4": {fleet.NotInAccount, fleet.InTreePV, fleet.GP2AtRisk},
		"vol-5": {fleet.GP2AtRisk},
		"vol-6": {fleet.NotInAccount},
	} {
		if diff := cmp.Diff(want, codes(row(t, d, id))); diff != "" {
			t.Errorf("%s: %s", id, diff)
		}
	}
	if diff := cmp.Diff([]fleet.ClusterSummary{{UID: "cluster-east", Name: "east", Server: "v1.36.3", Claims: 6, Volumes: 5}}, d.Clusters); diff != "" {
		t.Error(diff)
	}
	if r := row(t, d, "vol-1"); r.InstanceID != "i-1" || r.InstanceType != "m5.xlarge" || r.Instance.BaselineIOPS != 6000 {
		t.Errorf("instance %s, %s, %+v", r.InstanceID, r.InstanceType, r.Instance)
	}
}

// A cluster alone says what it knows: the type from the class, and from the VolumeAttributesClass that is in force.
func TestClusterAlone(t *testing.T) {
	c := east()
	claimed(&c, "prod", "data", csi("vol-1"))
	claimed(&c, "prod", "moved", csi("vol-2"))
	claimed(&c, "prod", "odd", csi("vol-3"))
	c.Volumes[1].AttributesClass = "gp3-4000"
	c.Volumes[2].Class = "deleted-since"
	c.AttributesClasses = []fleet.AttributesClass{{UID: "vac-1", Name: "gp3-4000", Driver: fleet.EBSDriver, Parameters: map[string]string{"type": "gp3", "iops": "4000"}}}
	c.Pods = []fleet.Pod{{UID: "pod-1", Namespace: "prod", Name: "app", Node: "node-1", Claims: []string{"data"}}}
	d := scanWith(fleet.Snapshot{Taken: taken, Clusters: []fleet.Cluster{c}}, fleet.Options{Region: seoul})
	one, two, three := row(t, d, "vol-1"), row(t, d, "vol-2"), row(t, d, "vol-3")
	if one.Type != ebs.GP2 || one.Region != seoul || one.InstanceID != "i-1" || one.Monthly.USD().String() != "$11.40" || one.Has(fleet.NotInAccount) {
		t.Errorf("got %+v", one)
	}
	if two.Type != ebs.GP3 || two.BaselineIOPS != 4000 || two.Monthly.USD().String() != "$14.82" { // 9.12 + 1,000 × 0.0057
		t.Errorf("got %s with %v IOPS at %v", two.Type, two.BaselineIOPS, two.Monthly.USD())
	}
	if three.Type != "" || three.Monthly != nil || !three.Has(fleet.UnknownType) {
		t.Errorf("got %+v", three)
	}
}

// A volume that two PVs name is one volume, paid once.
func TestOneVolumeOfTwoClusters(t *testing.T) {
	s := inSeoul(0, gp2("vol-1", 100))
	a, b := east(), east()
	b.UID, b.Name = "cluster-west", "west"
	a.Volumes = []fleet.PersistentVolume{{UID: "pv-a", Name: "left", Driver: fleet.EBSDriver, Handle: "vol-1", ClaimNamespace: "prod", ClaimName: "was"}}
	claimed(&b, "prod", "data", csi("vol-1"))
	s.Clusters = []fleet.Cluster{a, b}
	d := scan(s)
	r := row(t, d, "vol-1")
	if len(d.Volumes) != 1 || r.Cluster != "west" || !slices.Equal(r.OtherClaims, []string{"east/prod/was"}) || d.Totals.Monthly != *r.Monthly {
		t.Errorf("%d volumes: %+v", len(d.Volumes), r)
	}
}

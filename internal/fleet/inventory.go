package fleet

import (
	"cmp"
	"slices"
	"strings"

	"ebscope/internal/lazy"
)

// Inventory is a snapshot joined: everything that is known about a volume in one place. Its pointers lead into the
// snapshot, which must not change.
type Inventory struct {
	Snapshot Snapshot
	// Entries are the volumes in ascending order of their ids, each once.
	Entries []Entry
	place   map[VolumeID]int
}

// Entry is one volume.
type Entry struct {
	ID      VolumeID
	Account AccountID // empty where no account that was read has it
	Region  string    // empty where it is not known
	// Volume is nil where a cluster has the volume, and no account that was read.
	Volume *Volume
	// Instance is the one that it is attached to, the first of several; nil where none is known.
	Instance *Instance
	// Modifications are the changes that EC2 still tells, the latest first.
	Modifications []*Modification
	Alarms        []*Alarm // of the volume
	// Uses are the claims of the clusters that were read, Tagged what the volume's tags say of others.
	Uses   []Use
	Tagged Tagged
}

// Use is a PersistentVolume of a cluster, and what hangs on it. What is not there, or could not be read, is nil.
type Use struct {
	Cluster *Cluster
	PV      *PersistentVolume
	Claim   *Claim
	Class   *StorageClass
	Pods    []*Pod
	Node    *Node // of the first pod that is on one
	Set     *StatefulSet
}

// Tagged is what a CSI driver wrote on a volume when it made it.
type Tagged struct{ Cluster, Namespace, Claim, PV string }

// The tags of CSI drivers and of cluster tools.
const (
	tagNamespace = "kubernetes.io/created-for/pvc/namespace"
	tagClaim     = "kubernetes.io/created-for/pvc/name"
	tagPV        = "kubernetes.io/created-for/pv/name"
	tagCluster   = "kubernetes.io/cluster/" // the name follows
	tagEKS       = "eks:cluster-name"
	tagOld       = "KubernetesCluster"
)

// Find returns the entry of a volume, and nil where there is none.
func (v *Inventory) Find(id VolumeID) *Entry {
	i, ok := v.place[id]
	if !ok {
		return nil
	}
	return &v.Entries[i]
}

// Join brings together what accounts and clusters say of the same volumes. PVs of other drivers are left out.
func Join(s Snapshot) Inventory {
	v := Inventory{Snapshot: s, place: map[VolumeID]int{}}
	for i := range s.Regions {
		v.region(&s.Regions[i])
	}
	for i := range s.Clusters {
		v.cluster(&s.Clusters[i])
	}
	slices.SortFunc(v.Entries, func(a, b Entry) int { return cmp.Compare(a.ID, b.ID) })
	for i, e := range v.Entries {
		v.place[e.ID] = i
	}
	return v
}

// entry returns the entry of a volume, a new one where there is none.
func (v *Inventory) entry(id VolumeID) *Entry {
	if e := v.Find(id); e != nil {
		return e
	}
	v.place[id] = len(v.Entries)
	v.Entries = append(v.Entries, Entry{ID: id})
	return &v.Entries[len(v.Entries)-1]
}

func (v *Inventory) region(r *Region) {
	instances := index(r.Instances, func(i *Instance) InstanceID { return i.ID })
	for i := range r.Volumes {
		volume := &r.Volumes[i]
		e := v.entry(volume.ID)
		e.Volume, e.Account, e.Region, e.Tagged = volume, r.Account, r.Name, tagged(volume.Tags)
		for _, a := range volume.Attachments {
			if e.Instance = instances[a.Instance]; e.Instance != nil {
				break
			}
		}
	}
	for i := range r.Modifications {
		m := &r.Modifications[i]
		if e := v.Find(m.Volume); e != nil {
			e.Modifications = append(e.Modifications, m)
		}
	}
	for i := range r.Alarms {
		if e := v.Find(VolumeID(r.Alarms[i].Dimensions["VolumeId"])); e != nil {
			e.Alarms = append(e.Alarms, &r.Alarms[i])
		}
	}
	for i := range v.Entries {
		slices.SortStableFunc(v.Entries[i].Modifications, func(a, b *Modification) int { return b.Start.Compare(a.Start) })
	}
}

func tagged(tags map[string]string) Tagged {
	t := Tagged{Namespace: tags[tagNamespace], Claim: tags[tagClaim], PV: tags[tagPV], Cluster: cmp.Or(tags[tagEKS], tags[tagOld])}
	if t.Cluster != "" {
		return t
	}
	for key := range tags {
		if name, ok := strings.CutPrefix(key, tagCluster); ok && (t.Cluster == "" || name < t.Cluster) {
			t.Cluster = name
		}
	}
	return t
}

// name is a name within a namespace.
type name struct{ namespace, name string }

// cluster adds the uses of a cluster's volumes.
func (v *Inventory) cluster(c *Cluster) {
	claims := index(c.Claims, func(x *Claim) UID { return x.UID })
	bound := index(c.Claims, func(x *Claim) string { return x.Volume })
	classes := index(c.Classes, func(x *StorageClass) string { return x.Name })
	nodes := index(c.Nodes, func(x *Node) string { return x.Name })
	sets := map[name]*StatefulSet{}
	for i := range c.StatefulSets {
		for _, t := range c.StatefulSets[i].Templates {
			sets[name{c.StatefulSets[i].Namespace, t.Name + "-" + c.StatefulSets[i].Name}] = &c.StatefulSets[i]
		}
	}
	pods := map[name][]*Pod{}
	for i := range c.Pods {
		for _, claim := range c.Pods[i].Claims {
			of := name{c.Pods[i].Namespace, claim}
			pods[of] = append(pods[of], &c.Pods[i])
		}
	}
	for i := range c.Volumes {
		pv := &c.Volumes[i]
		id, ok := pv.EBS()
		if !ok {
			continue
		}
		use := Use{Cluster: c, PV: pv, Claim: claims[pv.ClaimUID], Class: classes[pv.Class]}
		if pv.ClaimUID == "" { // a PV that was made by hand need not name the one of its claim
			use.Claim = bound[pv.Name]
		}
		if claim := use.Claim; claim != nil {
			use.Pods = pods[name{claim.Namespace, claim.Name}]
			use.Set = sets[name{claim.Namespace, withoutOrdinal(claim.Name)}]
		}
		for _, p := range use.Pods {
			if use.Node = nodes[p.Node]; use.Node != nil {
				break
			}
		}
		e := v.entry(id)
		e.Uses = append(e.Uses, use)
		if e.Region == "" {
			e.Region = inZone().FindString(zoneOf(pv, use.Node))
		}
	}
}

// withoutOrdinal takes the number off a claim of a StatefulSet.
func withoutOrdinal(claim string) string {
	if i := strings.LastIndexByte(claim, '-'); i > 0 && i+1 < len(claim) && strings.Trim(claim[i+1:], "0123456789") == "" {
		return claim[:i]
	}
	return ""
}

// EBS returns the id of the EBS volume that a PersistentVolume is, and false where it is of another kind.
func (p *PersistentVolume) EBS() (VolumeID, bool) {
	id := p.Handle
	switch {
	case p.Driver == EBSDriver || p.Driver == EKSAutoDriver:
	case p.Driver == "" && p.InTree != "":
		id = p.InTree[strings.LastIndexByte(p.InTree, '/')+1:]
	default:
		return "", false
	}
	return VolumeID(id), id != ""
}

// The labels that say where a PersistentVolume is, in their present form and the old one.
var zoneLabels = []string{"topology.kubernetes.io/zone", "topology.ebs.csi.aws.com/zone", "failure-domain.beta.kubernetes.io/zone"}

// inZone finds the region in the name of a zone: also in that of a local zone, "us-west-2-lax-1a".
var inZone = lazy.Regexp(`^[a-z]+(-[a-z]+)+-[0-9]+`)

// zoneOf tells the zone from what a cluster knows; empty where it does not.
func zoneOf(pv *PersistentVolume, node *Node) string {
	zones := []string{}
	if rest, ok := strings.CutPrefix(pv.InTree, "aws://"); ok {
		zone, _, _ := strings.Cut(rest, "/")
		zones = append(zones, zone)
	}
	for _, label := range zoneLabels {
		zones = append(zones, pv.Labels[label])
	}
	if node != nil {
		zones = append(zones, node.Zone)
	}
	return cmp.Or(zones...)
}

// index makes a map of pointers to the elements.
func index[K comparable, T any](all []T, key func(*T) K) map[K]*T {
	m := make(map[K]*T, len(all))
	for i := range all {
		m[key(&all[i])] = &all[i]
	}
	return m
}

package fleet

import (
	"errors"
	"fmt"
)

// set counts the fields that are set.
func (l line) set() int {
	n := 0
	for _, is := range []bool{
		l.Header != nil, l.Region != nil, l.Volume != nil, l.Instance != nil, l.Modification != nil, l.Alarm != nil, l.Cluster != nil,
		l.Claim != nil, l.PersistentVolume != nil, l.StorageClass != nil, l.AttributesClass != nil, l.Pod != nil, l.StatefulSet != nil,
		l.Node != nil, l.Metrics != nil, l.Missing != nil, l.End != nil,
	} {
		if is {
			n++
		}
	}
	return n
}

// fact adds a line to the snapshot.
func (f *Reader) fact(l line) error {
	switch {
	case l.Header != nil:
		return errors.New("a second header: these are two snapshots in one file")
	case l.Region != nil:
		f.snapshot.Regions = append(f.snapshot.Regions, *l.Region)
		return f.once("region", string(l.Region.Account)+"/"+l.Region.Name)
	case l.Cluster != nil:
		f.snapshot.Clusters = append(f.snapshot.Clusters, *l.Cluster)
		return f.once("cluster", l.Cluster.UID)
	case l.Volume != nil || l.Instance != nil || l.Modification != nil || l.Alarm != nil:
		return f.regional(l)
	default:
		return f.clustered(l)
	}
}

// regional adds a line to the latest region.
func (f *Reader) regional(l line) error {
	if len(f.snapshot.Regions) == 0 {
		return errors.New("out of order: it stands before any region")
	}
	r := &f.snapshot.Regions[len(f.snapshot.Regions)-1]
	switch {
	case l.Volume != nil:
		r.Volumes = append(r.Volumes, *l.Volume)
		if l.Volume.Type == "" || l.Volume.SizeGiB <= 0 || l.Volume.SizeGiB > maxGiB || l.Volume.IOPS < 0 || l.Volume.ThroughputMiBps < 0 {
			return fmt.Errorf("volume %s is of type %q with %d GiB, %d IOPS and %d MiB/s, which no volume is",
				l.Volume.ID, l.Volume.Type, l.Volume.SizeGiB, l.Volume.IOPS, l.Volume.ThroughputMiBps)
		}
		return f.once("volume", l.Volume.ID)
	case l.Instance != nil:
		r.Instances = append(r.Instances, *l.Instance)
		return f.once("instance", l.Instance.ID)
	case l.Modification != nil:
		r.Modifications = append(r.Modifications, *l.Modification)
		return nil
	default:
		r.Alarms = append(r.Alarms, *l.Alarm)
		return nil
	}
}

// maxGiB bounds a size: far above any volume, and in bytes no overflow.
const maxGiB = 1 << 30

// clustered adds a line to the latest cluster.
func (f *Reader) clustered(l line) error {
	if len(f.snapshot.Clusters) == 0 {
		return errors.New("out of order: it stands before any cluster")
	}
	c := &f.snapshot.Clusters[len(f.snapshot.Clusters)-1]
	var uid UID
	switch {
	case l.Claim != nil:
		c.Claims, uid = append(c.Claims, *l.Claim), l.Claim.UID
	case l.PersistentVolume != nil:
		c.Volumes, uid = append(c.Volumes, *l.PersistentVolume), l.PersistentVolume.UID
	case l.StorageClass != nil:
		c.Classes, uid = append(c.Classes, *l.StorageClass), l.StorageClass.UID
	case l.AttributesClass != nil:
		c.AttributesClasses, uid = append(c.AttributesClasses, *l.AttributesClass), l.AttributesClass.UID
	case l.Pod != nil:
		c.Pods, uid = append(c.Pods, *l.Pod), l.Pod.UID
	case l.StatefulSet != nil:
		c.StatefulSets, uid = append(c.StatefulSets, *l.StatefulSet), l.StatefulSet.UID
	default:
		c.Nodes, uid = append(c.Nodes, *l.Node), l.Node.UID
	}
	return f.once("object of cluster "+string(c.UID), uid)
}

// once refuses an id that is empty, or that came before.
func (f *Reader) once(what string, id any) error {
	text := fmt.Sprint(id)
	if text == "" {
		return fmt.Errorf("%s without an id", what)
	}
	key := what + " " + text
	if f.seen[key] {
		return fmt.Errorf("%s is there twice", key)
	}
	f.seen[key] = true
	return nil
}

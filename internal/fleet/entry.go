package fleet

import (
	"cmp"
	"strconv"
	"strings"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

// use is the first of an entry's uses: the one whose claim is bound where there are several; the zero Use where there is none.
func (e *Entry) use() Use {
	for _, u := range e.Uses {
		if u.Claim != nil {
			return u
		}
	}
	if len(e.Uses) > 0 {
		return e.Uses[0]
	}
	return Use{}
}

// instance is the instance that has the volume, as far as accounts or clusters know it.
func (e *Entry) instance() (id InstanceID, kind string) {
	if e.Volume != nil {
		for _, a := range e.Volume.Attachments {
			id = cmp.Or(id, a.Instance)
		}
	}
	if node := e.use().Node; node != nil {
		id, kind = cmp.Or(id, node.Instance), node.Type
	}
	if e.Instance != nil {
		return e.Instance.ID, e.Instance.Type
	}
	return id, kind
}

// Setting returns the volume's setting. read is false where no account says it, so that it is taken from the classes of
// the cluster; the type is empty where they do not say it either.
func (e *Entry) Setting() (s Setting, read bool) {
	if e.Volume != nil {
		return e.Volume.Setting, true
	}
	u := e.use()
	const gib = int64(units.GiB)
	s.SizeGiB = (u.PV.CapacityBytes + gib - 1) / gib
	if u.Class != nil {
		s.Type, _ = u.Class.VolumeType()
		s.provision(u.Class.Parameters)
	}
	for _, a := range u.Cluster.AttributesClasses {
		if a.Name == u.PV.AttributesClass {
			s.provision(a.Parameters)
		}
	}
	return s, false
}

// provision applies the parameters of a class.
func (s *Setting) provision(parameters map[string]string) {
	for key, value := range parameters {
		switch n, err := strconv.ParseInt(value, 10, 64); strings.ToLower(key) {
		case "type":
			s.Type = ebs.Type(strings.ToLower(value))
		case "iops":
			if err == nil && n > 0 {
				s.IOPS = n
			}
		case "throughput":
			if err == nil && n > 0 {
				s.ThroughputMiBps = n
			}
		}
	}
}

// VolumeType returns the type of the volumes that a class makes, and false where they are not EBS volumes. Without a
// parameter the in-tree driver makes gp2, and the CSI drivers gp3.
func (c *StorageClass) VolumeType() (ebs.Type, bool) {
	var s Setting
	switch c.Provisioner {
	case InTreeDriver:
		s.Type = ebs.GP2
	case EBSDriver, EKSAutoDriver:
		s.Type = ebs.GP3
	default:
		return "", false
	}
	s.provision(c.Parameters)
	return s.Type, true
}

// DefaultClass returns the class that a cluster gives to claims without one, nil where it has none. Of several defaults
// Kubernetes takes the newest.
func (c *Cluster) DefaultClass() *StorageClass {
	var newest *StorageClass
	for i := range c.Classes {
		class := &c.Classes[i]
		if !class.Default {
			continue
		}
		if newest == nil || class.Created.After(newest.Created) || class.Created.Equal(newest.Created) && class.Name < newest.Name {
			newest = class
		}
	}
	return newest
}

package migration

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
)

// version is a release such as v1.50.1, as far as it can be compared.
type version [3]int

// parseVersion reads a version, false where it is none.
func parseVersion(text string) (v version, ok bool) {
	text, _, _ = strings.Cut(strings.TrimPrefix(text, "v"), "-")
	text, _, _ = strings.Cut(text, "+")
	for i, part := range strings.SplitN(text, ".", 3) {
		n, err := strconv.Atoi(part)
		if err != nil {
			return version{}, false
		}
		v[i] = n
	}
	return v, true
}

func (v version) before(o version) bool {
	return cmp.Or(cmp.Compare(v[0], o[0]), cmp.Compare(v[1], o[1]), cmp.Compare(v[2], o[2])) < 0
}

// What can do what. Sources: the releases of aws-ebs-csi-driver and external-resizer.
var (
	classDriver   = version{1, 29, 0} // understands VolumeAttributesClass
	chartResizer2 = version{1, 54, 0} // is shipped with a resizer that speaks the v1 API
	resizerV1     = version{2, 0, 0}
	fastDriver    = version{1, 50, 0} // knows gp3 above 16,000 IOPS; older ones cut it without a word
	autoServer    = version{1, 34, 0} // EKS Auto Mode
)

// cutThroughput are the releases of the driver that set a wrong throughput.
var cutThroughput = map[version]bool{{1, 50, 0}: true, {1, 50, 1}: true, {1, 51, 0}: true}

const formerMaxIOPS = 16_000 // of gp3 before September 2025

// whyNotByClass says why a claim's volume cannot be changed by a VolumeAttributesClass; "" where it can.
func whyNotByClass(u *fleet.Use, to fleet.Setting) string {
	c := u.Cluster
	switch {
	case u.PV.Driver == "":
		return "the PersistentVolume is an in-tree one, which csi-resizer passes over"
	case u.Claim == nil:
		return "no claim is bound to the PersistentVolume"
	case c.AttributesAPI == "":
		return fmt.Sprintf("cluster %s (%s) does not serve VolumeAttributesClass: it comes with Kubernetes 1.34", c.Name, cmp.Or(c.Server, "version unknown"))
	case u.PV.Driver == fleet.EKSAutoDriver:
		if v, ok := parseVersion(c.Server); !ok || v.before(autoServer) {
			return "EKS Auto Mode takes VolumeAttributesClass from Kubernetes 1.34 on"
		}
		return ""
	}
	for i := range c.Drivers {
		if c.Drivers[i].Name == u.PV.Driver {
			return whyNotDriver(c, &c.Drivers[i], to)
		}
	}
	return fmt.Sprintf("cluster %s does not run the driver %s", c.Name, u.PV.Driver)
}

func whyNotDriver(c *fleet.Cluster, d *fleet.Driver, to fleet.Setting) string {
	driver, known := parseVersion(d.Version)
	switch {
	case !known:
		return fmt.Sprintf("the version of the driver %s is not known", d.Name)
	case driver.before(classDriver):
		return fmt.Sprintf("the driver %s is %s; VolumeAttributesClass needs v1.29.0", d.Name, d.Version)
	case cutThroughput[driver]:
		return fmt.Sprintf("the driver %s %s sets a wrong throughput; v1.51.1 does not", d.Name, d.Version)
	case to.Type == ebs.GP3 && to.IOPS > formerMaxIOPS && driver.before(fastDriver):
		return fmt.Sprintf("the driver %s %s cuts gp3 at 16,000 IOPS; v1.51.1 does not", d.Name, d.Version)
	}
	if d.Gates["VolumeAttributesClass"] == "false" {
		return "csi-resizer has the gate VolumeAttributesClass off"
	}
	resizer, told := parseVersion(d.Resizer)
	if c.AttributesAPI == "v1" {
		if told && resizer.before(resizerV1) {
			return fmt.Sprintf("csi-resizer is %s; the v1 API of VolumeAttributesClass needs v2.0.0", d.Resizer)
		}
		if !told && driver.before(chartResizer2) {
			return fmt.Sprintf("the version of csi-resizer is not known, and that which came with the driver %s does not know the v1 API", d.Version)
		}
		return ""
	}
	if (!told || resizer.before(resizerV1)) && d.Gates["VolumeAttributesClass"] != "true" {
		return "csi-resizer has the gate VolumeAttributesClass off, as it comes before v2.0.0"
	}
	return ""
}

// ClassFor is the VolumeAttributesClass of a setting, named by it: there is one for each.
func ClassFor(driver string, s fleet.Setting) Class {
	name, parameters := "ebscope-", map[string]string{"type": string(s.Type)}
	if driver == fleet.EKSAutoDriver {
		name += "auto-"
	}
	name += string(s.Type)
	config := s.Config(ebs.Embedded())
	if config.IOPS > 0 {
		parameters["iops"] = strconv.FormatInt(s.IOPS, 10)
		name += "-" + parameters["iops"]
	}
	if config.Throughput > 0 {
		parameters["throughput"] = strconv.FormatInt(s.ThroughputMiBps, 10)
		name += "-" + parameters["throughput"]
	}
	return Class{Name: name, Driver: driver, Parameters: parameters}
}

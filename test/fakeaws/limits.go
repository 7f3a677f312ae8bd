package fakeaws

// limits are those of a volume type as AWS documents them, written here a second time on purpose: a test against them
// is a test of the product's own table.
type limits struct {
	minSize, maxSize             int // GiB
	minIOPS, maxIOPS             int // 0: cannot be set
	iopsPerGiB                   int
	minThroughput, maxThroughput int // MiB/s; 0: cannot be set
}

var limitsOf = map[string]limits{
	"standard": {minSize: 1, maxSize: 1024},
	"gp2":      {minSize: 1, maxSize: 16384},
	"gp3":      {1, 65536, 3000, 80000, 500, 125, 2000},
	"io1":      {minSize: 4, maxSize: 16384, minIOPS: 100, maxIOPS: 64000, iopsPerGiB: 50},
	"io2":      {minSize: 4, maxSize: 65536, minIOPS: 100, maxIOPS: 256000, iopsPerGiB: 1000},
	"st1":      {minSize: 125, maxSize: 16384},
	"sc1":      {minSize: 125, maxSize: 16384},
}

// maxThroughputPerIOPS is gp3's, in MiB/s.
const maxThroughputPerIOPS = 0.25

// checkGiven refuses what a type does not let one set, in AWS's words.
func checkGiven(s Setting) *refusal {
	l, known := limitsOf[s.Type]
	switch {
	case !known:
		return refuse("InvalidParameterValue", "Invalid value '%s' for VolumeType.", s.Type)
	case s.IOPS > 0 && l.maxIOPS == 0:
		return refuse("InvalidParameterCombination", "The parameter iops is not supported for %s volumes.", s.Type)
	case s.Throughput > 0 && l.maxThroughput == 0:
		return refuse("InvalidParameterCombination", "throughput can only be specified for volumeType gp3.")
	}
	return nil
}

// check holds a whole setting against the limits.
func check(s Setting) *refusal {
	l := limitsOf[s.Type]
	const value = "InvalidParameterValue"
	switch {
	case s.Size > l.maxSize:
		return refuse(value, "Volume of %dGiB is too large for volume type %s; maximum is %dGiB", s.Size, s.Type, l.maxSize)
	case s.Size < l.minSize:
		return refuse(value, "Volume of %dGiB is too small for volume type %s; minimum is %dGiB", s.Size, s.Type, l.minSize)
	case l.maxIOPS > 0 && s.IOPS > l.maxIOPS:
		return refuse(value, "Volume iops of %d is too high; maximum is %d.", s.IOPS, l.maxIOPS)
	case l.maxIOPS > 0 && s.IOPS < l.minIOPS:
		return refuse(value, "Volume iops of %d is too low; minimum is %d.", s.IOPS, l.minIOPS)
	// What gp3 includes needs no ratio: 1 GiB has 3,000 IOPS.
	case l.iopsPerGiB > 0 && s.IOPS > l.iopsPerGiB*s.Size && (s.Type != "gp3" || s.IOPS > l.minIOPS):
		return refuse(value, "Iops to volume size ratio of %f is too high; maximum is %d", float64(s.IOPS)/float64(s.Size), l.iopsPerGiB)
	case l.maxThroughput > 0 && s.Throughput > l.maxThroughput:
		return refuse(value, "Volume throughput of %d is too high; maximum is %d.", s.Throughput, l.maxThroughput)
	case l.maxThroughput > 0 && s.Throughput < l.minThroughput:
		return refuse(value, "Volume throughput of %d is too low; minimum is %d.", s.Throughput, l.minThroughput)
	case l.maxThroughput > 0 && float64(s.Throughput) > maxThroughputPerIOPS*float64(s.IOPS):
		return refuse(value, "Throughput (MiBps) to iops ratio of %f is too high; maximum is %f MiBps per iops",
			float64(s.Throughput)/float64(s.IOPS), maxThroughputPerIOPS)
	}
	return nil
}

// withDefaults fills in IOPS and throughput that were not given: those that the volume has where it stays of its type;
// otherwise gp3's base or what the gp2 volume gave, whichever is more, as the user guide of EBS says; and 3,000 IOPS.
func withDefaults(s, was Setting) Setting {
	same := was.Type == s.Type
	switch s.Type {
	case "gp2":
		s.IOPS, s.Throughput = min(max(3*s.Size, 100), 16000), 0
	case "gp3":
		iops, throughput := 3000, 125
		switch {
		case same:
			iops, throughput = was.IOPS, was.Throughput
		case was.Type == "gp2":
			iops, throughput = max(iops, was.IOPS), gp2Throughput(was.Size)
		}
		s.IOPS, s.Throughput = or(s.IOPS, iops), or(s.Throughput, throughput)
	case "io1", "io2":
		iops := 3000
		if same {
			iops = was.IOPS
		}
		s.IOPS, s.Throughput = or(s.IOPS, iops), 0
	}
	return s
}

// gp2Throughput is what gp2 gives at most: 128 MiB/s up to 170 GiB, 250 above.
func gp2Throughput(size int) int {
	if size <= 170 {
		return 128
	}
	return 250
}

func or(given, otherwise int) int {
	if given > 0 {
		return given
	}
	return otherwise
}

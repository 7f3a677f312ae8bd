package cost

import (
	"fmt"
	"math"
	"strings"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/units"
)

// Need is what is asked of a volume. Zero means that nothing is asked.
type Need struct {
	Size units.Bytes
	// IOPS (at random) and Throughput (sequential, in the largest I/Os that count as one) must be held for ever.
	IOPS       units.IOPS
	Throughput units.Throughput
	// Burst is a rate that is needed only for BurstFor at a time, so that a full credit bucket may give it.
	Burst    units.IOPS
	BurstFor time.Duration
}

// String says what is asked for: "100 GiB, 300 IOPS for ever, 3,000 IOPS for 30m".
func (n Need) String() string {
	asked := []string{n.Size.String()}
	if n.IOPS > 0 {
		asked = append(asked, n.IOPS.String()+" for ever")
	}
	if n.Throughput > 0 {
		asked = append(asked, n.Throughput.String()+" for ever")
	}
	if n.Burst > 0 {
		asked = append(asked, fmt.Sprintf("%v for %s", n.Burst, span(n.BurstFor)))
	}
	return strings.Join(asked, ", ")
}

// Within cuts a need down to what an instance passes on, in whole IOPS and MiB/s, and says in a sentence for each cut
// what the instance caps. What is needed for ever is held against the instance's baseline; a burst of up to 30 minutes
// against its maximum.
func (n Need) Within(i ebs.Instance) (Need, []string) {
	var cuts []string
	if most := units.IOPS(math.Floor(float64(i.BaselineIOPS))); n.IOPS > most {
		cuts = append(cuts, fmt.Sprintf("%s caps at %v for ever, below the %v that are asked for.", i.Type, most, n.IOPS))
		n.IOPS = most
	}
	whole := units.Throughput(math.Floor(i.BaselineThroughput.MiBps())) * units.MiBPerSecond
	if n.Throughput > whole {
		cuts = append(cuts, fmt.Sprintf("%s caps at %v for ever, below the %v that are asked for.", i.Type, whole, n.Throughput))
		n.Throughput = whole
	}
	most := i.MaximumIOPS
	if n.BurstFor > model.InstanceBurst {
		most = i.BaselineIOPS
	}
	if n.Burst > most {
		cuts = append(cuts, fmt.Sprintf("%s caps at %v for %s, below the burst of %v that is asked for.", i.Type, most, span(n.BurstFor), n.Burst))
		n.Burst = most
	}
	return n, cuts
}

// gives says whether a volume of that performance meets the need.
func (n Need) gives(p ebs.Performance) bool {
	return n.givesIOPS(p) && n.givesThroughput(p) && n.givesBurst(p)
}

func (n Need) givesIOPS(p ebs.Performance) bool       { return RandomIOPS(p) >= n.IOPS }
func (n Need) givesThroughput(p ebs.Performance) bool { return SustainedThroughput(p) >= n.Throughput }

func (n Need) givesBurst(p ebs.Performance) bool {
	if RandomIOPS(p) >= n.Burst {
		return true
	}
	return p.Bursts() && p.Burst >= n.Burst && float64(p.Credits) >= float64(n.Burst-p.Baseline)*n.BurstFor.Seconds()
}

// RandomIOPS is what a volume holds for ever at random: its baseline, or, on an HDD volume, what its throughput leaves
// where every I/O counts as a whole unit.
func RandomIOPS(p ebs.Performance) units.IOPS {
	if !p.WholeUnits {
		return p.Baseline
	}
	return min(p.Baseline, units.IOPS(float64(p.BaselineThroughput)/float64(p.AccountingUnit)))
}

// SustainedThroughput is what a volume holds for ever in the largest I/Os that count as one operation. It is below the
// limit where that takes more operations than the baseline.
func SustainedThroughput(p ebs.Performance) units.Throughput {
	return min(p.BaselineThroughput, units.Throughput(float64(p.Baseline)*float64(p.AccountingUnit)))
}

package fleet

import (
	"fmt"
	"math"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

// nearlyEmpty is the balance below which a volume came near its fall.
const nearlyEmpty = 0.3

// findings looks at one volume.
func (s *Scan) findings(i int, r *Row) []Finding {
	v := volumeFindings{entry: &s.inventory.Entries[i], config: s.configs[i], observed: s.observed[i], row: r,
		snapshot: &s.inventory.Snapshot, catalog: s.options.Catalog, found: []Finding{}}
	v.identity()
	if v.entry.Volume != nil {
		v.state()
		v.cold()
	}
	if v.config.known {
		v.risk()
		v.performance()
	}
	return v.found
}

// volumeFindings gathers what is found about a volume.
type volumeFindings struct {
	entry    *Entry
	config   config
	observed *Observed
	row      *Row
	snapshot *Snapshot
	catalog  *ebs.Catalog
	found    []Finding
}

func (v *volumeFindings) add(code Code, level Level, format string, arguments ...any) {
	v.found = append(v.found, Finding{code, level, fmt.Sprintf(format, arguments...)})
}

// identity says what is odd about what the volume is.
func (v *volumeFindings) identity() {
	if v.entry.Volume == nil && len(v.snapshot.Regions) > 0 {
		v.add(NotInAccount, Warning, "No account and region that was read has it: it was deleted, or lies elsewhere. Its setting is taken from its class in the cluster, and may have been changed since.")
	}
	if !v.config.known {
		switch v.row.Type {
		case "":
			v.add(UnknownType, Note, "Neither an account nor its class in the cluster says of which type it is.")
		default:
			v.add(UnknownType, Note, "The catalog has no volume type %q, so neither its limits nor its price are known.", v.row.Type)
		}
	}
	for _, u := range v.entry.Uses {
		if u.PV.InTree != "" {
			v.add(InTreePV, Note, "PV %s is of the in-tree driver: a VolumeAttributesClass cannot change it, EC2's ModifyVolume can.", u.PV.Name)
			break
		}
	}
}

// state says what EC2 tells of its state.
func (v *volumeFindings) state() {
	if volume := v.entry.Volume; volume.State == "available" {
		text := "It is attached to nothing, and paid for."
		if r := v.row; r.Claim != "" {
			text = fmt.Sprintf("It is attached to nothing, and paid for. It was made for the claim %s/%s.", r.Namespace, r.Claim)
		}
		v.add(Unattached, Warning, "%s", text)
	}
	if len(v.entry.Modifications) == 0 {
		return
	}
	switch m := v.entry.Modifications[0]; m.State {
	case "modifying":
		v.add(Modifying, Note, "It is being changed from %s to %s: %d %% are done.", m.Original, m.Target, m.Progress)
	case "optimizing":
		v.add(Optimizing, Note, "It is being changed from %s to %s: %d %% are done. Until then its limits lie between the two.", m.Original, m.Target, m.Progress)
	}
}

// cold says whether blocks of a snapshot have yet to be fetched. Whatever was read or written is there already, so that a
// volume from which as much was read as it has may still be cold in part; it is left out, because nobody can tell.
func (v *volumeFindings) cold() {
	volume := v.entry.Volume
	if volume.SnapshotID == "" || volume.FastRestored || volume.InitializationMiBps > 0 {
		return
	}
	size := units.Bytes(volume.SizeGiB) * units.GiB
	w := v.snapshot.Window
	switch {
	case v.observed != nil && v.observed.Known > 0 && !volume.Created.Before(w.Start):
		if v.observed.Read < size {
			v.add(SnapshotCold, Warning, "It was made from %s, and only %v of %v were read since. The first read of every other block fetches it from the snapshot, which is slow.",
				volume.SnapshotID, v.observed.Read, size)
		}
	case volume.Created.After(v.snapshot.Taken.Add(-day)):
		v.add(SnapshotCold, Warning, "It was made from %s within the last day. The first read of every block fetches it from the snapshot, which is slow.", volume.SnapshotID)
	}
}

// risk says whether its credits run out, or ran out.
func (v *volumeFindings) risk() {
	perf, o := v.config.perf, v.observed
	if v.config.volume.Type != ebs.GP2 || !perf.Bursts() {
		return
	}
	fall := fmt.Sprintf("Without credits it falls from %v to %v", perf.Burst, perf.Baseline)
	lasts := units.Thousands(math.Round(float64(perf.Credits) / float64(perf.Burst-perf.Baseline)))
	if o == nil || o.Known == 0 {
		if v.entry.Volume != nil && v.entry.Volume.State == "available" {
			return
		}
		if v.entry.Volume != nil && v.snapshot.Window != (Window{}) {
			v.add(MissingMetrics, Warning, "CloudWatch has no figures of it in the window, so nobody can say how near it comes to its fall.")
		}
		v.add(GP2AtRisk, Warning, "%s; a full bucket lasts %s s at %v. No metrics say how near it comes to that.", fall, lasts, perf.Burst)
		return
	}
	empty, ends := emptyAfter(perf, o.Balance, o.Present)
	switch {
	case o.Throttled > 0:
		v.add(GP2AtRisk, Risk, "It was held back for %s of the last %s. %s.", span(o.Throttled), span(v.snapshot.Window.Length()), fall)
	case ends && empty <= day:
		v.add(GP2AtRisk, Risk, "At its present %v its credits run out in %v. %s.", roundIOPS(o.Present.IOPS), span(empty), fall)
	case o.Balance != nil && o.Balance.Lowest < nearlyEmpty:
		v.add(GP2AtRisk, Warning, "Its burst balance fell to %.0f %%. %s.", 100*o.Balance.Lowest, fall)
	}
}

// day bounds the future for which a present demand says something.
const day = 24 * time.Hour

// span prints a length of time in whole minutes that are full, as tables do, below two minutes in seconds, and from two days on in days.
func span(d time.Duration) string {
	const hour = 60
	minutes := int64(d.Minutes())
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d >= 2*day && minutes%(24*hour) == 0:
		return fmt.Sprintf("%d days", minutes/(24*hour))
	case d >= 2*time.Hour && minutes%hour == 0:
		return fmt.Sprintf("%d h", minutes/hour)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d h %d min", minutes/hour, minutes%hour)
	default:
		return fmt.Sprintf("%d min", minutes)
	}
}

func roundIOPS(r units.IOPS) units.IOPS { return units.IOPS(math.Round(float64(r))) }

// performance says where what it is given is too much or too little.
func (v *volumeFindings) performance() {
	volume := v.catalog.Provisioned(v.config.volume)
	perf := v.config.perf
	if r := v.row.Recommendation; volume.Type == ebs.GP3 && r.Action == Modify {
		v.add(OverProvisioned, Warning, "It has %v and %v: %s.", volume.IOPS, volume.Throughput, r.Reason)
	}
	v.belowGP2(volume)
	if t, err := v.catalog.VolumeType(volume.Type); err == nil && v.row.Instance != nil {
		limit := v.row.Instance
		if t.IOPS.Provisioned && perf.Baseline > t.IOPS.Included && float64(perf.Baseline) > limit.BaselineIOPS {
			v.add(AboveInstance, Warning, "It has %v, and its %s passes on %s for ever%s, to all volumes together.", perf.Baseline, v.row.InstanceType,
				units.IOPS(limit.BaselineIOPS), atMost(limit.BaselineIOPS, limit.MaximumIOPS, func(x float64) string { return units.IOPS(x).String() }))
		}
		if t.Throughput.Provisioned && perf.Throughput > t.Throughput.Included && perf.Throughput.MiBps() > limit.BaselineThroughputMiBps {
			mib := func(x float64) string { return (units.Throughput(math.Round(10*x)/10) * units.MiBPerSecond).String() }
			v.add(AboveInstance, Warning, "It has %v, and its %s passes on %s for ever%s, to all volumes together.", perf.Throughput, v.row.InstanceType,
				mib(limit.BaselineThroughputMiBps), atMost(limit.BaselineThroughputMiBps, limit.MaximumThroughputMiBps, mib))
		}
	}
}

// atMost says what an instance passes on for half an hour, where that is more.
func atMost(baseline, maximum float64, print func(float64) string) string {
	if maximum <= baseline {
		return ""
	}
	return " and " + print(maximum) + " for 30 minutes a day"
}

// belowGP2 compares gp3's throughput with what a gp2 volume of the size has.
func (v *volumeFindings) belowGP2(volume ebs.Volume) {
	gp2 := v.catalog.Performance(ebs.Volume{Type: ebs.GP2, Size: volume.Size})
	included := v.catalog.Provisioned(ebs.Volume{Type: ebs.GP3, Size: volume.Size}).Throughput
	const small = 128 * units.MiBPerSecond // of gp2 up to 170 GiB, which gp3's 125 come near
	t, err := v.catalog.VolumeType(ebs.GP2)
	if err != nil || gp2.Throughput <= small || volume.Size > t.MaxSize {
		return
	}
	switch {
	case volume.Type == ebs.GP2:
		v.add(BelowGP2, Note, "It moves up to %v; gp3 moves %v unless more is asked for, and paid.", gp2.Throughput, included)
	case volume.Type != ebs.GP3 || volume.Throughput > included:
	case v.wasGP2():
		v.add(BelowGP2, Warning, "It was gp2 and moved up to %v; since its change it moves %v.", gp2.Throughput, volume.Throughput)
	case v.observed.enough() && v.observed.PeakThroughput < atLimit*volume.Throughput:
	default:
		v.add(BelowGP2, Note, "It moves %v; a gp2 volume of its size moves up to %v.", volume.Throughput, gp2.Throughput)
	}
}

// wasGP2 says whether EC2 still tells of a change from gp2.
func (v *volumeFindings) wasGP2() bool {
	for _, m := range v.entry.Modifications {
		if m.Original.Type == ebs.GP2 && m.Target.Type == ebs.GP3 {
			return true
		}
	}
	return false
}

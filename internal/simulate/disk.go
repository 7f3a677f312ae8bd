package simulate

import (
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// disk is what a phase runs on: a volume, or several as RAID 0.
type disk struct {
	volumes []*volume
	chunk   units.Bytes // of RAID 0
}

// volume is a model volume and how it serves what it has admitted.
type volume struct {
	*model.Volume
	service model.Service
	slowest time.Duration // of service
	restore *restore      // nil where no block is missing
}

// served is when an I/O completes; dry says that it waited for credits.
type served struct {
	at  time.Duration
	dry bool
}

// newDisks makes the volumes and stripes of a profile, by name, at time zero.
func newDisks(catalog *ebs.Catalog, profile workload.Profile, compress float64) (map[string]*disk, error) {
	var instance *model.Instance
	if profile.Instance != "" {
		limits, err := catalog.Instance(profile.Instance)
		if err != nil {
			return nil, err
		}
		instance = model.NewInstance(limits, compress)
	}
	disks := make(map[string]*disk, len(profile.Volumes)+len(profile.Stripes))
	for _, v := range profile.Volumes {
		service := v.Service()
		m := &volume{
			Volume:  model.NewVolume(catalog.Performance(v.Config), compress, instance),
			service: service, slowest: service.Slowest().Quantile(1),
		}
		m.SetCredits(0, v.Balance)
		if v.Restored != nil {
			m.restore = newRestore(*v.Restored)
		}
		disks[v.Name] = &disk{volumes: []*volume{m}}
	}
	for _, s := range profile.Stripes {
		array := &disk{chunk: s.ChunkSize}
		for _, name := range s.Volumes {
			array.volumes = append(array.volumes, disks[name].volumes...)
		}
		disks[s.Name] = array
	}
	return disks, nil
}

// serve sends the next I/O of a loop at time t.
func (d *disk) serve(l *loop, t time.Duration) served {
	size := l.phase.BlockSize
	if d.chunk > 0 {
		return d.serveStriped(l, t, l.offset(), size)
	}
	v := d.volumes[0]
	if v.restore == nil {
		return v.serve(l, t, t, size)
	}
	return v.serve(l, t, v.restore.ready(t, l.offset(), size, l.phase.Pattern), size)
}

// serveStriped sends each volume its part and waits for the last.
func (d *disk) serveStriped(l *loop, t time.Duration, offset, size units.Bytes) served {
	var last served
	for i, v := range d.volumes {
		from, to := d.below(i, offset), d.below(i, offset+size)
		if from == to {
			continue
		}
		ready := t
		if v.restore != nil {
			ready = v.restore.ready(t, from, to-from, l.phase.Pattern)
		}
		part := v.serve(l, t, ready, to-from)
		last = served{max(last.at, part.at), last.dry || part.dry}
	}
	return last
}

// below returns how much of the data below an offset of the array lies on its i-th volume, at the start of it.
func (d *disk) below(i int, offset units.Bytes) units.Bytes {
	round := d.chunk * units.Bytes(len(d.volumes))
	return offset/round*d.chunk + min(max(offset%round-units.Bytes(i)*d.chunk, 0), d.chunk)
}

// serve sends the volume an I/O of a loop at time t; its data is there from ready on.
func (v *volume) serve(l *loop, t, ready time.Duration, size units.Bytes) served {
	var admission model.Admission
	if l.sequential {
		admission = v.AdmitSequential(t, size)
	} else {
		admission = v.Admit(t, size)
	}
	// Most I/Os of a busy volume wait for admission beyond the longest service latency: no need to look theirs up.
	u, at := l.random.Float64(), admission.At
	if at < ready+v.slowest {
		at = max(at, ready+v.service.Of(l.writing, size).Quantile(u))
	}
	return served{at, v.WaitedForCredits(admission)}
}

// bursts says whether the disk has credits that can run dry.
func (d *disk) bursts() bool {
	for _, v := range d.volumes {
		if v.CreditCapacity() > 0 {
			return true
		}
	}
	return false
}

// credits is the balance of all volumes together.
func (d *disk) credits(t time.Duration) (sum units.Ops) {
	for _, v := range d.volumes {
		sum += max(0, v.Credits(t))
	}
	return sum
}

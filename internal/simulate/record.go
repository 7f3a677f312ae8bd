package simulate

import (
	"time"

	"ebscope/internal/result"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// recorder gathers the completions of a phase as fio's summary and averaged logs would show them.
type recorder struct {
	phase       workload.Phase
	window      time.Duration
	read, write histogram
	windows     []windowSum
}

type windowSum struct {
	ios     int64
	latency time.Duration
}

func newRecorder(p workload.Phase, window time.Duration) *recorder {
	return &recorder{phase: p, window: window, windows: make([]windowSum, 0, p.Duration/window+1)}
}

// add records an I/O that completes at a time counted from the phase's start.
func (r *recorder) add(at, latency time.Duration, read bool) {
	if read {
		r.read.add(latency)
	} else {
		r.write.add(latency)
	}
	// What completes at the very end of a window belongs to it.
	i := int(max(0, at-1) / r.window)
	r.extend(i)
	r.windows[i].ios++
	r.windows[i].latency += latency
}

// extend makes room for the i-th window.
func (r *recorder) extend(i int) {
	for i >= len(r.windows) {
		r.windows = append(r.windows, windowSum{})
	}
}

// measurement returns what was recorded of a phase that ran for the given time. Its series ends with the last whole window.
func (r *recorder) measurement(runtime time.Duration) result.Measurement {
	m := result.Measurement{Source: Source, Window: r.window}
	if r.phase.Pattern.Mixed() {
		read, write := r.direction(&r.read, runtime), r.direction(&r.write, runtime)
		m.Read, m.Write = &read, &write
		r.read.merge(&r.write)
	}
	m.Total = r.direction(&r.read, runtime)
	whole := int(runtime / r.window)
	r.extend(whole - 1)
	for i, w := range r.windows[:whole] {
		end := time.Duration(i+1) * r.window
		m.IOPS = append(m.IOPS, result.Point{End: end, Value: float64(w.ios) / r.window.Seconds()})
		if w.ios > 0 {
			mean := float64(w.latency) / float64(w.ios) / float64(time.Millisecond)
			m.Latency = append(m.Latency, result.Point{End: end, Value: mean})
		}
	}
	return m
}

func (r *recorder) direction(h *histogram, runtime time.Duration) result.Direction {
	data := units.Bytes(h.count) * r.phase.BlockSize
	return result.Direction{
		IOs:        h.count,
		Bytes:      data,
		Runtime:    runtime,
		IOPS:       units.IOPS(float64(h.count) / runtime.Seconds()),
		Throughput: units.Throughput(float64(data) / runtime.Seconds()),
		Latency:    h.latency(),
	}
}

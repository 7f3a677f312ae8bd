package log

import (
	"slices"
	"time"

	"ebscope/internal/result"
	"ebscope/internal/units"
)

// part is a track, what it is part of, and which of the log's tracks in its direction it is.
type part struct {
	Track
	log   *Log
	index int
}

// parts lists the tracks of the first kind of log that there is.
func parts(logs []*Log, kinds ...Kind) (all []part) {
	for _, kind := range kinds {
		for _, l := range logs {
			if l.Kind != kind {
				continue
			}
			var index [directions]int
			for _, t := range l.Tracks {
				all = append(all, part{t, l, index[t.Direction]})
				index[t.Direction]++
			}
		}
		if len(all) > 0 {
			return all
		}
	}
	return nil
}

// latencyParts lists tracks of latencies in ms, of logs whose unit is known. Where there are single I/Os or histograms,
// means of windows are not needed.
func latencyParts(logs []*Log) []part {
	logs = filter(logs, func(l *Log) bool { return l.Unit > 0 })
	all := parts(filter(logs, func(l *Log) bool { return l.PerIO }), Total, Completion, Histogram)
	if all == nil {
		all = parts(logs, Total, Completion)
	}
	for i, p := range all {
		all[i].Track = p.scaled(float64(p.log.Unit) / float64(time.Millisecond))
	}
	return all
}

// served leaves out trims and flushes, which are no part of a total.
func served(all []part) []part {
	return slices.DeleteFunc(slices.Clone(all), func(p part) bool { return p.Direction == Trim || p.Direction == Sync })
}

func of(all []part, d Direction) []part {
	return slices.DeleteFunc(slices.Clone(all), func(p part) bool { return p.Direction != d })
}

func filter(logs []*Log, keep func(*Log) bool) []*Log {
	return slices.DeleteFunc(slices.Clone(logs), func(l *Log) bool { return !keep(l) })
}

// averaged leaves out logs of single I/Os.
func averaged(logs []*Log) []*Log { return filter(logs, func(l *Log) bool { return !l.PerIO }) }

// rateParts returns tracks that tell the rate, and whether they do so by single I/Os, which are counted, rather than by
// rates of windows, which are added up.
func rateParts(logs []*Log, blockSize units.Bytes) (all []part, single bool) {
	if all := parts(averaged(logs), IOPS); all != nil {
		return all, false
	}
	counted := filter(logs, func(l *Log) bool { return l.PerIO })
	if all := parts(counted, Total, Completion, IOPS, Bandwidth, Submission, ""); all != nil {
		return all, true
	}
	if blockSize > 0 {
		if all := parts(averaged(logs), Bandwidth); all != nil {
			return scaled(all, float64(units.KiB)/float64(blockSize)), false
		}
	}
	all = parts(logs, Histogram)
	for i := range all {
		all[i].Track = all[i].counts()
	}
	return all, false
}

// scaled is the track in another unit.
func (t Track) scaled(factor float64) Track {
	t.Cells = slices.Clone(t.Cells)
	for i := range t.Cells {
		c := &t.Cells[i]
		c.Sum, c.Min, c.Max = c.Sum*factor, c.Min*factor, c.Max*factor
	}
	t.Sum, t.Min, t.Max = t.Sum*factor, t.Min*factor, t.Max*factor
	return t
}

// scaled are parts in another unit.
func scaled(all []part, factor float64) []part {
	all = slices.Clone(all)
	for i, p := range all {
		all[i].Track = p.scaled(factor)
	}
	return all
}

// counts is the track of rates by the counts of a track.
func (t Track) counts() Track {
	cells := slices.Clone(t.Cells)
	var last time.Duration
	for i, c := range cells {
		rate := float64(c.Count) / (c.End - last).Seconds()
		cells[i] = Cell{End: c.End, Count: 1, Sum: rate, Min: rate, Max: rate}
		last = c.End
	}
	t.Cells = cells
	return t
}

// point is the cell's mean, with its extremes where it is of more than one value.
func (c Cell) point() result.Point {
	p := result.Point{End: c.End, Value: c.Mean()}
	if c.Max > p.Value || c.Min < p.Value {
		p.Min, p.Max = c.Min, c.Max
	}
	return p
}

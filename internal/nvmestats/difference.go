package nvmestats

import "time"

// Since is what was counted after an earlier page of the same volume. It fails where a counter is smaller than before:
// the volume was attached anew.
func (p Page) Since(before Page) (Page, error) {
	d := difference{}
	p.Read, p.Write = d.direction(p.Read, before.Read), d.direction(p.Write, before.Write)
	p.Volume, p.Instance = d.exceeded(p.Volume, before.Volume), d.exceeded(p.Instance, before.Instance)
	if d.reset || p.Kind != before.Kind {
		return Page{}, malformed("counters are smaller than before: the volume was attached anew")
	}
	return p, nil
}

// difference subtracts counters, and notices one that has gone back.
type difference struct{ reset bool }

func (d *difference) count(now, before uint64) uint64 {
	d.reset = d.reset || now < before
	return now - before
}

func (d *difference) time(now, before time.Duration) time.Duration {
	d.reset = d.reset || now < before
	return now - before
}

func (d *difference) exceeded(now, before Exceeded) Exceeded {
	return Exceeded{IOPS: d.time(now.IOPS, before.IOPS), Throughput: d.time(now.Throughput, before.Throughput)}
}

func (d *difference) direction(now, before Direction) Direction {
	result := Direction{Operations: d.count(now.Operations, before.Operations), Bytes: d.count(now.Bytes, before.Bytes),
		Time: d.time(now.Time, before.Time), Latencies: d.bins(now.Latencies, before.Latencies)}
	if len(now.BySize) != len(before.BySize) {
		d.reset = true
		return result
	}
	for i, sized := range now.BySize {
		sized.Bins = d.bins(sized.Bins, before.BySize[i].Bins)
		result.BySize = append(result.BySize, sized)
	}
	return result
}

func (d *difference) bins(now, before []Bin) []Bin {
	if len(now) != len(before) {
		d.reset = true
		return nil
	}
	result := make([]Bin, len(now))
	for i, bin := range now {
		bin.Count = d.count(bin.Count, before[i].Count)
		result[i] = bin
	}
	return result
}

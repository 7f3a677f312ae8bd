package log

import (
	"cmp"
	"errors"
	"slices"
	"time"
)

// enough is how many lines show that they are in no order.
const enough = 10

// settle tells jobs from lines with a wrong time, and both from lines of one job that are in no order: a job begins about
// when the others did, and runs on. An error says that nothing tells which lines are of one job.
func (o *ordered) settle() error {
	var lines, longest int64
	for _, j := range o.jobs {
		lines, longest = lines+j.count, max(longest, j.count)
	}
	if len(o.jobs) < 2 {
		return nil
	}
	var kept []*lane
	var beginning int64 // lines of jobs
	for _, j := range o.jobs {
		if j.count*10 >= longest && (len(kept) == 0 || o.beside(j, kept[0], longest)) {
			kept, beginning = append(kept, j), beginning+j.count
		}
	}
	muddle := o.backs-1 > lines/2
	// Lines at random make as many rows in ascending order as the root of their number.
	scattered := muddle || len(kept) > 1 && int64(len(kept)*len(kept)) > lines && !steady(kept)
	switch apart := lines - beginning; {
	case lines < enough:
	case (scattered || apart*10 > lines || len(kept) > 1) && o.reorder(kept):
		return nil
	case scattered:
		return errors.New("its lines are in no order of time, and some times come more than once, so that nothing tells which lines are of one job; put them in order (sort -n) if all are of one run")
	}
	for _, j := range o.jobs {
		switch {
		case !slices.Contains(kept, j):
			for _, s := range j.named {
				o.discard(s)
			}
			o.more += j.count - int64(len(j.named))
		case j == kept[0]:
		default:
			o.back = cmp.Or(o.back, j.named[0].number)
		}
	}
	o.jobs = kept
	return nil
}

// beside says whether a job can have run with the first one.
func (o *ordered) beside(j, first *lane, longest int64) bool {
	late := max(j.first, first.first) - min(j.first, first.first)
	if j.count == 1 {
		return longest <= 2 && late <= o.window/2
	}
	return late <= max(3*o.window, (first.last-first.first)/10)
}

// reorder puts all lines in the order of time where they are of one job: no window comes twice, and they are no jobs whose
// windows lie between each other's. It returns false where that is not so, or not all lines are held.
func (o *ordered) reorder(kept []*lane) bool {
	if o.per > 1 || o.more > 0 {
		return false
	}
	var all [directions][]Cell
	for _, j := range o.jobs {
		for d, p := range j.sides {
			if p != nil {
				all[d] = append(append(all[d], p.cells...), p.held)
			}
		}
	}
	for _, s := range o.strays {
		all[s.direction] = append(all[s.direction], s.cell())
	}
	whole := &lane{}
	for d, cells := range all {
		cells = slices.DeleteFunc(cells, func(c Cell) bool { return c.Count == 0 })
		slices.SortFunc(cells, func(a, b Cell) int { return cmp.Compare(a.End, b.End) })
		apart := distances(cells)
		window := rounded(apart)
		if len(apart) > 0 && (window == 0 || apart[0] < window/2 || steady(kept) && len(kept) > 1 && 4*window < 3*o.window) {
			return false
		}
		for i := range cells {
			cells[i].gap = 0
		}
		if len(cells) > 0 {
			whole.sides[d] = &line{direction: Direction(d), cells: cells}
			whole.count += int64(len(cells))
		}
		if window > 0 {
			o.window = window
		}
	}
	o.back = o.jobs[1].named[0].number
	o.jobs, o.strays, o.sorted = []*lane{whole}, nil, true
	return true
}

// distances are those between cells in ms, in ascending order.
func distances(cells []Cell) (apart []uint64) {
	for i := 1; i < len(cells); i++ {
		apart = append(apart, uint64((cells[i].End-cells[i-1].End)/time.Millisecond))
	}
	slices.Sort(apart)
	return apart
}

// steady says whether the lines of jobs are mostly a window apart, as fio writes them.
func steady(jobs []*lane) bool {
	var apart []uint64
	for _, j := range jobs {
		for _, p := range j.sides {
			if p != nil && p.held.Count > 0 {
				apart = append(apart, distances(append(slices.Clone(p.cells), p.held))...)
			}
		}
	}
	slices.Sort(apart)
	window := rounded(apart)
	alike := 0
	for _, a := range apart {
		if max(a, window)-min(a, window) <= max(2, window/10) {
			alike++
		}
	}
	return 4*alike > 3*len(apart)
}

// copied is a job that is another one once more.
type copied struct {
	number int // of its first line
	lines  int64
}

// uncopy leaves out jobs of which every window is that of another: the log was appended to itself. Windows that are alike
// because the rate was held to one value are none.
func (o *ordered) uncopy() {
	const varied = 3 // values
	var kept []*lane
	for _, j := range o.jobs {
		again := slices.ContainsFunc(kept, func(k *lane) bool { return j.copies(k, varied) })
		if !again || j.count < enough {
			kept = append(kept, j)
			continue
		}
		o.copies = append(o.copies, copied{number: j.named[0].number, lines: j.count})
	}
	o.jobs = kept
}

// copied is how many lines are not read for that, but for the one of each job that is named.
func (o *ordered) copied() (lines int64) {
	for _, c := range o.copies {
		lines += c.lines - 1
	}
	return lines
}

// copies says whether all lines of a job are those of another, and have so many values.
func (j *lane) copies(k *lane, varied int) bool {
	values := map[float64]bool{}
	for d, p := range j.sides {
		q := k.sides[d]
		if (p == nil) != (q == nil) {
			return false
		}
		if p == nil {
			continue
		}
		same := func(a, b Cell) bool { return a.End == b.End && a.Sum == b.Sum && a.Max == b.Max }
		if !same(p.held, q.held) || !slices.EqualFunc(p.cells, q.cells, same) {
			return false
		}
		for _, c := range append(p.cells[:len(p.cells):len(p.cells)], p.held) {
			values[c.Sum] = true
		}
	}
	return len(values) >= varied
}

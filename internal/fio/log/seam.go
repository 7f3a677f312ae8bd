package log

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
)

const (
	// probesPerBlock and maxProbes bound how many lines are looked at again, of a log of any size.
	probesPerBlock = 64
	maxProbes      = 4096
	// leastProbes tell whether a log is of one piece.
	leastProbes = 20
	// leastPart of the lines make a piece; fewer are damaged or slow ones.
	leastPart = 0.05
	// prioritizedColumns is from how many columns on a line has a priority, so that its latency is in ns.
	prioritizedColumns = 6
)

// probe is a line that is looked at for whether the log is of one piece.
type probe struct {
	number  int    // of the line
	t, v    uint64 // as they stand
	columns int
}

// probes are lines from all over a log, at even distances.
type probes struct {
	all    []probe
	stride int // blocks from one that is looked at to the next
	passed int // blocks since
}

// look takes lines out of a block.
func (p *probes) look(b block) {
	if p.passed++; p.passed < p.stride {
		return
	}
	p.passed = 0
	if len(p.all)+probesPerBlock > maxProbes {
		for i := range len(p.all) / 2 {
			p.all[i] = p.all[2*i]
		}
		p.all, p.stride = p.all[:len(p.all)/2], max(1, p.stride)*2
	}
	text, number, step := b.buf[:b.text], b.line, b.text/probesPerBlock
	for at := 0; at < len(text); {
		line := text[at:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end]
		}
		if f, fault := split(bytes.TrimSpace(line), ""); fault == "" {
			p.all = append(p.all, probe{number, f.column[0], f.column[1], f.n})
		}
		next := min(at+max(step, len(line)+1), len(text))
		if end := bytes.IndexByte(text[next-1:], '\n'); end >= 0 { // on to the start of a line
			next += end
		} else {
			next = len(text)
		}
		number += bytes.Count(text[at:next], []byte{'\n'})
		at = next
	}
}

func (p *probes) join(o probes) { p.all = append(p.all, o.all...) }

// seam is where one piece of a log ends and another begins.
type seam struct {
	before, after probe  // the lines on both sides that were looked at
	text          string // what differs
	columns       bool   // the number of columns does
}

// restarts says whether the clock starts anew there.
func (s seam) restarts() bool { return s.after.t < s.before.t }

// place says where it is, as exactly as is known.
func (s seam) place() string {
	if s.after.number == s.before.number+1 {
		return fmt.Sprintf("line %d", s.after.number)
	}
	return fmt.Sprintf("one of the lines %d to %d", s.before.number+1, s.after.number)
}

// sorted puts the lines in their order in the log, whoever looked at them.
func (p *probes) sorted() []probe {
	slices.SortFunc(p.all, func(a, b probe) int { return cmp.Compare(a.number, b.number) })
	return p.all
}

// restarts returns where the clock of a log of single I/Os first starts anew, and how often it does. I/Os that end out of
// order are not so far apart.
func (p *probes) restarts(second uint64) (first seam, n int) {
	all := p.sorted()
	for i := 1; i < len(all); i++ {
		if before, after := all[i-1], all[i]; after.t+second < before.t {
			if n++; n == 1 {
				first = seam{before: before, after: after}
			}
		}
	}
	return first, n
}

// units returns where a log of latencies goes over to another unit: where its lines begin to have a priority, or end
// to, or where its values grow or shrink about a thousandfold and stay so. It returns false where there is no such place.
func (p *probes) units() (seam, bool) {
	p.sorted()
	young := func(p probe) bool { return p.columns >= prioritizedColumns }
	if !slices.ContainsFunc(p.all, func(p probe) bool { return !young(p) }) {
		return seam{}, false
	}
	if s, ok := p.between(young); ok {
		s.columns = true
		s.text = fmt.Sprintf("its lines have %d columns up to %s and %d from there", s.before.columns, s.place(), s.after.columns)
		return s, true
	}
	values := make([]uint64, len(p.all))
	for i, probe := range p.all {
		values[i] = max(probe.v, 1)
	}
	slices.Sort(values)
	edge := math.Sqrt(float64(quantile(values, leastPart)) * float64(quantile(values, 1-leastPart)))
	first, _ := slices.BinarySearch(values, uint64(math.Ceil(edge)))
	low, high := values[:first], values[first:]
	if len(low) == 0 || len(high) == 0 || 10*quantile(low, 1-leastPart) > quantile(high, leastPart) {
		return seam{}, false
	}
	const near = 5 // the pieces need not be alike
	times := float64(quantile(high, 0.5)) / float64(quantile(low, 0.5))
	if times < 1000/near || times > 1000*near {
		return seam{}, false
	}
	s, ok := p.between(func(p probe) bool { return float64(p.v) >= edge })
	s.text = fmt.Sprintf("its latencies are about %.0f times as %s from %s on", times,
		map[bool]string{true: "high", false: "low"}[s.after.v > s.before.v], s.place())
	return s, ok
}

// quantile is that of ascending values.
func quantile(values []uint64, share float64) uint64 {
	return values[int(share*float64(len(values)-1))]
}

// between returns where lines that are such follow those that are not, or the other way round. It is false where they
// alternate, or either are hardly any.
func (p *probes) between(such func(probe) bool) (seam, bool) {
	n, count, switches := len(p.all), 0, 0
	for i, probe := range p.all {
		if such(probe) {
			count++
		}
		if i > 0 && such(probe) != such(p.all[i-1]) {
			switches++
		}
	}
	share := float64(count) / float64(max(n, 1))
	if n < leastProbes || share < leastPart || share > 1-leastPart || float64(switches) > max(1, leastPart*float64(n)) {
		return seam{}, false
	}
	// The cumulative sum of what deviates from the share is furthest from zero where one gives way to the other.
	at, sum, furthest := 0, 0.0, 0.0
	for i, probe := range p.all {
		if such(probe) {
			sum++
		}
		if sum -= share; math.Abs(sum) > furthest {
			at, furthest = i, math.Abs(sum)
		}
	}
	return seam{before: p.all[at], after: p.all[min(at+1, n-1)]}, true
}

// oneUnit says where latencies seem to be of two units, and whether that is sure. What the lines state is sure, and so is
// what one version of fio wrote from start to end. A unit that was given stands where nothing but the values speaks against it.
func (h *head) oneUnit(p *probes, doubt func(string, ...any)) (mixed bool) {
	if !h.kind.latency() || h.kind == Histogram || h.stated {
		return false
	}
	s, ok := p.units()
	if !ok {
		return false
	}
	if !s.columns && !s.restarts() {
		if !h.told {
			h.unit, h.reason = 0, ""
		}
		doubt("%s: of two units, if an fio before 3.0 wrote one part, in µs, and a later one the other, in ns", s.text)
		return false
	}
	h.unit, h.reason = 0, ""
	doubt("%s: an fio before 3.0 writes µs and a later one ns, and nothing says in which the parts are, so its latencies are left out; split it there, and read each part with --latency-unit us or ns", s.text)
	return true
}

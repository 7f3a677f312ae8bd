package compare

import (
	"fmt"
	"slices"
)

// pair is a phase of the baseline and the one of another subject that it is held against.
type pair struct{ a, b Phase }

// volume is the name of the volume, where both phases ran on one of the same name.
func (p pair) volume() string {
	if p.a.Volume != p.b.Volume {
		return ""
	}
	return p.a.Volume
}

// match pairs the phases of two subjects: by name, or by name and volume where one of them ran a name on several
// volumes; what is then left by its workload, where only one phase of each has it, or because it is all that either side has,
// as a log is, which states no workload. Phases that are not fit are left out.
func match(a, b Subject) (pairs []pair, left []LeftOut) {
	as, left := fit(a, left)
	bs, left := fit(b, left)
	for _, same := range []func(x, y Phase) bool{
		func(x, y Phase) bool { return x.Name == y.Name && x.Volume == y.Volume },
		func(x, y Phase) bool { return x.Name == y.Name },
		func(x, y Phase) bool { return x.Workload == y.Workload && x.Workload.known() },
		// What a side has alone is what it was given to be compared by, unless the workloads are known to be others.
		func(x, y Phase) bool {
			return len(a.Phases) == 1 && len(b.Phases) == 1 && (!x.Workload.known() || !y.Workload.known())
		},
	} {
		var found []pair
		found, as, bs = take(as, bs, same)
		pairs = append(pairs, found...)
	}
	order := func(p Phase) int {
		return slices.IndexFunc(a.Phases, func(o Phase) bool { return o.Name == p.Name && o.Volume == p.Volume })
	}
	slices.SortStableFunc(pairs, func(x, y pair) int { return order(x.a) - order(y.a) })
	for _, p := range as {
		left = append(left, LeftOut{a.Name, p.Name, p.Volume, fmt.Sprintf("nothing in %s can be held against it", b.Name)})
	}
	for _, p := range bs {
		left = append(left, LeftOut{b.Name, p.Name, p.Volume, fmt.Sprintf("nothing in %s can be held against it", a.Name)})
	}
	return pairs, left
}

// fit returns the phases whose figures count, and adds the others to what is left out.
func fit(s Subject, left []LeftOut) (phases []Phase, _ []LeftOut) {
	for _, p := range s.Phases {
		switch {
		case p.Unfit != "":
			left = append(left, LeftOut{s.Name, p.Name, p.Volume, p.Unfit})
		case len(p.Runs) == 0:
			left = append(left, LeftOut{s.Name, p.Name, p.Volume, "it has no result"})
		default:
			phases = append(phases, p)
		}
	}
	return phases, left
}

// take pairs what is the same and only once there on either side, and returns the rest.
func take(as, bs []Phase, same func(x, y Phase) bool) (pairs []pair, restA, restB []Phase) {
	used := make([]bool, len(bs))
	for _, a := range as {
		twins := 0
		for _, other := range as {
			if same(a, other) {
				twins++
			}
		}
		at, found := 0, 0
		for i, b := range bs {
			if same(a, b) {
				at = i
				found++
			}
		}
		if twins == 1 && found == 1 {
			pairs = append(pairs, pair{a, bs[at]})
			used[at] = true
		} else {
			restA = append(restA, a)
		}
	}
	for i, b := range bs {
		if !used[i] {
			restB = append(restB, b)
		}
	}
	return pairs, restA, restB
}

func (w Workload) known() bool {
	return w.Pattern != "" && w.BlockSize > 0 && w.QueueDepth > 0 && w.Jobs > 0
}

package workload

import "fmt"

// Groups splits the phases, in their order, into those that start at the same time. A phase that runs alone is a group of one.
func (p Profile) Groups() [][]Phase {
	var groups [][]Phase
	for from := 0; from < len(p.Phases); {
		to := from + 1
		for name := p.Phases[from].Together; name != "" && to < len(p.Phases) && p.Phases[to].Together == name; {
			to++
		}
		groups = append(groups, p.Phases[from:to])
		from = to
	}
	return groups
}

// ungrouped takes the name of their group from phases that have lost all others of it.
func (p Profile) ungrouped() []Phase {
	var phases []Phase
	for _, group := range p.Groups() {
		for _, phase := range group {
			if len(group) == 1 {
				phase.Together = ""
			}
			phases = append(phases, phase)
		}
	}
	return phases
}

func (p Profile) validateGroups() error {
	seen := map[string]bool{}
	first := 0
	for _, group := range p.Groups() {
		name := group[0].Together
		if name != "" {
			refuse := func(i int, format string, args ...any) error {
				return entryError{"phases", first + i, fmt.Errorf("together %s: %w", name, fmt.Errorf(format, args...))}
			}
			if seen[name] {
				return refuse(0, "its phases must follow each other; give the later ones another name")
			}
			seen[name] = true
			if err := validateGroup(group, refuse); err != nil {
				return err
			}
		}
		first += len(group)
	}
	return nil
}

// validateGroup checks phases that run together; refuse makes the error of the i-th.
func validateGroup(group []Phase, refuse func(i int, format string, args ...any) error) error {
	if !nameForm().MatchString(group[0].Together) {
		return refuse(0, "use lower-case letters, digits, dots and dashes in its name")
	}
	if len(group) < 2 {
		return refuse(0, "only phase %s on %s is of this group; name another, or leave together out", group[0].Name, group[0].Volume)
	}
	used := map[string]bool{}
	for i, phase := range group {
		if used[phase.Volume] {
			return refuse(i, "two phases on %s; use jobs for more I/O on one volume", phase.Volume)
		}
		used[phase.Volume] = true
		if i > 0 && phase.Rest != 0 {
			return refuse(i, "only its first phase can rest before it starts, not %s on %s", phase.Name, phase.Volume)
		}
	}
	return nil
}

// SimulatedOnly says why the profile cannot be measured, empty where it can.
func (p Profile) SimulatedOnly() string {
	for _, phase := range p.Phases {
		if phase.Together != "" {
			return fmt.Sprintf("phases of %q run together: bench measures never two volumes at once, or it would be the instance that is measured", phase.Together)
		}
	}
	if len(p.Stripes) > 0 {
		return fmt.Sprintf("stripe %s is RAID 0 over %d volumes: bench measures never two volumes at once", p.Stripes[0].Name, len(p.Stripes[0].Volumes))
	}
	for _, v := range p.Volumes {
		if v.Restored != nil {
			return fmt.Sprintf("volume %s is restored from a snapshot: bench measures only data that it has written itself", v.Name)
		}
	}
	return ""
}

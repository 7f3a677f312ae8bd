package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// override puts other volumes in the place of some of a profile's. Each text is NAME=TYPE:SIZE, for types that take them
// followed by ",iops=N" and ",throughput=NMiB/s".
func override(p workload.Profile, texts []string) (workload.Profile, error) {
	p.Volumes = slices.Clone(p.Volumes)
	given := map[string]bool{}
	for _, text := range texts {
		name, config, ok := strings.Cut(text, "=")
		if !ok {
			return p, fmt.Errorf("--volume %q: write it like gp2=gp2:500GiB", text)
		}
		i := slices.IndexFunc(p.Volumes, func(v workload.Volume) bool { return v.Name == name })
		if i < 0 {
			var names []string
			for _, v := range p.Volumes {
				names = append(names, v.Name)
			}
			return p, fmt.Errorf("--volume %q: profile %s has no volume named %q; it has %s", text, p.Name, name, strings.Join(names, ", "))
		}
		if given[name] {
			return p, fmt.Errorf("--volume %q: %s is given twice; give each volume once", text, name)
		}
		given[name] = true
		volume, err := parseVolume(config)
		if err != nil {
			return p, fmt.Errorf("--volume %q: %w", text, err)
		}
		p.Volumes[i].Config = volume
	}
	return p, nil
}

// parseVolume reads a volume such as "gp2:500GiB" or "gp3:500GiB,iops=6000,throughput=250MiB/s".
func parseVolume(text string) (v ebs.Volume, err error) {
	parts := strings.Split(text, ",")
	kind, size, ok := strings.Cut(parts[0], ":")
	if !ok {
		return v, fmt.Errorf("%q is no volume; write it like gp2:500GiB", parts[0])
	}
	v.Type = ebs.Type(kind)
	var unitGiven bool
	if v.Size, unitGiven, err = units.ParseSize(size, units.GiB); err != nil {
		return v, err
	}
	if !unitGiven {
		return v, fmt.Errorf("size %q has no unit; write it like 500GiB", size)
	}
	given := map[string]bool{}
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(part, "=")
		if given[key] {
			return v, fmt.Errorf("%s is given twice", key)
		}
		given[key] = true
		number, unit := value, true
		if key == "throughput" {
			number, unit = strings.CutSuffix(value, "MiB/s")
		}
		x, err := strconv.ParseFloat(number, 64)
		if err != nil || !unit || !(x > 0) {
			return v, fmt.Errorf("%q: write it like iops=6000 or throughput=250MiB/s", part)
		}
		switch key {
		case "iops":
			v.IOPS = units.IOPS(x)
		case "throughput":
			v.Throughput = units.Throughput(x) * units.MiBPerSecond
		default:
			return v, fmt.Errorf("%q: use iops and throughput", part)
		}
	}
	return v, nil
}

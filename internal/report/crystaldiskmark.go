package report

import (
	"fmt"
	"strings"

	"ebscope/internal/analyze"
	"ebscope/internal/result"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// crystalTable is the table of a volume's phases as CrystalDiskMark saves it, empty where the profile does not ask for it.
// Its MB are of 1,000,000 bytes, its IOPS of the whole phase.
func (r Report) crystalTable(volume string) string {
	if r.Run.Profile.Table != workload.CrystalDiskMark {
		return ""
	}
	var b strings.Builder
	for _, part := range []struct {
		heading string
		of      func(workload.Pattern) bool
	}{
		{"[Read]", func(p workload.Pattern) bool { return p == workload.Read || p == workload.RandRead }},
		{"[Write]", func(p workload.Pattern) bool { return p == workload.Write || p == workload.RandWrite }},
	} {
		var lines []string
		for i, p := range r.Document.Phases {
			if p.Volume == volume && p.State == string(result.Done) && part.of(workload.Pattern(p.RW)) && !r.member(i).preparation() {
				lines = append(lines, crystalLine(p))
			}
		}
		if len(lines) > 0 {
			fmt.Fprintf(&b, "%s\n%s\n", part.heading, strings.Join(lines, "\n"))
		}
	}
	return b.String()
}

// crystalLine is a test such as
//
//	SEQ    1MiB (Q=  8, T= 1):   126.012 MB/s [    120.2 IOPS] < 66338.80 us>
func crystalLine(p analyze.Phase) string {
	order := "SEQ"
	if workload.Pattern(p.RW).Random() {
		order = "RND"
	}
	size, unit := p.BlockSize/int64(units.KiB), "KiB"
	if p.BlockSize%int64(units.MiB) == 0 {
		size, unit = p.BlockSize/int64(units.MiB), "MiB"
	}
	line := fmt.Sprintf("  %s %4d%s (Q=%3d, T=%2d): %9.3f MB/s [%9.1f IOPS]", order, size, unit, p.QueueDepth, p.Jobs,
		p.IOPS.FioMean*float64(p.BlockSize)/1e6, p.IOPS.FioMean)
	if p.Latency != nil {
		line += fmt.Sprintf(" <%9.2f us>", p.Latency.Mean*1000)
	}
	return line
}

// crystalTables are the tables of all volumes that have one, each headed by its volume.
func (r Report) crystalTables() (tables []fact) {
	for _, v := range r.Document.Volumes {
		if text := r.crystalTable(v.Name); text != "" {
			tables = append(tables, fact{v.Name, text})
		}
	}
	return tables
}

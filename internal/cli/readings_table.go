package cli

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"ebscope/internal/analyze"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// readingColumn is a column of the table of readings.
type readingColumn struct {
	title string
	right bool // numbers
	least int  // the width that it can be cut down to; zero: not at all
	value func(analyze.Phase) string
}

func readingColumns(all []analyze.Phase) []readingColumn {
	folder, names := commonFolder(all), shortNames(all)
	return []readingColumn{
		{"source", false, 12, func(p analyze.Phase) string { return place(p, folder, names) }},
		{"job", false, 6, func(p analyze.Phase) string { return visible(strings.TrimSpace(p.Name + hostWords(p))) }},
		{"workload", false, 0, workloadWords},
		{"IOPS", true, 0, func(p analyze.Phase) string { return figure(p.IOPS.FioMean, p.IOPS.Mean) }},
		{"MiB/s", true, 0, func(p analyze.Phase) string { return figure(p.ThroughputMiBps, 0) }},
		{"mean/p99 ms", true, 0, latencyWords},
		{"verdict", false, 0, verdictWord},
	}
}

func writeReadingTable(b *strings.Builder, all []analyze.Phase, width int) {
	columns := readingColumns(all)
	cells := make([][]string, len(all)+1)
	widths := make([]int, len(columns))
	for i, c := range columns {
		cells[0] = append(cells[0], c.title)
		for row, p := range all {
			cells[row+1] = append(cells[row+1], c.value(p))
		}
		for _, row := range cells {
			widths[i] = max(widths[i], text.StringWidth(row[i]))
		}
	}
	fit(widths, columns, width)
	for _, row := range cells {
		line := ""
		for i, cell := range row {
			cell = shortened(cell, widths[i])
			space := strings.Repeat(" ", widths[i]-text.StringWidth(cell))
			if columns[i].right {
				cell = space + cell
			} else {
				cell += space
			}
			line += cell + " "
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// fit takes width from the columns that can be cut down, always from the widest of them, until the table fits.
func fit(widths []int, columns []readingColumn, width int) {
	for {
		total, widest := len(widths)-1, -1
		for i, w := range widths {
			total += w
			if columns[i].least > 0 && w > columns[i].least && (widest < 0 || w-columns[i].least > widths[widest]-columns[widest].least) {
				widest = i
			}
		}
		if total <= width || widest < 0 {
			return
		}
		widths[widest]--
	}
}

// shortened leaves out the middle of what is too long: names of files differ at their ends.
func shortened(s string, width int) string {
	switch {
	case text.StringWidth(s) <= width:
		return s
	case width < 3:
		return text.Trim(s, max(width, 0))
	}
	head := (width - 1) * 2 / 3
	room := width - 1 - head
	tail := []rune(s)
	for text.StringWidth(string(tail)) > room {
		tail = tail[1:]
	}
	return text.Trim(s, head) + "…" + string(tail)
}

// commonFolder is the folder that all sources lie in, which the table leaves out.
func commonFolder(all []analyze.Phase) string {
	folder := ""
	for i, p := range all {
		if p.Foreign == nil {
			continue
		}
		f := folderOf(p.Source.File)
		if i == 0 {
			folder = f
		}
		for !strings.HasPrefix(f, folder) {
			folder = folderOf(strings.TrimRight(folder, "/:"))
		}
	}
	return folder
}

// folderOf is what stands before the last part of a name, which is in a folder or in an archive.
func folderOf(name string) string { return name[:strings.LastIndexAny(name, "/:")+1] }

// shortNames are the names of files without their usual endings, but for those that only the ending tells apart.
func shortNames(all []analyze.Phase) map[string]string {
	files := map[string][]string{} // by short name
	for _, p := range all {
		if p.Foreign == nil {
			continue
		}
		short := p.Source.File
		for _, ending := range []string{".json", ".log", ".txt"} {
			short = strings.TrimSuffix(short, ending)
		}
		if !slices.Contains(files[short], p.Source.File) {
			files[short] = append(files[short], p.Source.File)
		}
	}
	names := map[string]string{}
	for short, of := range files {
		for _, file := range of {
			names[file] = file
			if len(of) == 1 {
				names[file] = short
			}
		}
	}
	return names
}

func place(p analyze.Phase, folder string, names map[string]string) string {
	if p.Foreign == nil {
		return ""
	}
	s := strings.TrimPrefix(names[p.Source.File], folder)
	if p.Source.Document > 1 {
		s += "#" + strconv.Itoa(p.Source.Document)
	}
	return visible(s)
}

func hostWords(p analyze.Phase) string {
	if p.Foreign == nil || p.Host == "" {
		return ""
	}
	return "@" + p.Host
}

// workloadWords says the workload in a word: "randread 4k q32×4".
func workloadWords(p analyze.Phase) string {
	var parts []string
	switch {
	case p.RW != "":
		parts = append(parts, shortPattern.Replace(p.RW))
	case p.Read != nil && p.Write == nil:
		parts = append(parts, "reads")
	case p.Write != nil && p.Read == nil:
		parts = append(parts, "writes")
	}
	if p.BlockSize > 0 {
		parts = append(parts, units.Bytes(p.BlockSize).Fio())
	}
	switch {
	case p.QueueDepth > 0 && p.Jobs > 1:
		parts = append(parts, fmt.Sprintf("q%d×%d", p.QueueDepth, p.Jobs))
	case p.QueueDepth > 0:
		parts = append(parts, fmt.Sprintf("q%d", p.QueueDepth))
	case p.Jobs > 1:
		parts = append(parts, fmt.Sprintf("×%d", p.Jobs))
	}
	if len(parts) == 0 {
		return "unknown"
	}
	return shortened(visible(strings.Join(parts, " ")), 16)
}

// shortPattern writes fio's longer patterns short.
var shortPattern = strings.NewReplacer("randread", "rndread", "randwrite", "rndwrit", "readwrite", "rw", "randtrim", "rndtrim")

// figure prints the first of two figures that is known, with four digits at most where it is large: "985k".
func figure(x, otherwise float64) string {
	if x == 0 {
		x = otherwise
	}
	switch {
	case x == 0:
		return "–"
	case x >= 99_950:
		return units.Thousands(x/1000) + "k"
	case x >= 99.5:
		return units.Thousands(x)
	case x >= 0.1:
		return strconv.FormatFloat(x, 'f', 1, 64)
	default:
		return strconv.FormatFloat(x, 'g', 1, 64)
	}
}

func latencyWords(p analyze.Phase) string {
	if p.Latency == nil || p.State == string(result.Failed) {
		return "–"
	}
	p99 := "–"
	if p.Latency.P99 != nil {
		p99 = milliseconds(*p.Latency.P99)
	}
	mean := "–"
	if p.Latency.Mean > 0 {
		mean = milliseconds(p.Latency.Mean)
	}
	return mean + "/" + p99
}

// milliseconds prints a latency with about two digits.
func milliseconds(ms float64) string {
	switch {
	case ms >= 9_950:
		return units.Thousands(ms/1000) + "s"
	case ms >= 9.95:
		return units.Thousands(ms)
	case ms >= 0.095 || ms == 0:
		return strconv.FormatFloat(ms, 'f', 1, 64)
	default:
		digits := min(3, 1-int(math.Floor(math.Log10(ms)))) // 0.043, 0.007
		return strconv.FormatFloat(ms, 'f', digits, 64)
	}
}

// verdictWord is the verdict in the table: what the analysis concludes, or why it concludes nothing.
func verdictWord(p analyze.Phase) string {
	switch {
	case p.State == string(result.Failed):
		return "FAILED"
	case hasWarning(p, "above-any-volume"):
		return "above EBS"
	case hasWarning(p, "above-limit"):
		return "above limit"
	case p.Verdict == analyze.BurstThenBaseline:
		return "burst→base"
	case p.Verdict == analyze.BurstOnly:
		return "burst only"
	case p.Verdict != "":
		return string(p.Verdict)
	case p.Foreign != nil && len(p.Candidates) > 0 && p.Candidates[0].Fit >= analyze.LikelyFit:
		return "as " + candidateWord(p.Candidates[0])
	default:
		return "–"
	}
}

func candidateWord(c analyze.Candidate) string {
	if strings.Contains(c.Type, ".") {
		return "instance"
	}
	return c.Type
}

func hasWarning(p analyze.Phase, code string) bool {
	for _, w := range p.Warnings {
		if w.Code == code {
			return true
		}
	}
	return false
}

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"ebscope/internal/cost"
	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

// The JSON form of a sizing.
type sizeDocument struct {
	Region      string         `json:"region"`
	PricesDate  string         `json:"prices_date"`
	Need        *sizeNeed      `json:"need,omitempty"`
	NeedMet     *bool          `json:"need_met,omitempty"` // false: the options give only what the instance passes on
	Instance    *sizeInstance  `json:"instance,omitempty"`
	Options     []sizeOption   `json:"options"` // cheapest first; for --like: as it is, default, parity
	Unavailable []sizeMissing  `json:"unavailable"`
	Notes       []string       `json:"notes"`
	ParityMore  []sizeGiBRange `json:"parity_costs_more,omitempty"`
}

type sizeNeed struct {
	SizeGiB         float64 `json:"size_gib"`
	IOPS            float64 `json:"iops,omitempty"`
	ThroughputMiBps float64 `json:"throughput_mib_s,omitempty"`
	BurstIOPS       float64 `json:"burst_iops,omitempty"`
	BurstSeconds    float64 `json:"burst_s,omitempty"`
}

type sizeInstance struct {
	Type                   string  `json:"type"`
	BaselineIOPS           float64 `json:"baseline_iops"`
	MaximumIOPS            float64 `json:"maximum_iops"`
	BaselineThroughputMiBs float64 `json:"baseline_throughput_mib_s"`
	MaximumThroughputMiBs  float64 `json:"maximum_throughput_mib_s"`
}

type sizeOption struct {
	Type                   ebs.Type `json:"type"`
	SizeGiB                float64  `json:"size_gib"`
	IOPS                   float64  `json:"iops"` // provisioned, or what the volume's size gives
	ThroughputMiBps        float64  `json:"throughput_mib_s"`
	USDMonth               float64  `json:"usd_month"`
	SustainedIOPS          float64  `json:"sustained_iops"`
	SustainedThroughputMiB float64  `json:"sustained_throughput_mib_s"`
	BurstIOPS              float64  `json:"burst_iops,omitempty"`
	BurstSeconds           float64  `json:"burst_s,omitempty"`
	Rule                   string   `json:"rule,omitempty"`
	NeedMet                *bool    `json:"need_met,omitempty"`
}

type sizeMissing struct {
	Type   ebs.Type `json:"type"`
	Reason string   `json:"reason"`
}

type sizeGiBRange struct {
	From float64 `json:"from_gib"`
	To   float64 `json:"to_gib"`
}

func sizeJSON(w io.Writer, a sizeAnswer) error {
	d := sizeDocument{Region: a.Prices.Region, PricesDate: a.pricesDate(), Options: []sizeOption{}, Unavailable: []sizeMissing{},
		Notes: append([]string{}, a.Notes...)}
	if n := a.Need; n != nil {
		d.Need = &sizeNeed{n.Size.GiB(), float64(n.IOPS), n.Throughput.MiBps(), float64(n.Burst), n.BurstFor.Seconds()}
		met := !a.Cut
		d.NeedMet = &met
	}
	if i := a.Instance; i != nil {
		d.Instance = &sizeInstance{i.Type, float64(i.BaselineIOPS), float64(i.MaximumIOPS), decimals(i.BaselineThroughput.MiBps(), 2),
			decimals(i.MaximumThroughput.MiBps(), 2)}
	}
	for _, f := range a.Fits {
		o := sizeOption{
			Type: f.Volume.Type, SizeGiB: f.Volume.Size.GiB(), IOPS: float64(f.Volume.IOPS), ThroughputMiBps: decimals(f.Throughput.MiBps(), 2),
			USDMonth: decimals(float64(f.Monthly), 2), SustainedIOPS: decimals(float64(f.Sustained), 2),
			SustainedThroughputMiB: decimals(f.SustainedThroughput.MiBps(), 2), Rule: f.Rule, NeedMet: d.NeedMet,
		}
		if o.IOPS == 0 {
			o.IOPS = o.SustainedIOPS
		}
		if f.BurstFor > 0 {
			o.BurstIOPS, o.BurstSeconds = float64(f.Burst), decimals(f.BurstFor.Seconds(), 0)
		}
		d.Options = append(d.Options, o)
	}
	for _, u := range a.Unfit {
		d.Unavailable = append(d.Unavailable, sizeMissing(u))
	}
	for _, r := range a.Dearer {
		d.ParityMore = append(d.ParityMore, sizeGiBRange{r.From.GiB(), r.To.GiB()})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(d)
}

// decimals rounds to a number of decimals, so that a number says no more than it means.
func decimals(x float64, n int) float64 {
	shift := math.Pow(10, float64(n))
	return math.Round(x*shift) / shift
}

func sizeText(w io.Writer, a sizeAnswer) error {
	var b strings.Builder
	width := textWidth(w)
	if a.Cut {
		b.WriteString(wrapped("NOT MET: no volume on "+a.Instance.Type+" gives what is asked for. These give what the instance passes on.", "", width) + "\n")
	}
	b.WriteString(wrapped(sizeHeading(a), "", width))
	if a.Instance != nil {
		b.WriteString(wrapped(instanceLimits(*a.Instance), "", width))
	}
	for _, note := range a.Notes {
		b.WriteString(wrapped(note, "", width))
	}
	b.WriteByte('\n')
	row := sizeRow
	if width < plainWidth {
		row = sizeLines
	} else {
		sizeRow(&b, "Volume", "sustained: IOPS", "MiB/s", "USD a month") // of throughput too
	}
	for _, f := range a.Fits {
		row(&b, f.Volume.String(), units.Thousands(float64(f.Sustained)), rounded(f.SustainedThroughput), f.Monthly.String())
		if rule := sizeRule(f); rule != "" {
			b.WriteString(wrapped(rule, "  ", width))
		}
	}
	if len(a.Unfit) > 0 {
		b.WriteString("\nNot possible:\n")
	}
	for _, u := range a.Unfit {
		b.WriteString(wrapped(fmt.Sprintf("%s: %s.", u.Type, u.Reason), "  ", width))
	}
	if a.Like {
		b.WriteString("\n" + wrapped(parityText(a), "", width))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// instanceLimits says what the instance passes on for ever, and for half an hour.
func instanceLimits(i ebs.Instance) string {
	text := fmt.Sprintf("%s: %v and %s MiB/s for ever", i.Type, i.BaselineIOPS, rounded(i.BaselineThroughput))
	if i.Bursts() {
		text += fmt.Sprintf(", %v and %s MiB/s for 30 minutes a day", i.MaximumIOPS, rounded(i.MaximumThroughput))
	}
	return text + "."
}

// parityText says at which sizes gp3 at parity costs more than gp2.
func parityText(a sizeAnswer) string {
	if len(a.Dearer) == 0 {
		return fmt.Sprintf("In %s parity costs more than staying on gp2 at no size.", a.Prices.Region)
	}
	var ranges []string
	for _, r := range a.Dearer {
		ranges = append(ranges, fmt.Sprintf("from %s to %s GiB", units.Thousands(r.From.GiB()), units.Thousands(r.To.GiB())))
	}
	return fmt.Sprintf("In %s parity costs more than staying on gp2 %s.", a.Prices.Region, strings.Join(ranges, " and "))
}

// sizeHeading says what was asked, and from when the prices are.
func sizeHeading(a sizeAnswer) string {
	where := fmt.Sprintf("%s, %s, prices of %s", a.Prices.Region, a.Prices.Location, a.pricesDate())
	n := a.Need
	if n == nil {
		return where + "."
	}
	text := "Asked for: " + n.String()
	if a.Instance != nil {
		text += " on " + a.Instance.Type
	}
	return text + ". " + where + "."
}

func sizeRow(b *strings.Builder, name string, figures ...string) {
	const nameWidth = 38
	fmt.Fprintf(b, "%s%s%15s%9s%16s\n", name, strings.Repeat(" ", max(1, nameWidth-utf8.RuneCountInString(name))), figures[0], figures[1], figures[2])
}

// sizeLines is a row for a narrow terminal.
func sizeLines(b *strings.Builder, name string, figures ...string) {
	fmt.Fprintf(b, "%s\n  %s IOPS  %s MiB/s  %s\n", name, figures[0], figures[1], figures[2])
}

// rounded prints MiB/s with one decimal at most.
func rounded(t units.Throughput) string {
	if x := decimals(t.MiBps(), 1); x < 1000 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return units.Thousands(t.MiBps())
}

// sizeRule says what decided an option, and how long its burst lasts.
func sizeRule(f cost.Fit) string {
	rule := f.Rule
	if f.BurstFor > 0 {
		if rule != "" {
			rule += "; "
		}
		rule += fmt.Sprintf("%v for at most %s s from a full bucket", f.Burst, units.Thousands(f.BurstFor.Seconds()))
		if f.Throughput > f.SustainedThroughput {
			rule += fmt.Sprintf(", and up to %v while it lasts", f.Throughput)
		}
	}
	return rule
}

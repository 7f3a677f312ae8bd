package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"ebscope/internal/fleet"
)

// scanColumn is a column of a fleet as CSV. A cell is empty where a figure is not known.
type scanColumn struct {
	name string
	of   func(*fleet.Row) string
}

var scanColumns = []scanColumn{
	{"volume_id", func(r *fleet.Row) string { return string(r.ID) }},
	{"account", func(r *fleet.Row) string { return string(r.Account) }},
	{"region", func(r *fleet.Row) string { return r.Region }},
	{"zone", func(r *fleet.Row) string { return r.Zone }},
	{"cluster", func(r *fleet.Row) string { return r.Cluster }},
	{"namespace", func(r *fleet.Row) string { return r.Namespace }},
	{"pvc", func(r *fleet.Row) string { return r.Claim }},
	{"pv", func(r *fleet.Row) string { return r.PV }},
	{"storage_class", func(r *fleet.Row) string { return r.StorageClass }},
	{"stateful_set", func(r *fleet.Row) string { return r.StatefulSet }},
	{"state", func(r *fleet.Row) string { return r.State }},
	{"instance_id", func(r *fleet.Row) string { return string(r.InstanceID) }},
	{"instance_type", func(r *fleet.Row) string { return r.InstanceType }},
	{"type", func(r *fleet.Row) string { return string(r.Type) }},
	{"size_gib", func(r *fleet.Row) string { return number(float64(r.SizeGiB)) }},
	{"baseline_iops", func(r *fleet.Row) string { return number(r.BaselineIOPS) }},
	{"burst_iops", func(r *fleet.Row) string { return number(r.BurstIOPS) }},
	{"throughput_mib_s", func(r *fleet.Row) string { return number(r.ThroughputMiBps) }},
	{"peak_iops", demandCell(func(d *fleet.Demand) float64 { return d.PeakIOPS })},
	{"p99_iops", demandCell(func(d *fleet.Demand) float64 { return d.P99IOPS })},
	{"peak_throughput_mib_s", demandCell(func(d *fleet.Demand) float64 { return d.PeakThroughputMiBps })},
	{"p99_throughput_mib_s", demandCell(func(d *fleet.Demand) float64 { return d.P99ThroughputMiBps })},
	{"balance_percent", balanceCell(func(b *fleet.BalanceRow) float64 { return b.NowPercent })},
	{"lowest_balance_percent", balanceCell(func(b *fleet.BalanceRow) float64 { return b.LowestPercent })},
	{"seconds_to_empty", func(r *fleet.Row) string { return cellOf(r.SecondsToEmpty) }},
	{"seconds_to_empty_at_peak", func(r *fleet.Row) string { return cellOf(r.SecondsToEmptyAtPeak) }},
	{"seconds_to_empty_at_burst", func(r *fleet.Row) string { return cellOf(r.SecondsToEmptyAtBurst) }},
	{"throttled_s", func(r *fleet.Row) string { return cellOf(r.ThrottledS) }},
	{"usd_month", func(r *fleet.Row) string { return moneyCell(r.Monthly) }},
	{"action", func(r *fleet.Row) string { return string(r.Recommendation.Action) }},
	{"to_type", choiceCell(func(c *fleet.Choice) string { return string(c.Type) })},
	{"to_iops", choiceCell(func(c *fleet.Choice) string { return number(float64(c.IOPS)) })},
	{"to_throughput_mib_s", choiceCell(func(c *fleet.Choice) string { return number(float64(c.ThroughputMiBps)) })},
	{"to_usd_month", choiceCell(func(c *fleet.Choice) string { return moneyCell(c.Monthly) })},
	{"usd_month_difference", choiceCell(func(c *fleet.Choice) string { return moneyCell(c.Difference) })},
	{"reason", func(r *fleet.Row) string { return r.Recommendation.Reason }},
	{"findings", func(r *fleet.Row) string { return strings.Join(fleetRowOf(r).Codes, " ") }},
}

func demandCell(of func(*fleet.Demand) float64) func(*fleet.Row) string {
	return func(r *fleet.Row) string {
		if r.Demand == nil {
			return ""
		}
		return number(of(r.Demand))
	}
}

func balanceCell(of func(*fleet.BalanceRow) float64) func(*fleet.Row) string {
	return func(r *fleet.Row) string {
		if r.Balance == nil {
			return ""
		}
		return number(of(r.Balance))
	}
}

func choiceCell(of func(*fleet.Choice) string) func(*fleet.Row) string {
	return func(r *fleet.Row) string {
		if r.Recommendation.Choice == nil {
			return ""
		}
		return of(r.Recommendation.Choice)
	}
}

func cellOf(x *float64) string {
	if x == nil {
		return ""
	}
	return number(*x)
}

// moneyCell is an exact amount, so that a sum over rows is exact too.
func moneyCell(m *fleet.Money) string {
	if m == nil {
		return ""
	}
	return m.String()
}

// ScanCSV writes a row for each volume of a fleet. Names are those of the JSON document.
func ScanCSV(w io.Writer, d fleet.Document) error {
	out := csv.NewWriter(w)
	cells := make([]string, len(scanColumns))
	for i, c := range scanColumns {
		cells[i] = c.name
	}
	err := out.Write(cells)
	for i := range d.Volumes {
		for j, c := range scanColumns {
			cells[j] = formula(c.of(&d.Volumes[i]))
		}
		if err == nil {
			err = out.Write(cells)
		}
	}
	out.Flush()
	if err == nil {
		err = out.Error()
	}
	if err != nil {
		return fmt.Errorf("write the volumes: %w", err)
	}
	return nil
}

// formula keeps a spreadsheet from running a text as a formula: tags and names are whatever somebody wrote. Numbers below
// zero stay numbers.
func formula(cell string) string {
	if cell == "" || !strings.ContainsAny(cell[:1], "=+@\t\r") {
		return cell
	}
	return "'" + cell
}

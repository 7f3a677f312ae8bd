package fleet

import (
	"cmp"
	"maps"
	"slices"

	"ebscope/internal/ebs"
	"ebscope/internal/result"
)

// Document says what was found, once all metrics are added. missing is what could not be read; it is part of the snapshot,
// and known only when all of that was read.
func (s *Scan) Document(missing []Missing) Document {
	snapshot := &s.inventory.Snapshot
	d := Document{
		Schema: ScanSchema, Tool: snapshot.Tool, Taken: snapshot.Taken, WindowS: snapshot.Window.Length().Seconds(),
		Volumes: make([]Row, len(s.inventory.Entries)), Clusters: []ClusterSummary{}, Findings: []ClusterFinding{}, Missing: []Missing{},
	}
	d.Missing = append(d.Missing, missing...)
	uses := map[*Cluster]int{}
	for i := range s.inventory.Entries {
		d.Volumes[i] = s.row(i)
		for _, u := range s.inventory.Entries[i].Uses {
			uses[u.Cluster]++
		}
	}
	for i := range snapshot.Clusters {
		c := &snapshot.Clusters[i]
		d.Clusters = append(d.Clusters, ClusterSummary{c.UID, c.Name, c.Server, len(c.Claims), uses[c]})
		d.Findings = append(d.Findings, clusterFindings(c)...)
	}
	d.Totals = total(d.Volumes)
	d.Warnings = d.warnings()
	return d
}

// total sums up rows.
func total(rows []Row) Totals {
	t := Totals{Volumes: len(rows), ByType: []Part{}}
	parts := map[ebs.Type]*Part{}
	for i := range rows {
		r := &rows[i]
		p := parts[r.Type]
		if p == nil {
			p = &Part{Type: r.Type}
			parts[r.Type] = p
		}
		p.Volumes++
		p.SizeGiB += r.SizeGiB
		t.SizeGiB += r.SizeGiB
		if r.Monthly != nil {
			t.Priced++
			t.Monthly += *r.Monthly
			p.Monthly += *r.Monthly
		}
		if r.Recommendation.Action == Modify {
			t.Modify++
			t.Saving += r.Saving()
		}
		if r.Has(GP2AtRisk) {
			t.AtRisk++
		}
	}
	t.After = t.Monthly - t.Saving
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		t.ByType = append(t.ByType, *parts[name])
	}
	slices.SortStableFunc(t.ByType, func(a, b Part) int { return cmp.Compare(b.Monthly, a.Monthly) })
	return t
}

// Saving is what following the recommendation saves a month; 0 where there is nothing to do, or its price is not known.
func (r *Row) Saving() Money {
	if c := r.Recommendation.Choice; r.Recommendation.Action == Modify && c != nil && c.Difference != nil {
		return -*c.Difference
	}
	return 0
}

// Has says whether something was found about the volume.
func (r *Row) Has(code Code) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Code == code })
}

// warnings says what a reader of the figures must know.
func (d *Document) warnings() []result.Warning {
	warnings := []result.Warning{}
	add := func(code, text string) { warnings = append(warnings, result.Warning{Code: code, Text: text}) }
	if d.WindowS == 0 {
		add("no-metrics", "No metrics were read, so that nothing is known of demand: which volumes come near their limits, and which could have less, is not said.")
	} else {
		add("means", "Demand is what was served, as a mean over each step of the metrics: bursts within a step, and what a volume that was held back would have served, are not seen.")
	}
	var unpriced, modelledBalance bool
	for i := range d.Volumes {
		unpriced = unpriced || d.Volumes[i].Monthly == nil
		modelledBalance = modelledBalance || d.Volumes[i].Balance != nil && d.Volumes[i].Balance.Source == modelled
	}
	if unpriced {
		add("unpriced", "The price of some volumes is not known; the sums leave them out.")
	}
	if modelledBalance {
		add("balance-modelled", "CloudWatch has no burst balance of some volumes; theirs is computed from their operations, and taken to be full when the window begins.")
	}
	return warnings
}

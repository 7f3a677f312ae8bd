package intake

import (
	"fmt"
	"slices"

	"ebscope/internal/result"
)

// sideBySide says whether jobs ran at the same time, as one of fio's groups, so that they can have shared a log.
func sideBySide(readings []result.Reading, of []int) bool {
	first := readings[of[0]]
	return !slices.ContainsFunc(of, func(i int) bool {
		r := readings[i]
		return r.Source.File != first.Source.File || r.Source.Document != first.Source.Document || r.Host != first.Host || r.Group != first.Group
	})
}

// together is a reading of jobs as one: of a log that they share (per_job_logs=0). What differs between them is left out.
func together(readings []result.Reading, of []int) result.Reading {
	first := readings[of[0]]
	all := result.Reading{
		Tool: first.Tool, Host: first.Host, Job: first.Job, Group: first.Group, Workload: first.Workload,
		Measurement: result.Measurement{Source: first.Measurement.Source},
	}
	w := &all.Workload
	w.Jobs = 0
	var totals, reads, writes []result.Direction
	for _, i := range of {
		r := readings[i]
		all.Job = unlessOther(all.Job, r.Job)
		w.Pattern = unlessOther(w.Pattern, r.Workload.Pattern)
		w.BlockSize = unlessOther(w.BlockSize, r.Workload.BlockSize)
		w.QueueDepth = unlessOther(w.QueueDepth, r.Workload.QueueDepth)
		w.Filename = unlessOther(w.Filename, r.Workload.Filename)
		w.Rate = unlessOther(w.Rate, r.Workload.Rate)
		w.Duration, w.RampTime = max(w.Duration, r.Workload.Duration), max(w.RampTime, r.Workload.RampTime)
		w.Jobs += max(1, r.Workload.Jobs)
		totals = append(totals, r.Total)
		if r.Read != nil && r.Write != nil {
			reads, writes = append(reads, *r.Read), append(writes, *r.Write)
		}
	}
	all.Total = result.Together(totals)
	if len(reads) == len(of) {
		read, write := result.Together(reads), result.Together(writes)
		all.Read, all.Write = &read, &write
	}
	return all
}

// perhapsTogether warns of logs that fio numbered as those of jobs of one run, and that no document is beside. Their clocks
// begin with each job, so that they may have run side by side or one after another.
func perhapsTogether(alone [][]logFile, readings []result.Reading) {
	type run struct{ prefix, host string }
	runs := map[run][]int{} // indexes
	for i, logs := range alone {
		if n := logs[0].name; n.Job > 0 {
			runs[run{n.Prefix, n.Host}] = append(runs[run{n.Prefix, n.Host}], i)
		}
	}
	atOnce := func(i, k int) bool {
		x, y, a, b := readings[i].Total.Runtime, readings[k].Total.Runtime, alone[i][0].Epoch, alone[k][0].Epoch
		slack := max(x, y) / 10
		return (x-y).Abs() <= slack && a.IsZero() == b.IsZero() && a.Sub(b).Abs() <= slack
	}
	for _, of := range runs {
		for _, i := range of {
			jobs, sum := 0, 0.0
			for _, k := range of {
				if atOnce(i, k) {
					jobs, sum = jobs+1, sum+float64(readings[k].Total.IOPS)
				}
			}
			if jobs > 1 && sum > 0 {
				readings[i].Warnings = append(readings[i].Warnings, result.Warning{Code: "perhaps-together", Text: fmt.Sprintf(
					"fio numbered these logs as of %d jobs of one run: if they ran side by side, limits hold for all together, %.0f IOPS, and not for each", jobs, sum)})
			}
		}
	}
}

func unlessOther[T comparable](value, other T) T {
	if value != other {
		var unknown T
		return unknown
	}
	return value
}

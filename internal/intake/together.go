package intake

import (
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

func unlessOther[T comparable](value, other T) T {
	if value != other {
		var unknown T
		return unknown
	}
	return value
}

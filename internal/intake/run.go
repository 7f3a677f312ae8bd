package intake

import (
	"path/filepath"

	"ebscope/internal/fio/output"
	"ebscope/internal/result"
)

// run reads a run directory of ebscope among other results: its phases, as their profile states them.
func (c *collector) run(dir string) {
	run, err := result.Load(dir)
	if err != nil {
		c.skip(dir, "%v", err)
		return
	}
	profile := run.Profile.Compressed(run.Compress)
	for i, record := range run.Phases {
		spec := profile.Phases[i]
		r := result.Reading{
			Source: result.Source{File: filepath.Join(dir, record.Dir)}, Tool: run.Tool, Job: spec.ID(), Group: record.Index,
			Workload: result.Stated{
				Pattern: string(spec.Pattern), BlockSize: spec.BlockSize, QueueDepth: spec.QueueDepth, Jobs: spec.Jobs,
				Engine: run.Environment.Engine, Size: profile.FileSize, Duration: spec.Duration,
			},
		}
		switch record.State {
		case result.Done:
		case result.Failed:
			r.Failure = &result.Failure{Text: []string{record.Error}}
			c.readings = append(c.readings, r)
			continue
		default:
			continue
		}
		read := output.ReadPhase
		if run.Target == result.Simulated {
			read = result.LoadMeasurement
		}
		if r.Measurement, err = read(r.Source.File); err != nil {
			c.skip(r.Source.File, "%v", err)
			continue
		}
		c.readings = append(c.readings, r)
	}
	if run.Compress != 1 {
		c.remark(dir, "its times are those of a run that was compressed %v times; analyze it by itself for the volume's own", run.Compress)
	}
}

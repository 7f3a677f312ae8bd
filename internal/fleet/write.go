package fleet

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// Writer saves a snapshot. It is not safe for concurrent use.
type Writer struct {
	out   *bufio.Writer
	lines int
}

// NewWriter writes everything of a snapshot but what is missing, which is not known before the metrics are read.
func NewWriter(w io.Writer, s Snapshot) (*Writer, error) {
	out := &Writer{out: bufio.NewWriterSize(w, 1<<16)}
	h := header{Schema: Schema, Tool: s.Tool, Taken: s.Taken}
	if s.Window != (Window{}) {
		h.Window = &s.Window
	}
	if err := out.write(line{Header: &h}); err != nil {
		return nil, err
	}
	for i := range s.Regions {
		if err := out.region(&s.Regions[i]); err != nil {
			return nil, err
		}
	}
	for i := range s.Clusters {
		if err := out.cluster(&s.Clusters[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Metrics writes the metrics of a volume.
func (w *Writer) Metrics(m Metrics) error { return w.write(line{Metrics: &m}) }

// Close writes what is missing and the end, without which the snapshot counts as cut short. It does not close the file.
func (w *Writer) Close(missing []Missing) error {
	if err := each(w, missing, func(l *line, m *Missing) { l.Missing = m }); err != nil {
		return err
	}
	if err := w.write(line{End: &end{w.lines}}); err != nil {
		return err
	}
	return w.failed(w.out.Flush())
}

func (w *Writer) region(r *Region) error {
	return first(
		func() error { return w.write(line{Region: r}) },
		func() error { return each(w, r.Volumes, func(l *line, v *Volume) { l.Volume = v }) },
		func() error { return each(w, r.Instances, func(l *line, i *Instance) { l.Instance = i }) },
		func() error { return each(w, r.Modifications, func(l *line, m *Modification) { l.Modification = m }) },
		func() error { return each(w, r.Alarms, func(l *line, a *Alarm) { l.Alarm = a }) },
	)
}

func (w *Writer) cluster(c *Cluster) error {
	return first(
		func() error { return w.write(line{Cluster: c}) },
		func() error { return each(w, c.Claims, func(l *line, x *Claim) { l.Claim = x }) },
		func() error { return each(w, c.Volumes, func(l *line, x *PersistentVolume) { l.PersistentVolume = x }) },
		func() error { return each(w, c.Classes, func(l *line, x *StorageClass) { l.StorageClass = x }) },
		func() error {
			return each(w, c.AttributesClasses, func(l *line, x *AttributesClass) { l.AttributesClass = x })
		},
		func() error { return each(w, c.Pods, func(l *line, x *Pod) { l.Pod = x }) },
		func() error { return each(w, c.StatefulSets, func(l *line, x *StatefulSet) { l.StatefulSet = x }) },
		func() error { return each(w, c.Nodes, func(l *line, x *Node) { l.Node = x }) },
	)
}

// each writes a line for each of some things.
func each[T any](w *Writer, all []T, set func(*line, *T)) error {
	for i := range all {
		var l line
		set(&l, &all[i])
		if err := w.write(l); err != nil {
			return err
		}
	}
	return nil
}

// first does one after the other up to the first error.
func first(all ...func() error) error {
	for _, do := range all {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) write(l line) error {
	text, err := json.Marshal(l)
	if err == nil {
		_, err = w.out.Write(append(text, '\n'))
	}
	w.lines++
	return w.failed(err)
}

func (w *Writer) failed(err error) error {
	if err != nil {
		return fmt.Errorf("save the snapshot: %w", err)
	}
	return nil
}

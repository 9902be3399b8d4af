package lab

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"pgrlab/core/config"
	"pgrlab/core/dataset"
	"pgrlab/core/event"
	"pgrlab/core/task"
)

// withData returns parts with the recorded data that a run of c begins with.
func (p parts) withData(c *config.Config, t task.Task) (parts, error) {
	p.shared = slices.Clone(p.shared)
	for i, name := range c.Data.Files {
		d, err := dataset.Read(name, dataset.Options{Done: c.Data.Done, Low: c.Data.ActLow, High: c.Data.ActHigh})
		if err != nil {
			return p, err
		}
		if i < len(c.Data.SHA256) && d.SHA256 != c.Data.SHA256[i] {
			return p, fmt.Errorf("data %s: the file has changed since the run was begun: its sha256 is %.12s…, and was %.12s…", name, d.SHA256, c.Data.SHA256[i])
		}
		if err := fitsTask(d, t); err != nil {
			return p, fmt.Errorf("data %s: %w", name, err)
		}
		p.Recorded = append(p.Recorded, d.Rows...)
		p.files = append(p.files, event.Data{
			File: filepath.Base(name), Format: d.Format, SHA256: d.SHA256, Rows: d.Len(), Episodes: len(d.Episodes), Dropped: d.Dropped.Total(), Mode: cmp.Or(c.Data.Mode, config.DataSeed),
		})
	}
	for i := range p.shared {
		p.shared[i].Recorded = p.Recorded
	}
	return p, nil
}

// fitsTask says why data are not of a task, or returns nil.
func fitsTask(d *dataset.Dataset, t task.Task) error {
	if d.Obs != t.ObsSize || d.Act != t.ActSize {
		return fmt.Errorf("%d numbers observed and %d of an action, and task %s has %d and %d", d.Obs, d.Act, t.Name, t.ObsSize, t.ActSize)
	}
	if n, most := d.Beyond(); n > 0 {
		return fmt.Errorf("actions are beyond [-1, 1] in %d of %d rows, the largest is %.5g: say their bounds with --act-low and --act-high", n, d.Len(), most)
	}
	return nil
}

package lab

import (
	"io"

	"pgrlab/core/config"
	"pgrlab/core/cost"
	"pgrlab/core/experience"
	"pgrlab/core/replay"
)

// DiskNeed measures what the run has now and adds what it will have. Only frames are assumed to
// be compressible. It must be called before Run.
func (l *Lab) DiskNeed() (d cost.Disk, err error) {
	x := l.x
	err = x.saveSections(func(_ string, save func(io.Writer) error) error { return save((*counted)(&d.Checkpoint)) })
	for _, m := range x.members {
		if m.Agent.Unfilled != nil {
			numbers, frames := m.Agent.Unfilled()
			d.Checkpoint += numbers + frames/config.HistoryPacked
		}
		d.Checkpoint += m.Observed.Unfilled()
		row := int64(m.Real.RowBytes())
		d.Checkpoint -= int64(m.Real.Len()) * row
		stored := cost.Stored(x.config, &x.Settings)
		held := min(stored, x.config.Buffer)
		d.Real, d.Held = d.Real+int64(stored)*row, d.Held+int64(held)*row
		for _, l := range m.Appended() {
			if f, is := l.Rows.(*experience.Log); is {
				d.Checkpoint -= int64(f.Len()) * int64(f.RowBytes())
				seen, packed := x.config.FramesSeen(x.task), int64(f.RowBytes())/config.FramesPacked
				d.Real, d.Held = d.Real+int64(seen)*packed, d.Held+int64(min(seen, f.Kept().Looks))*packed
			}
		}
		if kept := m.Synthesis.Kept(); kept != nil {
			d.Checkpoint -= int64(kept.Len()) * int64(kept.RowBytes())
		}
		if x.config.Generates() {
			made := replay.NewRing(m.Real.Shape(), 1)
			if m.Parts.Explores {
				made.Annotate()
			}
			d.Generation += int64(min(x.Settings.Samples, x.config.Buffer)) * int64(made.RowBytes())
		}
		if g, is := m.Generator.(interface{ Unfitted() int64 }); is {
			d.Checkpoint += g.Unfitted()
		}
		g, ok := m.Generator.(interface{ Parameters() int })
		if ok && x.checkpoints.lean() {
			d.Generation = 4 * int64(g.Parameters()+x.config.Steps) // weights, and one condition per real transition
		}
		if ok && !x.synthesis.Fitted {
			// Trained, average and served weights and Adam's two moments, once there is a fit.
			d.Checkpoint += 5 * 4 * int64(g.Parameters())
		}
	}
	if x.config.Evaluation.KeepEvery > 0 {
		d.Held = d.Real // one or another of those that stay holds each row
	}
	return d, err
}

// counted counts what is written.
type counted int64

func (c *counted) Write(b []byte) (int, error) {
	*c += counted(len(b))
	return len(b), nil
}

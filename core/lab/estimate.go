package lab

import "io"

// checkpointsKept is about how many checkpoints lie in a run folder: the last three
// and the best.
const checkpointsKept = 4

// DiskNeed is about how many bytes a run takes on the disk, before it has begun.
type DiskNeed struct {
	Checkpoint int64 // of one checkpoint, without what it shares
	Generation int64 // of a D_syn; there are as many as checkpoints at most
	Real       int64 // of D_real in the end
}

// Total is the whole run folder.
func (d DiskNeed) Total() int64 { return checkpointsKept*(d.Checkpoint+d.Generation) + d.Real }

// DiskNeed measures what there is and adds what the run will have; nothing is
// assumed to be compressible. It is called before Run.
func (l *Lab) DiskNeed() (d DiskNeed, err error) {
	x := l.x
	err = x.saveSections(func(_ string, save func(io.Writer) error) error { return save((*counted)(&d.Checkpoint)) })
	for _, m := range x.members {
		row := int64(m.real.RowBytes())
		d.Checkpoint -= int64(m.real.Len()) * row
		d.Real += int64(x.config.Steps*x.config.Environment.copies()) * row
		if m.synthetic != nil {
			d.Checkpoint -= int64(m.synthetic.Len()) * row
		}
		if x.config.generates() {
			d.Generation += int64(min(x.Settings.Samples, x.config.Buffer)) * row
		}
		g, ok := m.gen.(interface{ Parameters() int })
		if ok && x.checkpoints != nil && x.checkpoints.saving.Lean {
			d.Generation = 4 * int64(g.Parameters()+x.config.Steps) // weights, and a condition of each real transition
		}
		if ok && !x.Fitted {
			// Trained, average and served weights and Adam's two moments, once there is a fit.
			d.Checkpoint += 5 * 4 * int64(g.Parameters())
		}
	}
	return d, err
}

// counted counts what is written.
type counted int64

func (c *counted) Write(b []byte) (int, error) {
	*c += counted(len(b))
	return len(b), nil
}

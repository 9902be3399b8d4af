package relevance

import (
	"fmt"

	"pgrlab/core/replay"
)

// The choices of what curiosity and RND look at if the learner makes the rows of D_real from what
// it saw. For other learners the rows are what they saw, and all choices mean the same.
const (
	// OnObservations is what was seen: the frames, or the numbers if there are no frames.
	OnObservations = "observations"
	// OnFrames is the frames; without frames it is OnLatents.
	OnFrames = "frames"
	// OnLatents is the rows of D_real.
	OnLatents = "latents"
)

// observing is a function of the environment's own transitions that scores the rows which a learner
// made from them. Its Batch holds the environment's own transitions.
type observing struct {
	Trained
	shape replay.Shape  // of the environment's own transitions
	seen  *replay.Batch // the transitions to score
}

var (
	_ Sighted = (*observing)(nil)
	_ Scaled  = (*observing)(nil)
)

// made makes a function of the environment's own transitions or of the rows that a learner made
// from them, depending on the settings.
func (d Deps) made(of func(replay.Shape) (Trained, error)) (Function, error) {
	if !d.Made || !Observes(d.Config, d.Frames) {
		return of(d.Shape)
	}
	f, err := of(d.Met)
	if err != nil {
		return nil, err
	}
	return &observing{f, d.Met, replay.NewBatch(d.Met, observed)}, nil
}

// observed is how many transitions are scored at a time.
const observed = 256

// Observes reports whether the function with these settings looks at what the learner saw and not
// at the rows that the learner made from it, if it makes any. f are the frames that the learner
// sees.
func Observes(c Config, f Frames) bool {
	of, can := c.(interface{ observes() bool })
	return can && of.observes() || Looks(c, f)
}

// Score writes F of the transitions that the rows of b were made from.
func (m *observing) Score(dst []float32, b *replay.Batch, rows int) error {
	from, err := framesOf(m.Name(), b, rows)
	if err != nil {
		return err
	}
	for first := 0; first < rows; first += observed {
		n := min(observed, rows-first)
		if err := m.show(from[first : first+n]); err != nil {
			return err
		}
		m.seen.Notes = nil
		if b.Notes != nil {
			m.seen.Notes = b.Notes[first : first+n]
		}
		if err := m.Trained.Score(dst[first:first+n], m.seen, n); err != nil {
			return err
		}
	}
	return nil
}

// show copies transitions into the batch to score.
func (m *observing) show(from []replay.FrameRow) error {
	o, a := m.shape.Obs, m.shape.Act
	for i, r := range from {
		if len(r.Obs) != o || len(r.Action) != a || len(r.NextObs) != o {
			return fmt.Errorf("relevance %s: row %d was made from %d, %d and %d numbers, want %d, %d and %d", m.Name(), i, len(r.Obs), len(r.Action), len(r.NextObs), o, a, o)
		}
		copy(m.seen.Obs[i*o:], r.Obs)
		copy(m.seen.Act[i*a:], r.Action)
		copy(m.seen.Next[i*o:], r.NextObs)
	}
	return nil
}

// Slice is how many transitions are scored at a time.
func (m *observing) Slice() int { return observed }

// PaperScale is that of the wrapped function.
func (m *observing) PaperScale() float64 { return Of(m.Trained).Scale }

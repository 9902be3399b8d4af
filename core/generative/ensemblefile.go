package generative

import (
	"errors"
	"fmt"
	"io"

	"pgrlab/core/dynamics"
	"pgrlab/core/plan"
)

// ensembleHeader begins the checkpoint of an Ensemble: the model follows, and the scores that it counts.
type ensembleHeader struct {
	Scores, FitScores             int64 // −1: without scores
	Generation                    bool
	Occasion                      uint64
	Samples, Horizon, Steps       int64
	TopFraction, Guidance, SChurn float64
	Real, First                   int64
	ScoredAt                      uint64
	Counted, Rolled               Rollouts
}

// Save writes the state, even in the middle of a fit or of a generation, without real transitions.
func (e *Ensemble) Save(w io.Writer) error {
	h := ensembleHeader{Scores: count(e.scores), FitScores: count(e.fitScores), Rolled: e.rolled, ScoredAt: e.scoredAt}
	if g := e.generation; g != nil {
		k := g.knobs
		h.Generation, h.Occasion, h.Samples, h.Horizon, h.Steps = true, g.occasion, int64(k.Samples), int64(k.Horizon), int64(k.Steps)
		h.TopFraction, h.Guidance, h.SChurn = k.TopFraction, k.Guidance, k.SChurn
		h.Real, h.First, h.Counted = int64(g.real), int64(g.first), g.counted
	}
	return plan.SaveAll(w, h, e.model, e.scores, e.fitScores)
}

// Load reads what Save wrote for the same settings and shape; e then continues bit for bit. real are
// the real transitions as they were. After an error e must not be used any further.
func (e *Ensemble) Load(r io.Reader, real Rows) error {
	var h ensembleHeader
	if err := plan.LoadAll(r, &h); err != nil {
		return err
	}
	if h.Generation && (real == nil || int64(real.Len()) < h.Real) {
		return fmt.Errorf("rollouts began in %d real transitions, and they are not given", h.Real)
	}
	e.generation, e.fitScores, e.real, e.rolled, e.scoredAt = nil, nil, real, h.Rolled, h.ScoredAt
	var data dynamics.Data
	if real != nil {
		data = e.learned(real)
	}
	if err := e.model.Load(r, data); err != nil {
		return err
	}
	for i, n := range []int64{h.Scores, h.FitScores} {
		scores, err := loadScores(r, n)
		if err != nil {
			return err
		}
		if scores != nil && real != nil && len(scores) > real.Len() {
			return fmt.Errorf("%d scores of %d transitions", len(scores), real.Len())
		}
		if i == 0 {
			e.serve(scores)
		} else {
			e.fitScores = scores
		}
	}
	if !h.Generation {
		return nil
	}
	knobs := GenKnobs{Samples: int(h.Samples), Horizon: int(h.Horizon), Steps: int(h.Steps), TopFraction: h.TopFraction, Guidance: h.Guidance, SChurn: h.SChurn}
	g, err := e.newRollouts(knobs, h.Occasion, e.stream)
	if err != nil {
		return err
	}
	g.real, g.first, g.counted = int(h.Real), int(h.First), h.Counted
	if h.Real < 1 || h.First < 0 || g.first >= knobs.starts() || g.first%e.piece(knobs) != 0 || g.counted.Rows < 0 || g.counted.Rows > h.Samples {
		return errors.New("the generation under way does not fit the rest")
	}
	e.generation = g
	return nil
}

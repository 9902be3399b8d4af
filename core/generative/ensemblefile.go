package generative

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"pgrlab/core/dynamics"
	"pgrlab/core/version"
)

// ensembleMagic begins the checkpoint of an Ensemble: a header, the model, and the scores that the
// header counts.
const ensembleMagic = 0x32534e45_52474750 // "PGGRENS2"

type ensembleHeader struct {
	Magic                         uint64
	Scores, FitScores             int64 // −1: without scores
	Generation                    uint8
	Occasion                      uint64
	Samples, Horizon, Steps       int64
	TopFraction, Guidance, SChurn float64
	Real, First                   int64
	Counted, Rolled               Rollouts
}

// Save writes the state, even in the middle of a fit or of a generation, without real transitions.
func (e *Ensemble) Save(w io.Writer) error {
	h := ensembleHeader{Magic: ensembleMagic, Scores: count(e.scores), FitScores: count(e.fitScores), Rolled: e.rolled}
	if g := e.generation; g != nil {
		k := g.knobs
		h.Generation, h.Occasion, h.Samples, h.Horizon, h.Steps = 1, g.occasion, int64(k.Samples), int64(k.Horizon), int64(k.Steps)
		h.TopFraction, h.Guidance, h.SChurn = k.TopFraction, k.Guidance, k.SChurn
		h.Real, h.First, h.Counted = int64(g.real), int64(g.first), g.counted
	}
	err := binary.Write(w, binary.LittleEndian, h)
	if err == nil {
		err = e.model.Save(w)
	}
	if err == nil {
		err = errors.Join(writeFloats(w, e.scores), writeFloats(w, e.fitScores))
	}
	return err
}

func count(scores []float32) int64 {
	if scores == nil {
		return -1
	}
	return int64(len(scores))
}

// Load reads what Save wrote for the same settings and shape; e then continues bit for bit. real are
// the real transitions as they were. After an error e must not be used any further.
func (e *Ensemble) Load(r io.Reader, real Rows) error {
	var h ensembleHeader
	switch err := binary.Read(r, binary.LittleEndian, &h); {
	case err != nil:
		return err
	case h.Magic != ensembleMagic:
		return version.ErrOther
	case h.Generation != 0 && (real == nil || int64(real.Len()) < h.Real):
		return fmt.Errorf("rollouts began in %d real transitions, and they are not given", h.Real)
	}
	e.generation, e.fitScores, e.real, e.rolled = nil, nil, real, h.Rolled
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
	if h.Generation == 0 {
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

func loadScores(r io.Reader, n int64) ([]float32, error) {
	switch {
	case n < 0:
		return nil, nil
	case n > 1<<31:
		return nil, fmt.Errorf("%d scores", n)
	}
	return readScores(r, int(n))
}

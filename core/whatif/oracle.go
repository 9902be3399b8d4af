package whatif

import (
	"fmt"

	"pgrlab/core/analysis"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

// simulatedPiece is how many rows make a piece of work.
const simulatedPiece = 128

// oracle returns the synthetic rows that the simulator took, and their twins: the same s and a with
// the s', r and end of the task. If it took too few for a batch, the table will have no rows of the
// simulator.
func (x *study) oracle(syn *replay.Ring, made *Arm) (predicted, truth *replay.Ring, err error) {
	shape := x.Real.Shape()
	var s analysis.Simulated
	for first := 0; first < syn.Len(); first += simulatedPiece {
		var rows []float32
		for i := first; i < min(first+simulatedPiece, syn.Len()); i++ {
			rows = append(rows, syn.Row(i)...)
		}
		some, err := analysis.Simulate(x.sim, shape, rows)
		if err != nil {
			return nil, nil, err
		}
		s = s.With(some)
		if err := x.count(simulatedPiece * costSimulate); err != nil {
			return nil, nil, err
		}
	}
	if s.Rows(shape) < x.Mix(syn.Len()).Synthetic {
		if x.table.NoOracle = "the simulator takes none of the rows"; s.Rows(shape) > 0 {
			x.table.NoOracle = fmt.Sprintf("the simulator takes only %d of %d rows", s.Rows(shape), syn.Len())
		}
		if err := x.sim.Place(syn.Row(0)[:shape.Obs]); err != nil {
			x.table.NoOracle += ": " + err.Error()
		}
		x.sim = nil
		return nil, nil, nil
	}
	predicted, truth = ringOf(shape, s.Predicted), ringOf(shape, s.True)
	made.Left += s.Failed
	e := s.Error(shape, x.ref)
	made.Change, made.Reward = append(made.Change, run.Float(e.Change)), append(made.Reward, run.Float(e.RewardRelative))
	made.ConstantChange, made.ConstantReward = append(made.ConstantChange, run.Float(e.ConstantChange)), append(made.ConstantReward, run.Float(e.ConstantReward))
	return predicted, truth, x.relevant(truth, made)
}

// relevant records the share of rows that are as relevant as the upper quarter of the real ones.
func (x *study) relevant(truth *replay.Ring, made *Arm) error {
	if x.Score == nil {
		return nil
	}
	scores := make([]float32, truth.Len())
	if err := x.Score(scores, truth); err != nil {
		return err
	}
	n := 0
	for _, f := range scores {
		if float64(f) >= x.quart {
			n++
		}
	}
	made.Relevant = append(made.Relevant, run.Float(n)/run.Float(len(scores)))
	return nil
}

func ringOf(shape replay.Shape, rows []float32) *replay.Ring {
	r := replay.NewRing(shape, len(rows)/shape.Width())
	r.AddRows(rows)
	return r
}

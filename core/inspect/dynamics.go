package inspect

import (
	"math"

	"pgrlab/core/analysis"
	"pgrlab/core/event"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

// simulatedRows is how many rows the task simulates between two pauses.
const simulatedRows = 32

// simulate sets the task to the state of each row and steps it. The result is empty if the
// task cannot be set to a state.
func (e *examiner) simulate(rows []float32) (all analysis.Simulated, err error) {
	sim, err := e.Simulator.open()
	if sim == nil || err != nil {
		return all, err
	}
	shape := e.Real.Shape()
	for piece := simulatedRows * shape.Width(); len(rows) > 0; rows = rows[min(piece, len(rows)):] {
		s, err := analysis.Simulate(sim, shape, rows[:min(piece, len(rows))])
		if err != nil {
			return all, err
		}
		all = all.With(s)
		if err := e.yield(); err != nil {
			return all, err
		}
	}
	return all, nil
}

// scale returns the reference against which errors are measured.
func (v *View) scale() analysis.Reference {
	slots := v.Real.Spread(min(boundedRows, v.Real.Len()))
	return analysis.NewReference(v.Real.Shape(), len(slots), func(i int) []float32 { return v.Real.Row(slots[i]) })
}

// holdToTask fills g.Dynamics with the errors of rows against the task. each is ½(mean
// Δs'² + Δr²) of every row that could be compared.
func (e *examiner) holdToTask(rows []float32, g *event.Generated) (each []float32, err error) {
	s, err := e.simulate(rows)
	if err != nil {
		return nil, err
	}
	shape, ref := e.Real.Shape(), e.scale()
	if g.Dynamics, each = dynamicsOf(s, shape, ref); g.Dynamics == nil {
		return nil, nil
	}
	detect(g.Dynamics, s, shape, ref, e.Task.Terminates)
	return each, e.holdRelevant(s, ref, g.Dynamics)
}

// detect fills in how well rows detect rare rewards, and ends if the task has them.
func detect(d *event.Dynamics, s analysis.Simulated, shape replay.Shape, ref analysis.Reference, terminates bool) {
	if !math.IsNaN(ref.Rare) {
		d.RareRewards = detection(s.RareRewards(shape, ref))
		d.RareRewards.Above = float(ref.Rare)
	}
	if terminates {
		d.Ends = detection(s.Ends(shape))
	}
}

// dynamicsOf returns the error of s, as in a journal line, and the error of each row; nil if
// nothing could be compared.
func dynamicsOf(s analysis.Simulated, shape replay.Shape, ref analysis.Reference) (*event.Dynamics, []float32) {
	e := s.Error(shape, ref)
	if e.Rows == 0 {
		return nil, nil
	}
	return &event.Dynamics{
		Rows: e.Rows, Failed: e.Failed, State: run.Float(e.State), Reward: run.Float(e.Reward),
		Combined: run.Float(e.Combined), Relative: run.Float(e.Relative), Change: run.Float(e.Change),
		EachChange: run.Floats(e.EachChange), RewardRelative: run.Float(e.RewardRelative),
		ConstantChange: run.Float(e.ConstantChange), ConstantReward: run.Float(e.ConstantReward),
	}, e.Each
}

func float(v float64) *run.Float {
	f := run.Float(v)
	return &f
}

func detection(d analysis.Detection) *event.Detection {
	return &event.Detection{True: d.True, Predicted: d.Predicted, Precision: run.Float(d.Precision), Recall: run.Float(d.Recall)}
}

// minRelevant is how many relevant rows are needed to report their error.
const minRelevant = 8

// holdRelevant fills in the error of the relevant rows. The error of all rows also grows
// when the prompts ask for harder rows.
func (e *examiner) holdRelevant(s analysis.Simulated, ref analysis.Reference, d *event.Dynamics) error {
	some, known, err := e.relevant(s)
	if err != nil || !known {
		return err
	}
	shape := e.Real.Shape()
	if d.RelevantOf = some.Rows(shape); d.RelevantOf >= minRelevant {
		d.Relevant = float(some.Error(shape, ref).Relative)
	}
	return nil
}

// relevant returns the rows whose F, computed with what the task really does, is in the upper
// quarter of the real transitions: the rows that a prompt may ask for. known is false without
// F.
func (e *examiner) relevant(s analysis.Simulated) (some analysis.Simulated, known bool, err error) {
	if e.F.Name() == none || !e.Learned {
		return some, false, nil
	}
	shape := e.Real.Shape()
	real, err := e.scores(e.F, e.Real, e.Real.Spread(min(ScoreRows, e.Real.Len())))
	if err != nil {
		return some, false, err
	}
	truth := replay.NewRing(shape, s.Rows(shape))
	truth.AddRows(s.True)
	slots := make([]int, truth.Len())
	for i := range slots {
		slots[i] = i
	}
	f, err := e.scores(e.F, truth, slots)
	if err != nil || f == nil {
		return some, false, err
	}
	quarter := analysis.Quantile(real, 0.75)
	return s.Where(shape, func(i int) bool { return float64(f[i]) >= quarter }), true, nil
}

package inspect

import (
	"pgrlab/core/analysis"
	"pgrlab/core/event"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

func quantiles(values []float32) *event.Quantiles {
	s := analysis.Summarise(values)
	return &event.Quantiles{
		Min: run.Float(s.Min), Q10: run.Float(s.Q10), Median: run.Float(s.Median),
		Q90: run.Float(s.Q90), Max: run.Float(s.Max), Mean: run.Float(s.Mean),
	}
}

const (
	// neighbours is how many generated rows, and how many real ones, are compared with the
	// nearest real rows.
	neighbours = 1024
	// boundedRows is how many real rows, evenly spread, represent all rows when their range
	// is taken: all rows of a run of 100,000 steps.
	boundedRows = 131_072
)

// Describe compares the rows of v.Syn, from the first on and up to that number, with the
// real transitions, with their prompts and with the task. out is complete when the sequence
// has ended without an error.
func Describe(v View, rows int, out *event.Generated) Pieces {
	return InPieces(func(yield func() error) error {
		e := &examiner{View: v, Examination: Examination{Rows: rows}, yield: yield}
		syn := e.synthetic()
		g, err := e.describe(syn)
		if err != nil {
			return err
		}
		if _, err := e.promptFidelity(syn, &g); err != nil {
			return err
		}
		if _, err := e.holdToTask(syn, &g); err != nil {
			return err
		}
		*out = g
		return nil
	})
}

// DescribePieces estimates how many pieces Describe has for that number of rows, when D_syn
// and D_real hold syn and real transitions.
func DescribePieces(rows, syn, real int) int {
	return pieces(min(boundedRows, real), boundRows) + pieces(min(boundedRows, syn), boundRows) +
		2*pieces(min(boundedRows, real), searchedRows)*pieces(min(rows, neighbours), describedRows) + 1 +
		3*pieces(rows, ScoreRows) + pieces(rows, simulatedRows)
}

// describedRows is how many rows are compared with real ones between two pauses.
const describedRows = 128

// describe compares generated rows with the real transitions.
func (e *examiner) describe(rows []float32) (event.Generated, error) {
	real, shape := e.Real, e.Real.Shape()
	g := event.Generated{Rows: len(rows) / shape.Width()}
	bounds, earned := analysis.NewBounds(shape.Width()-1), newRewards(shape, 0)
	var err error
	if g.TerminalReal, err = e.terminal(real, func(row []float32) { bounds.Add(row); earned.add(row) }); err != nil {
		return g, err
	}
	dreamt := earned.rewarded(shape)
	if g.Terminal, err = e.terminal(e.Syn, dreamt.add); err != nil {
		return g, err
	}
	tellRewards(&g, earned, dreamt)
	scatter := e.scatter()
	outside(&g, rows, shape, bounds, scatter)
	return g, e.neighbourhood(rows, scatter, &g)
}

// terminal returns the share of terminal rows in a ring and calls see for each row that it
// looks at. A raw terminal flag counts if it is above one half.
func (e *examiner) terminal(of *replay.Ring, see func(row []float32)) (share run.Float, err error) {
	looked, last, ends := min(boundedRows, of.Len()), of.Shape().Width()-1, 0
	for i := range looked {
		row := of.Row(i * of.Len() / looked)
		see(row)
		if row[last] > 0.5 {
			ends++
		}
		if (i+1)%boundRows == 0 || i+1 == looked {
			if err := e.yield(); err != nil {
				return 0, err
			}
		}
	}
	return run.Float(ends) / run.Float(looked), nil
}

// outside fills in which shares of rows lie outside the range of the real ones, and how far.
func outside(g *event.Generated, rows []float32, shape replay.Shape, bounds analysis.Bounds, scatter analysis.Scatter) {
	one, width := 1/run.Float(g.Rows), shape.Width()
	act, reward := shape.Obs, shape.Obs+shape.Act
	furthest := 0.0
	for row := rows; len(row) > 0; row = row[width:] {
		if bounds.Outside(row, 0, act) || bounds.Outside(row, reward+1, width-1) {
			g.OutsideStates += one
			furthest = max(furthest, bounds.Beyond(row, 0, act, scatter), bounds.Beyond(row, reward+1, width-1, scatter))
		}
		if bounds.Outside(row, act, reward) {
			g.OutsideActions += one
		}
		if bounds.Outside(row, reward, reward+1) {
			g.OutsideRewards += one
		}
	}
	g.Furthest = run.Float(furthest)
}

// pairedRows is how many pairs promptFidelity returns at most.
const pairedRows = 500

// promptFidelity compares the F that the prompts asked for with F of the rows, and returns
// pairs of the two.
func (e *examiner) promptFidelity(rows []float32, g *event.Generated) (pairs [][2]run.Float, err error) {
	if !e.Prompts.Known || !e.Prompts.areOf(e.Settings.Relevance) || e.Settings.Relevance == none || e.Syn.Cap() < e.Prompts.Knobs.Samples {
		return nil, nil // there were none, they were scores of another F, or the first samples have been overwritten
	}
	asked := e.Gen.PromptScores(e.Prompts.Knobs, e.Prompts.Occasion, g.Rows)
	if asked == nil {
		return nil, nil
	}
	achieved, err := e.scores(e.F, e.Syn, e.looked())
	if err != nil {
		return nil, err
	}
	g.Relevance, g.Asked = e.F.Name(), quantiles(asked)
	if achieved == nil {
		return nil, nil // F has no value for generated rows
	}
	for i := range min(len(asked), pairedRows) {
		pairs = append(pairs, [2]run.Float{run.Float(asked[i]), run.Float(achieved[i])})
	}
	correlation := run.Float(analysis.Spearman(asked, achieved))
	g.Achieved, g.RankCorrelation = quantiles(achieved), &correlation
	return pairs, nil
}

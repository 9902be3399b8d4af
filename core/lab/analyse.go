package lab

import (
	"context"
	"errors"

	"pgrlab/core/analysis"
	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
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
	// neighbours is how many generated rows, and how many real ones, are held to the real
	// rows next to them.
	neighbours = 1024
	// boundedRows is how many real rows, evenly spread, stand for all where their range
	// is taken: all of a run of 100,000 steps.
	boundedRows = 131_072
)

// describeGeneration describes the new D_syn of every member before it comes into
// force, cut into pieces that a command does not wait for long. first is the position
// inside of the phase at which a saved run goes on; calls were the sampler's.
func (x *experiment) describeGeneration(ctx context.Context, first, calls int) ([]*event.Generated, error) {
	found := make([]*event.Generated, len(x.members))
	if !x.analyses() {
		return found, nil
	}
	if first <= calls {
		x.Analysing = x.Settings
	}
	pause := x.breath(ctx, knob.Generate, calls, first)
	breathe := func() error {
		if err := pause(); err != nil {
			return err
		}
		if x.abandoned() {
			return errAbandoned
		}
		return nil
	}
	for i, m := range x.members {
		f, err := x.parts.function(x.Analysing.Relevance, m)
		if err != nil {
			return nil, err
		}
		e := &examining{
			experiment: x, m: m, f: f, settings: x.Analysing, breathe: breathe, syn: m.fresh,
			asked: prompting{Knobs: x.Generating, Occasion: x.Generations - 1, Known: true},
		}
		e.Rows = x.config.Evaluation.AnalysedRows
		rows := e.synthetic()
		g, err := e.describe(rows)
		if err != nil {
			return nil, err
		}
		if _, err := e.obedience(rows, &g); err != nil {
			return nil, err
		}
		if _, err := e.holdToTask(rows, &g); err != nil {
			return nil, err
		}
		found[i] = &g
	}
	return found, nil
}

// errAbandoned ends the description of a generation that a command took away.
var errAbandoned = errors.New("the generation was abandoned")

// describing is how many pieces describeGeneration has.
func (x *experiment) describing() (n int) {
	if !x.analyses() {
		return 0
	}
	for _, m := range x.members {
		n += describePieces(min(x.config.Evaluation.AnalysedRows, m.fresh.Cap()), m.fresh.Cap(), m.real.Len())
	}
	return n
}

// describePieces is about how many pieces a description of rows of syn synthetic
// transitions beside real ones has.
func describePieces(rows, syn, real int) int {
	return pieces(min(boundedRows, real), boundRows) + pieces(min(boundedRows, syn), boundRows) +
		2*pieces(min(boundedRows, real), searchedRows)*pieces(min(rows, neighbours), describedRows) + 1 +
		3*pieces(rows, scoreRows) + pieces(rows, simulatedRows)
}

// pieces is how many pieces of a size a count makes.
func pieces(n, size int) int { return (n + size - 1) / size }

// analyses says whether the run describes its generations.
func (x *experiment) analyses() bool { return x.config.analyses() }

// breath is the place between two pieces of an analysis within a phase: behind before
// units of it. What a run that was saved at unit saved had done already is done again
// without a break.
func (x *experiment) breath(ctx context.Context, p knob.Phase, before, saved int) func() error {
	done, begin := before, x.now()
	return func() error {
		if done++; done <= saved {
			return nil
		}
		x.meter.took(p, x.now().Sub(begin))
		err := x.settle(ctx, knob.At(x.Step, p, done))
		begin = x.now()
		return err
	}
}

// describedRows is how many rows are held to the real ones between two breaths.
const describedRows = 128

// describe compares generated rows with the real transitions.
func (e *examining) describe(rows []float32) (event.Generated, error) {
	real, width := e.m.real, e.m.real.Shape().Width()
	g := event.Generated{Rows: len(rows) / width}
	bounds := analysis.NewBounds(width - 1)
	var err error
	if g.TerminalReal, err = e.terminal(real, bounds.Add); err != nil {
		return g, err
	}
	if g.Terminal, err = e.terminal(e.syn, func([]float32) {}); err != nil {
		return g, err
	}
	outside(&g, rows, real.Shape(), bounds)
	return g, e.neighbourhood(rows, &g)
}

// terminal is the share of terminal rows among those of a ring, which see is shown: a
// raw terminal counts above one half.
func (e *examining) terminal(of *replay.Ring, see func(row []float32)) (share run.Float, err error) {
	looked, last, ends := min(boundedRows, of.Len()), of.Shape().Width()-1, 0
	for i := range looked {
		row := of.Row(i * of.Len() / looked)
		see(row)
		if row[last] > 0.5 {
			ends++
		}
		if (i+1)%boundRows == 0 || i+1 == looked {
			if err := e.breathe(); err != nil {
				return 0, err
			}
		}
	}
	return run.Float(ends) / run.Float(looked), nil
}

// outside counts the rows that leave the range of the real ones.
func outside(g *event.Generated, rows []float32, shape replay.Shape, bounds analysis.Bounds) {
	one, width := 1/run.Float(g.Rows), shape.Width()
	act, reward := shape.Obs, shape.Obs+shape.Act
	for row := rows; len(row) > 0; row = row[width:] {
		if bounds.Outside(row, 0, act) || bounds.Outside(row, reward+1, width-1) {
			g.OutsideStates += one
		}
		if bounds.Outside(row, act, reward) {
			g.OutsideActions += one
		}
		if bounds.Outside(row, reward, reward+1) {
			g.OutsideRewards += one
		}
	}
}

// obeyedRows is how many pairs obedience returns.
const obeyedRows = 500

// prompting is what the transitions of D_syn were asked for with.
type prompting struct {
	Knobs    generative.GenKnobs
	Occasion uint64
	Known    bool // the generator still holds the prompts: no later fit is complete
}

// obedience compares the F that was asked for with that of the rows; it returns pairs of
// both.
func (e *examining) obedience(rows []float32, g *event.Generated) (pairs [][2]run.Float, err error) {
	if !e.asked.Known || e.settings.Relevance == relevanceNone || e.syn.Cap() < e.asked.Knobs.Samples {
		return nil, nil // nothing was asked for, or the first samples have been overwritten
	}
	asked := e.m.gen.Asked(e.asked.Knobs, e.asked.Occasion, g.Rows)
	if asked == nil {
		return nil, nil
	}
	achieved, err := e.scores(e.f, e.syn, e.looked())
	if err != nil {
		return nil, err
	}
	for i := range min(len(asked), obeyedRows) {
		pairs = append(pairs, [2]run.Float{run.Float(asked[i]), run.Float(achieved[i])})
	}
	obeyed := run.Float(analysis.Spearman(asked, achieved))
	g.Relevance, g.Asked, g.Achieved, g.Obeyed = e.f.Name(), quantiles(asked), quantiles(achieved), &obeyed
	return pairs, nil
}

// value takes the critics' value of a trial's first states.
func (t *trial) value(m *member) error {
	values, has := m.agent.(relevance.Values)
	if !has {
		return nil
	}
	t.q = make([]float32, len(t.ended))
	return values.Q(t.q, t.obs, len(t.q))
}

// reportBias writes the line of an evaluation about the critics' bias.
func (x *experiment) reportBias(m *member, t *trial) {
	if len(t.q) == 0 {
		return
	}
	bias, q := make([]float64, len(t.q)), 0.0
	for i, v := range t.q {
		bias[i] = float64(v) - t.discounted[i]
		q += float64(v) / float64(len(t.q))
	}
	mean, std := meanStd(bias)
	x.emit(event.TypeQBias, m.index, event.QBias{Q: run.Float(q), Return: run.Float(q - mean), Bias: run.Float(mean), Std: run.Float(std)})
}

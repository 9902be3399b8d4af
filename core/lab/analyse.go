package lab

import (
	"io"

	"pgrlab/core/analysis"
	"pgrlab/core/generative"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

// The analyses of a running experiment, all of them lines of the journal.
const (
	TypeGenerated = "generated" // Generated
	TypeQBias     = "q_bias"    // QBias
)

// Generated describes a new D_syn by its first rows. Distances are per dimension, in
// standard deviations of the real transitions.
type Generated struct {
	Rows           int       `json:"rows"`            // looked at
	OutsideStates  run.Float `json:"outside_states"`  // share of rows with s or s' outside of the real range
	OutsideActions run.Float `json:"outside_actions"` // the same of a
	OutsideRewards run.Float `json:"outside_rewards"` // the same of r
	Nearest        run.Float `json:"nearest"`         // median distance to the nearest real row
	NearestReal    run.Float `json:"nearest_real"`    // the same of real rows
	Terminal       run.Float `json:"terminal"`        // share of terminal rows
	TerminalReal   run.Float `json:"terminal_real"`   // the same of real rows

	Relevance string     `json:"relevance,omitempty"` // missing where nothing was asked for
	Asked     *Quantiles `json:"asked,omitempty"`     // F that the prompts asked for
	Achieved  *Quantiles `json:"achieved,omitempty"`  // F of what came out
	Obeyed    *run.Float `json:"obeyed,omitempty"`    // rank correlation of the two
	Dynamics  *Dynamics  `json:"dynamics,omitempty"`  // missing where the task cannot be set to a state
}

// Quantiles describe a distribution.
type Quantiles struct {
	Min    run.Float `json:"min"`
	Q10    run.Float `json:"q10"`
	Median run.Float `json:"median"`
	Q90    run.Float `json:"q90"`
	Max    run.Float `json:"max"`
	Mean   run.Float `json:"mean"`
}

// Dynamics says how far transitions are from what the task would have done.
type Dynamics struct {
	Rows     int       `json:"rows"`     // compared
	Failed   int       `json:"failed"`   // that the task did not take
	State    run.Float `json:"state"`    // mean of (s' − ŝ')²
	Reward   run.Float `json:"reward"`   // mean of (r − r̂)²
	Combined run.Float `json:"combined"` // ½(state + reward)
	Relative run.Float `json:"relative"` // state in units of the variance of real next states
}

// QBias compares the critics' value of the first states of an evaluation's episodes
// with the discounted returns that followed (Fujimoto et al. 2018; Chen et al. 2021).
// The critics' value has the entropy bonus of the present policy in it, the returns
// are those of its mean action, cut off by the time limit.
type QBias struct {
	Q      run.Float `json:"q"`      // mean of Q(s₀, π(s₀))
	Return run.Float `json:"return"` // mean of Σγᵗr
	Bias   run.Float `json:"bias"`   // mean of Q − Σγᵗr
	Std    run.Float `json:"std"`    // its standard deviation over episodes
}

func quantiles(values []float32) *Quantiles {
	s := analysis.Summarise(values)
	return &Quantiles{run.Float(s.Min), run.Float(s.Q10), run.Float(s.Median), run.Float(s.Q90), run.Float(s.Max), run.Float(s.Mean)}
}

const (
	// neighbours is how many real rows stand for all in a search for the nearest.
	neighbours = 1024
	// boundedRows is how many real rows, evenly spread, stand for all where their range
	// is taken: all of a run of 100,000 steps.
	boundedRows = 131_072
)

// analyseGeneration describes the member's new D_syn.
func (x *experiment) analyseGeneration(m *member, knobs generative.GenKnobs) error {
	n := min(x.config.Evaluation.AnalysedRows, m.synthetic.Len())
	if n == 0 {
		return nil
	}
	width := m.real.Shape().Width()
	rows := make([]float32, 0, n*width)
	for i := range n {
		rows = append(rows, m.synthetic.Row(i)...)
	}
	e := &examining{experiment: x, m: m, f: m.f, settings: x.Settings, breathe: onward}
	g, err := describeRows(rows, m.real, e.breathe)
	if err != nil {
		return err
	}
	if _, err := e.obedience(knobs, rows, &g); err != nil {
		return err
	}
	d, err := m.dynamicsOf(x.task, rows, e.breathe)
	if err != nil {
		return err
	}
	g.Dynamics = summed(d)
	x.emit(TypeGenerated, m.index, g)
	return nil
}

// onward is the breath of an analysis that is one slice.
func onward() error { return nil }

// describedRows is how many rows are held to the real ones between two breaths.
const describedRows = 256

// describeRows compares generated rows with the real transitions.
func describeRows(rows []float32, real *replay.Ring, breathe func() error) (Generated, error) {
	shape := real.Shape()
	width := shape.Width()
	n := len(rows) / width
	bounds := analysis.NewBounds(width - 1)
	g := Generated{Rows: n}
	looked := min(boundedRows, real.Len())
	for i := range looked {
		row := real.Row(i * real.Len() / looked)
		bounds.Add(row)
		g.TerminalReal += run.Float(row[width-1]) / run.Float(looked)
	}
	one := 1 / run.Float(n)
	points := make([][]float32, n)
	for i := range points {
		row := rows[i*width : (i+1)*width]
		points[i] = row
		act, reward := shape.Obs, shape.Obs+shape.Act
		if bounds.Outside(row, 0, act) || bounds.Outside(row, reward+1, width-1) {
			g.OutsideStates += one
		}
		if bounds.Outside(row, act, reward) {
			g.OutsideActions += one
		}
		if bounds.Outside(row, reward, reward+1) {
			g.OutsideRewards += one
		}
		g.Terminal += run.Float(row[width-1]) * one
	}
	if err := breathe(); err != nil {
		return g, err
	}
	slots := spread(real, neighbours)
	others := make([][]float32, len(slots))
	for i, slot := range slots {
		others[i] = real.Row(slot)
	}
	scatter := analysis.Spread(len(others), width-1, func(i int) []float32 { return others[i] })
	nearest := func(points [][]float32, itself func(int) int) (median run.Float, err error) {
		var all []float32
		for first := 0; first < len(points); first += describedRows {
			some := points[first:min(first+describedRows, len(points))]
			all = append(all, analysis.Nearest(some, others, scatter, func(i int) int { return itself(first + i) })...)
			if err := breathe(); err != nil {
				return 0, err
			}
		}
		return run.Float(analysis.Summarise(all).Median), nil
	}
	var err error
	if g.Nearest, err = nearest(points, func(int) int { return -1 }); err != nil {
		return g, err
	}
	some := min(n, len(others))
	at := func(i int) int { return i * len(others) / some }
	for i := range some {
		points[i] = others[at(i)]
	}
	g.NearestReal, err = nearest(points[:some], at)
	return g, err
}

// obeyedRows is how many pairs obedience returns.
const obeyedRows = 500

// obedience compares the F that was asked for with that of the rows; it returns pairs of
// both.
func (e *examining) obedience(knobs generative.GenKnobs, rows []float32, g *Generated) (pairs [][2]run.Float, err error) {
	if e.settings.Relevance == relevanceNone || e.m.synthetic.Cap() < knobs.Samples {
		return nil, nil // nothing was asked for, or the first samples have been overwritten
	}
	asked := e.m.gen.Asked(knobs, e.Generations-1, g.Rows)
	if asked == nil {
		return nil, nil
	}
	slots := make([]int, g.Rows)
	for i := range slots {
		slots[i] = i
	}
	achieved, err := e.scores(e.f, e.m.synthetic, slots)
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

// simulator is an environment of its own that transitions are held to.
type simulator struct {
	analysis.Simulator
	io.Closer
}

// simulatedRows is how many rows are held to the task between two breaths.
const simulatedRows = 256

// dynamicsOf holds rows to the task; there are none where it cannot be set to a state.
func (m *member) dynamicsOf(task Task, rows []float32, breathe func() error) (all analysis.DynamicsError, err error) {
	if m.simulator == nil {
		env, err := task.New(m.seed)
		if err != nil {
			return all, err
		}
		placed, _ := env.(analysis.Simulator)
		m.simulator = &simulator{placed, env}
	}
	if m.simulator.Simulator == nil {
		return all, nil
	}
	shape := m.real.Shape()
	slots := spread(m.real, neighbours)
	next := analysis.Spread(len(slots), shape.Obs, func(i int) []float32 { return m.real.Row(slots[i])[shape.Obs+shape.Act+1:] })
	for piece := simulatedRows * shape.Width(); len(rows) > 0; rows = rows[min(piece, len(rows)):] {
		e, err := analysis.Dynamics(m.simulator, shape, rows[:min(piece, len(rows))], next.Variance)
		if err != nil {
			return all, err
		}
		all = all.With(e)
		if err := breathe(); err != nil {
			return all, err
		}
	}
	return all, nil
}

// summed is the line of an error; nil where nothing could be compared.
func summed(e analysis.DynamicsError) *Dynamics {
	if e.Rows == 0 {
		return nil
	}
	return &Dynamics{
		Rows: e.Rows, Failed: e.Failed, State: run.Float(e.State), Reward: run.Float(e.Reward),
		Combined: run.Float(e.Combined), Relative: run.Float(e.Relative),
	}
}

// value takes the critics' value of a trial's first states.
func (t *trial) value(m *member) error {
	t.q = make([]float32, len(t.ended))
	return m.agent.Q(t.q, t.obs, len(t.q))
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
	x.emit(TypeQBias, m.index, QBias{Q: run.Float(q), Return: run.Float(q - mean), Bias: run.Float(mean), Std: run.Float(std)})
}

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
	g := describeRows(rows, m.real)
	if err := x.analyseRelevance(m, knobs, rows, &g); err != nil {
		return err
	}
	var err error
	if g.Dynamics, err = m.dynamics(x.task, rows); err != nil {
		return err
	}
	x.emit(TypeGenerated, m.index, g)
	return nil
}

// describeRows compares generated rows with the real transitions.
func describeRows(rows []float32, real *replay.Ring) Generated {
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
	slots := spread(real, neighbours)
	others := make([][]float32, len(slots))
	for i, slot := range slots {
		others[i] = real.Row(slot)
	}
	scatter := analysis.Spread(len(others), width-1, func(i int) []float32 { return others[i] })
	g.Nearest = run.Float(analysis.Summarise(analysis.Nearest(points, others, scatter, nil)).Median)
	some := min(n, len(others))
	at := func(i int) int { return i * len(others) / some }
	for i := range some {
		points[i] = others[at(i)]
	}
	g.NearestReal = run.Float(analysis.Summarise(analysis.Nearest(points[:some], others, scatter, at)).Median)
	return g
}

// analyseRelevance compares the F that was asked for with that of the rows.
func (x *experiment) analyseRelevance(m *member, knobs generative.GenKnobs, rows []float32, g *Generated) error {
	if x.Settings.Relevance == relevanceNone || m.synthetic.Cap() < knobs.Samples {
		return nil // nothing was asked for, or the first samples have been overwritten
	}
	asked := m.gen.Asked(knobs, x.Generations-1, g.Rows)
	if asked == nil {
		return nil
	}
	shape := m.real.Shape()
	batch, achieved := replay.NewBatch(shape, g.Rows), make([]float32, g.Rows)
	for i := range g.Rows {
		batch.Put(i, shape, rows[i*shape.Width():])
	}
	if err := m.f.Score(achieved, batch, g.Rows); err != nil {
		return err
	}
	obeyed := run.Float(analysis.Spearman(asked, achieved))
	g.Relevance, g.Asked, g.Achieved, g.Obeyed = m.f.Name(), quantiles(asked), quantiles(achieved), &obeyed
	return nil
}

// simulator is an environment of its own that transitions are held to.
type simulator struct {
	analysis.Simulator
	io.Closer
}

// dynamics holds rows to the task; nil where it cannot be set to a state.
func (m *member) dynamics(task Task, rows []float32) (*Dynamics, error) {
	d, _, err := m.dynamicsOf(task, rows)
	return d, err
}

// dynamicsOf returns the error of each row too.
func (m *member) dynamicsOf(task Task, rows []float32) (*Dynamics, []float32, error) {
	if m.simulator == nil {
		env, err := task.New(m.seed)
		if err != nil {
			return nil, nil, err
		}
		placed, _ := env.(analysis.Simulator)
		m.simulator = &simulator{placed, env}
	}
	if m.simulator.Simulator == nil {
		return nil, nil, nil
	}
	shape := m.real.Shape()
	next := analysis.Spread(min(m.real.Len(), neighbours), shape.Obs, func(i int) []float32 {
		return m.real.Row(i * m.real.Len() / min(m.real.Len(), neighbours))[shape.Obs+shape.Act+1:]
	})
	e, err := analysis.Dynamics(m.simulator, shape, rows, next.Variance)
	if err != nil || e.Rows == 0 {
		return nil, nil, err
	}
	return &Dynamics{
		Rows: e.Rows, Failed: e.Failed, State: run.Float(e.State), Reward: run.Float(e.Reward),
		Combined: run.Float(e.Combined), Relative: run.Float(e.Relative),
	}, e.Each, nil
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

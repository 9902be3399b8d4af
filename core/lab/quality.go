package lab

import (
	"io"
	"math"
	"slices"

	"pgrlab/core/analysis"
	"pgrlab/core/event"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

// searchedRows is how many real rows describedRows are held to between two breaths.
const searchedRows = 4096

// neighbourhood holds generated rows, one behind the other, to the real ones next to
// them: how far they are, how many are copies, and how many real rows have one nearby.
func (e *examining) neighbourhood(rows []float32, g *event.Generated) error {
	real, width := e.m.real, e.m.real.Shape().Width()
	points := make([][]float32, min(len(rows)/width, neighbours))
	for i := range points {
		points[i] = rows[i*width : (i+1)*width]
	}
	slots := spread(real, min(boundedRows, real.Len()))
	scatter := analysis.Spread(min(neighbours, len(slots)), width-1, func(i int) []float32 {
		return real.Row(i * real.Len() / min(neighbours, len(slots)))
	})
	nearest, err := e.nearest(points, slots, scatter, func(int) int { return -1 })
	if err != nil {
		return err
	}
	few := min(len(points), len(slots))
	among := make([][]float32, few)
	at := func(i int) int { return i * len(slots) / few }
	for i := range among {
		among[i] = real.Row(slots[at(i)])
	}
	others, err := e.nearest(among, slots, scatter, at)
	if err != nil {
		return err
	}
	usual := analysis.Summarise(others).Median
	g.Nearest, g.NearestReal = run.Float(analysis.Summarise(nearest).Median), run.Float(usual)
	copied := analysis.Copies(nearest, usual)
	copies := 0
	for _, is := range copied {
		if is {
			copies++
		}
	}
	g.Copies = float(float64(copies) / float64(len(copied)))
	g.Coverage = float(analysis.Coverage(points, among, scatter, func(i int) bool { return copied[i] }))
	return e.breathe()
}

// nearest is the distance of each point to the nearest of the real rows in slots; itself
// is the place of point i among them, −1 for a point that is none of them.
func (e *examining) nearest(points [][]float32, slots []int, scatter analysis.Scatter, itself func(i int) int) ([]float32, error) {
	all := slices.Repeat([]float32{float32(math.Inf(1))}, len(points))
	rows := make([][]float32, 0, searchedRows)
	for from := 0; from < len(slots); from += searchedRows {
		rows = rows[:0]
		for _, slot := range slots[from:min(from+searchedRows, len(slots))] {
			rows = append(rows, e.m.real.Row(slot))
		}
		for first := 0; first < len(points); first += describedRows {
			some := points[first:min(first+describedRows, len(points))]
			for i, d := range analysis.Nearest(some, rows, scatter, func(i int) int { return itself(first+i) - from }) {
				all[first+i] = min(all[first+i], d)
			}
			if err := e.breathe(); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// simulator is an environment of its own that transitions are held to.
type simulator struct {
	analysis.Simulator
	io.Closer
}

// simulatedRows is how many rows are held to the task between two breaths.
const simulatedRows = 32

// simulate sets the task to the state of each row and steps it; there are none where it
// cannot be set to a state.
func (m *member) simulate(task Task, rows []float32, breathe func() error) (all analysis.Simulated, err error) {
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
	for piece := simulatedRows * shape.Width(); len(rows) > 0; rows = rows[min(piece, len(rows)):] {
		s, err := analysis.Simulate(m.simulator, shape, rows[:min(piece, len(rows))])
		if err != nil {
			return all, err
		}
		all = all.With(s)
		if err := breathe(); err != nil {
			return all, err
		}
	}
	return all, nil
}

// reference is what errors are measured against.
func (m *member) reference() analysis.Reference {
	slots := spread(m.real, min(boundedRows, m.real.Len()))
	return analysis.NewReference(m.real.Shape(), len(slots), func(i int) []float32 { return m.real.Row(slots[i]) })
}

// holdToTask fills g.Dynamics with what became of rows under the task; each is ½(mean
// Δs'² + Δr²) of every row that could be compared.
func (e *examining) holdToTask(rows []float32, g *event.Generated) (each []float32, err error) {
	s, err := e.m.simulate(e.task, rows, e.breathe)
	if err != nil {
		return nil, err
	}
	shape, ref := e.m.real.Shape(), e.m.reference()
	if g.Dynamics, each = dynamicsOf(s, shape, ref); g.Dynamics == nil {
		return nil, nil
	}
	detect(g.Dynamics, s, shape, ref, e.task.Terminates)
	return each, e.holdRelevant(s, ref, g.Dynamics)
}

// detect fills in how rows tell rare rewards, and ends where the task has some.
func detect(d *event.Dynamics, s analysis.Simulated, shape replay.Shape, ref analysis.Reference, terminates bool) {
	if !math.IsNaN(ref.Rare) {
		d.RareRewards = detection(s.RareRewards(shape, ref))
		d.RareRewards.Above = float(ref.Rare)
	}
	if terminates {
		d.Ends = detection(s.Ends(shape))
	}
}

// dynamicsOf is the line of an error; nil where nothing could be compared.
func dynamicsOf(s analysis.Simulated, shape replay.Shape, ref analysis.Reference) (*event.Dynamics, []float32) {
	e := s.Error(shape, ref)
	if e.Rows == 0 {
		return nil, nil
	}
	return &event.Dynamics{
		Rows: e.Rows, Failed: e.Failed, State: run.Float(e.State), Reward: run.Float(e.Reward),
		Combined: run.Float(e.Combined), Relative: run.Float(e.Relative), Change: float(e.Change),
		EachChange: run.Floats(e.EachChange), RewardRelative: float(e.RewardRelative),
		ConstantChange: float(e.ConstantChange), ConstantReward: float(e.ConstantReward),
	}, e.Each
}

func float(v float64) *run.Float {
	f := run.Float(v)
	return &f
}

func detection(d analysis.Detection) *event.Detection {
	return &event.Detection{True: d.True, Told: d.Told, Precision: run.Float(d.Precision), Recall: run.Float(d.Recall)}
}

// fewestRelevant is how many relevant rows it takes to speak of their error.
const fewestRelevant = 8

// holdRelevant takes the error of the relevant rows. An error of all rows also grows
// where the prompts ask for harder ones.
func (e *examining) holdRelevant(s analysis.Simulated, ref analysis.Reference, d *event.Dynamics) error {
	some, known, err := e.relevant(s)
	if err != nil || !known {
		return err
	}
	shape := e.m.real.Shape()
	if d.RelevantOf = some.Rows(shape); d.RelevantOf >= fewestRelevant {
		d.Relevant = float(some.Error(shape, ref).Relative)
	}
	return nil
}

// relevant are the rows whose F, with what the task really does, is in the upper quarter
// of the real transitions: those that a prompt may ask for. Nothing is known without F.
func (e *examining) relevant(s analysis.Simulated) (some analysis.Simulated, known bool, err error) {
	if e.f.Name() == relevanceNone || !e.m.built(e.f.Name()) {
		return some, false, nil
	}
	shape := e.m.real.Shape()
	real, err := e.scores(e.f, e.m.real, spread(e.m.real, min(scoreRows, e.m.real.Len())))
	if err != nil {
		return some, false, err
	}
	truth := replay.NewRing(shape, s.Rows(shape))
	truth.AddRows(s.True)
	slots := make([]int, truth.Len())
	for i := range slots {
		slots[i] = i
	}
	f, err := e.scores(e.f, truth, slots)
	if err != nil {
		return some, false, err
	}
	quarter := analysis.Quantile(real, 0.75)
	return s.Where(shape, func(i int) bool { return float64(f[i]) >= quarter }), true, nil
}

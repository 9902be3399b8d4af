package lab

import (
	"fmt"

	"pgrlab/core/analysis"
	"pgrlab/core/generative"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

// Examination asks for the analyses that are too dear for every evaluation.
type Examination struct {
	// Rows are looked at of the real and of the synthetic transitions; the paper
	// has 10,000.
	Rows int
	// Points are drawn from the present generator with its guidance, and as many
	// without, for the projection.
	Points int
}

// Examined is what they found of one member at one place of a run.
type Examined struct {
	Step      int        `json:"step"`
	Relevance string     `json:"relevance"` // F of what follows
	Real      *Histogram `json:"real,omitempty"`
	Synthetic *Histogram `json:"synthetic,omitempty"` // over the same edges
	Generated *Generated `json:"generated,omitempty"`
	// Dynamics of the synthetic transitions row by row, as a histogram, and of as many
	// rows of a Gaussian that was fitted to the real ones: what a generator has to beat.
	DynamicsErrors *Histogram `json:"dynamics_errors,omitempty"`
	Gaussian       *Dynamics  `json:"gaussian,omitempty"`

	Projection *Projected `json:"projection,omitempty"`
	Ruler      *Ruled     `json:"ruler,omitempty"`
}

// Projected are generations with and without guidance in the plane in which the real
// transitions and both of them lie widest (PCA of all rows, each dimension in units of
// its deviation).
type Projected struct {
	Explained [2]run.Float   `json:"explained"` // share of the variance along each axis
	Overlap   run.Float      `json:"overlap"`   // of guided and unconditional points: 1 equal, 0 apart
	Real      [][2]run.Float `json:"real"`
	Guided    [][2]run.Float `json:"guided"`
	Free      [][2]run.Float `json:"free"` // without guidance
}

// Ruled is F as another run, or this one at another place, has learned it, of this
// run's real transitions: a ruler that does not move with the data.
type Ruled struct {
	Relevance       string     `json:"relevance"`
	Step            int        `json:"step"` // at which the ruler was learned
	Real            *Histogram `json:"real"`
	Synthetic       *Histogram `json:"synthetic,omitempty"`
	RankCorrelation run.Float  `json:"rank_correlation"` // with this run's own F
	TopOverlap      run.Float  `json:"top_overlap"`      // of the top_fraction rows of largest F
}

// examine makes the analyses of a member that is between two env steps. ruler is the
// experiment whose F is the ruler; nil: none.
func (x *experiment) examine(m *member, e Examination, ruler *experiment) (*Examined, error) {
	if m.real.Len() < 3 {
		return nil, fmt.Errorf("examine: %d real transitions, want at least 3", m.real.Len())
	}
	out := &Examined{Step: x.Step, Relevance: x.Settings.Relevance}
	real := batchOf(m.real, spread(m.real, e.Rows))
	var synthetic *replay.Batch
	var rows []float32
	if m.synthetic != nil && m.synthetic.Len() > 0 {
		slots := make([]int, min(e.Rows, m.synthetic.Len()))
		for i := range slots {
			slots[i] = i
			rows = append(rows, m.synthetic.Row(i)...)
		}
		synthetic = batchOf(m.synthetic, slots)
	}
	own, err := x.scoreBoth(m.f, real, synthetic)
	if err != nil {
		return nil, err
	}
	if own != nil {
		out.Real, out.Synthetic = own.histograms()
	}
	if ruler != nil {
		if out.Ruler, err = x.rule(ruler, own, real, synthetic); err != nil {
			return nil, err
		}
	}
	if rows != nil {
		if err := x.examineRows(m, rows, out); err != nil {
			return nil, err
		}
	}
	if x.Fitted && e.Points > 0 {
		out.Projection, err = x.project(m, e.Points)
	}
	return out, err
}

func batchOf(r *replay.Ring, slots []int) *replay.Batch {
	b := replay.NewBatch(r.Shape(), len(slots))
	r.Gather(b, 0, slots)
	return b
}

// scored are F of real and of synthetic transitions.
type scored struct{ real, synthetic []float32 }

// scoreBoth is nil for a function that says nothing.
func (x *experiment) scoreBoth(f relevance.Function, real, synthetic *replay.Batch) (*scored, error) {
	if f.Name() == relevanceNone {
		return nil, nil
	}
	s := &scored{real: make([]float32, real.Size)}
	if err := f.Score(s.real, real, real.Size); err != nil || synthetic == nil {
		return s, err
	}
	s.synthetic = make([]float32, synthetic.Size)
	return s, f.Score(s.synthetic, synthetic, synthetic.Size)
}

func (s *scored) histograms() (real, synthetic *Histogram) {
	edges := analysis.CommonEdges(Bins, s.real, s.synthetic)
	real = histogram(s.real, edges)
	if s.synthetic != nil {
		synthetic = histogram(s.synthetic, edges)
	}
	return real, synthetic
}

// rule measures this run's transitions with another's F.
func (x *experiment) rule(ruler *experiment, own *scored, real, synthetic *replay.Batch) (*Ruled, error) {
	m := ruler.first()
	if m.real.Shape() != x.first().real.Shape() {
		return nil, fmt.Errorf("relevance of another run: its task %s has other transitions than %s", ruler.config.Task, x.config.Task)
	}
	if m.f.Name() == relevanceNone || !m.built(m.f.Name()) {
		return nil, fmt.Errorf("relevance of another run: it has learned none")
	}
	s, err := ruler.scoreBoth(m.f, real, synthetic)
	if err != nil {
		return nil, err
	}
	out := &Ruled{Relevance: m.f.Name(), Step: ruler.Step}
	out.Real, out.Synthetic = s.histograms()
	if own != nil {
		out.RankCorrelation = run.Float(analysis.Spearman(own.real, s.real))
		out.TopOverlap = run.Float(analysis.TopOverlap(own.real, s.real, x.Settings.TopFraction))
	}
	return out, nil
}

// examineRows holds synthetic rows to the real ones and to the task, beside a
// Gaussian's.
func (x *experiment) examineRows(m *member, rows []float32, out *Examined) error {
	g := describeRows(rows, m.real)
	if err := x.analyseRelevance(m, x.Generating, rows, &g); err != nil {
		return err
	}
	var err error
	var each []float32
	if g.Dynamics, each, err = m.dynamicsOf(x.task, rows); err != nil {
		return err
	}
	out.Generated = &g
	if each == nil {
		return nil
	}
	out.DynamicsErrors = histogram(each, analysis.CommonEdges(Bins, each))
	shape := m.real.Shape()
	width := shape.Width() - 1
	var real [][]float32
	for _, slot := range spread(m.real, g.Rows) {
		real = append(real, m.real.Row(slot))
	}
	fitted, err := analysis.FitGaussian(real, width)
	if err != nil {
		return nil // too few or too narrow: there is nothing to compare with
	}
	var drawn []float32
	normal, s := make([]float32, width), m.streams.preview.Sub("gaussian")
	for i := range g.Rows {
		s.FillNormal(normal, uint64(i), 0)
		drawn = append(append(drawn, fitted.Draw(normal)...), 0)
	}
	out.Gaussian, _, err = m.dynamicsOf(x.task, drawn)
	return err
}

// project draws with and without guidance and lays both into one plane.
func (x *experiment) project(m *member, points int) (*Projected, error) {
	k := x.Settings.generation()
	k.Samples = points
	guided, err := sketchRows(m, k)
	if err != nil {
		return nil, err
	}
	k.Guidance = 0
	free, err := sketchRows(m, k)
	if err != nil {
		return nil, err
	}
	var real [][]float32
	for _, slot := range spread(m.real, points) {
		real = append(real, m.real.Row(slot))
	}
	all := append(append(append([][]float32(nil), real...), guided...), free...)
	p, err := analysis.PCA(all, m.real.Shape().Width()-1)
	if err != nil {
		return nil, err
	}
	out := &Projected{Explained: [2]run.Float{run.Float(p.Explained[0]), run.Float(p.Explained[1])}}
	lay := func(rows [][]float32) (at [][2]float64, shown [][2]run.Float) {
		for _, row := range rows {
			q := p.At(row)
			at, shown = append(at, q), append(shown, [2]run.Float{run.Float(q[0]), run.Float(q[1])})
		}
		return at, shown
	}
	var a, b [][2]float64
	_, out.Real = lay(real)
	a, out.Guided = lay(guided)
	b, out.Free = lay(free)
	out.Overlap = run.Float(analysis.Overlap(a, b, 12))
	return out, nil
}

// examined is the occasion of an examination's sketches, apart from those of previews,
// which count from 1.
const examined = 0

func sketchRows(m *member, k generative.GenKnobs) (points [][]float32, err error) {
	next, err := m.gen.Sketch(k, examined)
	if err != nil {
		return nil, err
	}
	width := m.real.Shape().Width()
	for done, total := 0, 1; done < total; {
		var rows []float32
		if rows, done, total, err = next(); err != nil {
			return nil, err
		}
		for ; len(rows) > 0; rows = rows[width:] {
			points = append(points, append([]float32(nil), rows[:width]...))
		}
	}
	return points, nil
}

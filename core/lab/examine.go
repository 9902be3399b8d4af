package lab

import (
	"fmt"
	"math"

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
	// Embed asks for t-SNE of at most MostEmbedded of each beside the projection. It
	// takes tens of seconds.
	Embed bool
}

// DefaultExamination has the paper's rows, and as many points as a picture shows.
func DefaultExamination() Examination { return Examination{Rows: 10_000, Points: 1_000} }

// MostEmbedded is how many guided generations, and how many without guidance, go into
// t-SNE.
const MostEmbedded = analysis.MostEmbedded / 2

// Examined is what they found of one member at one place of a run.
type Examined struct {
	Step      int        `json:"-"`         // that of its line
	Relevance string     `json:"relevance"` // F of what follows
	Real      *Histogram `json:"real,omitempty"`
	Synthetic *Histogram `json:"synthetic,omitempty"` // over the same edges
	Generated *Generated `json:"generated,omitempty"`
	// Obeyed are F asked for, as of the last refit, and F of what came out, as of now, of
	// the first obeyedRows: an F that learns has moved between the two.
	Obeyed [][2]run.Float `json:"obeyed,omitempty"`
	// Gaussian is the dynamics error of as many rows of a Gaussian that was fitted to the
	// real ones: what a generator has to beat. The histograms are of the decimal logarithm
	// of the error of each row, both over the same edges.
	Gaussian       *Dynamics  `json:"gaussian,omitempty"`
	DynamicsErrors *Histogram `json:"log10_dynamics_errors,omitempty"`
	GaussianErrors *Histogram `json:"log10_gaussian_errors,omitempty"`

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

	Embedded *Embedded `json:"tsne,omitempty"`
}

// Embedded are the first generations of a Projected in a plane in which neighbours
// stay neighbours (t-SNE); distances between groups mean nothing there.
type Embedded struct {
	Guided [][2]run.Float `json:"guided"`
	Free   [][2]run.Float `json:"free"`
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

// examining is an examination under way: of what, by which F, with which knobs.
// Between two of its pieces it breathes; what happens meanwhile does not change what
// it finds.
type examining struct {
	*experiment
	m        *member
	f        relevance.Function
	settings Settings
	Examination
	breathe func() error
}

// examine makes the analyses of a member that is between two env steps. ruler is the
// experiment whose F is the ruler; nil: none.
func (x *experiment) examine(m *member, e Examination, ruler *experiment) (*Examined, error) {
	return (&examining{experiment: x, m: m, f: m.f, settings: x.Settings, Examination: e, breathe: onward}).all(ruler)
}

func (e *examining) all(ruler *experiment) (*Examined, error) {
	m := e.m
	if m.real.Len() < leastExamined {
		return nil, fmt.Errorf("examine: %d real transitions, want at least %d", m.real.Len(), leastExamined)
	}
	out := &Examined{Step: e.Step, Relevance: e.settings.Relevance}
	own, err := e.scoreBoth(e.f)
	if err != nil {
		return nil, err
	}
	if own != nil {
		out.Real, out.Synthetic = own.histograms()
	}
	if ruler != nil {
		if out.Ruler, err = e.rule(ruler, own); err != nil {
			return nil, err
		}
	}
	if m.synthetic != nil && m.synthetic.Len() > 0 {
		if err := e.generated(out); err != nil {
			return nil, err
		}
	}
	if e.Fitted && e.Points > 0 {
		out.Projection, err = e.project()
	}
	return out, err
}

// scored are F of real and of synthetic transitions.
type scored struct{ real, synthetic []float32 }

// scoreBoth is nil for a function that says nothing.
func (e *examining) scoreBoth(f relevance.Function) (s *scored, err error) {
	if f.Name() == relevanceNone {
		return nil, nil
	}
	s = &scored{}
	if s.real, err = e.scores(f, e.m.real, spread(e.m.real, e.Rows)); err != nil || e.m.synthetic == nil || e.m.synthetic.Len() == 0 {
		return s, err
	}
	s.synthetic, err = e.scores(f, e.m.synthetic, e.looked())
	return s, err
}

// looked are the slots of the synthetic transitions that are looked at.
func (e *examining) looked() []int {
	slots := make([]int, min(e.Rows, e.m.synthetic.Len()))
	for i := range slots {
		slots[i] = i
	}
	return slots
}

// scores is f of the transitions in slots of a ring.
func (e *examining) scores(f score, from *replay.Ring, slots []int) ([]float32, error) {
	all := make([]float32, 0, len(slots))
	for ; len(slots) > 0; slots = slots[min(scoreRows, len(slots)):] {
		some, err := e.m.scoresOf(f, from, slots[:min(scoreRows, len(slots))])
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
		if err := e.breathe(); err != nil {
			return nil, err
		}
	}
	return all, nil
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
func (e *examining) rule(ruler *experiment, own *scored) (*Ruled, error) {
	m := ruler.first()
	if m.real.Shape() != e.first().real.Shape() {
		return nil, fmt.Errorf("relevance of another run: its task %s has other transitions than %s", ruler.config.Task, e.config.Task)
	}
	if m.f.Name() == relevanceNone || !m.built(m.f.Name()) {
		return nil, fmt.Errorf("relevance of another run: it has learned none")
	}
	s, err := e.scoreBoth(m.f)
	if err != nil {
		return nil, err
	}
	out := &Ruled{Relevance: m.f.Name(), Step: ruler.Step}
	out.Real, out.Synthetic = s.histograms()
	if own != nil {
		out.RankCorrelation = run.Float(analysis.Spearman(own.real, s.real))
		out.TopOverlap = run.Float(analysis.TopOverlap(own.real, s.real, e.settings.TopFraction))
	}
	return out, nil
}

// generated holds synthetic rows to the real ones and to the task, beside a Gaussian's.
func (e *examining) generated(out *Examined) error {
	var rows []float32
	for _, slot := range e.looked() {
		rows = append(rows, e.m.synthetic.Row(slot)...)
	}
	g, err := describeRows(rows, e.m.real, e.breathe)
	if err != nil {
		return err
	}
	if out.Obeyed, err = e.obedience(e.Generating, rows, &g); err != nil {
		return err
	}
	errors, err := e.m.dynamicsOf(e.task, rows, e.breathe)
	if err != nil {
		return err
	}
	g.Dynamics, out.Generated = summed(errors), &g
	if g.Dynamics == nil {
		return nil
	}
	theirs, err := e.gaussian(g.Rows)
	if err != nil {
		return err
	}
	ours, gaussian := logarithms(errors.Each), logarithms(theirs.Each)
	edges := analysis.CommonEdges(Bins, ours, gaussian)
	out.DynamicsErrors = histogram(ours, edges)
	if out.Gaussian = summed(theirs); out.Gaussian != nil {
		out.GaussianErrors = histogram(gaussian, edges)
	}
	return nil
}

// logarithms are decimal; an error of 0 counts as 1e-12.
func logarithms(errors []float32) []float32 {
	out := make([]float32, len(errors))
	for i, v := range errors {
		out[i] = float32(math.Log10(math.Max(float64(v), 1e-12)))
	}
	return out
}

// gaussian is the dynamics error of rows of a Gaussian that was fitted to the real ones.
func (e *examining) gaussian(rows int) (analysis.DynamicsError, error) {
	width := e.m.real.Shape().Width() - 1
	var real [][]float32
	for _, slot := range spread(e.m.real, rows) {
		real = append(real, e.m.real.Row(slot))
	}
	fitted, err := analysis.FitGaussian(real, width)
	if err != nil {
		return analysis.DynamicsError{}, nil // too few or too narrow: there is nothing to compare with
	}
	var drawn []float32
	normal, s := make([]float32, width), e.m.streams.preview.Sub("gaussian")
	for i := range rows {
		s.FillNormal(normal, uint64(i), 0)
		drawn = append(append(drawn, fitted.Draw(normal)...), 0)
	}
	return e.m.dynamicsOf(e.task, drawn, e.breathe)
}

// project draws with and without guidance and lays both into one plane.
func (e *examining) project() (*Projected, error) {
	k := e.settings.generation()
	k.Samples = e.Points
	guided, err := e.sketch(k)
	if err != nil {
		return nil, err
	}
	k.Guidance = 0
	free, err := e.sketch(k)
	if err != nil {
		return nil, err
	}
	var real [][]float32
	for _, slot := range spread(e.m.real, e.Points) {
		real = append(real, e.m.real.Row(slot))
	}
	all := append(append(append([][]float32(nil), real...), guided...), free...)
	p, err := analysis.PCA(all, e.m.real.Shape().Width()-1)
	if err != nil {
		return nil, err
	}
	out := &Projected{Explained: [2]run.Float{run.Float(p.Explained[0]), run.Float(p.Explained[1])}}
	lay := func(rows [][]float32) (at [][2]float64) {
		for _, row := range rows {
			at = append(at, p.At(row))
		}
		return at
	}
	a, b := lay(guided), lay(free)
	out.Real, out.Guided, out.Free = shown(lay(real)), shown(a), shown(b)
	out.Overlap = run.Float(analysis.Overlap(a, b, 12))
	if e.Embed {
		out.Embedded, err = e.embed(guided[:min(len(guided), MostEmbedded)], free[:min(len(free), MostEmbedded)])
	}
	return out, err
}

func (e *examining) embed(guided, free [][]float32) (*Embedded, error) {
	both := append(append([][]float32(nil), guided...), free...)
	at, err := analysis.Embed(both, e.m.real.Shape().Width()-1, e.breathe)
	if err != nil {
		return nil, err
	}
	return &Embedded{Guided: shown(at[:len(guided)]), Free: shown(at[len(guided):])}, nil
}

// shown are points with four decimals: no picture shows more, and a journal has
// thousands of them.
func shown(points [][2]float64) (out [][2]run.Float) {
	round := func(v float64) run.Float { return run.Float(math.Round(v*1e4) / 1e4) }
	for _, p := range points {
		out = append(out, [2]run.Float{round(p[0]), round(p[1])})
	}
	return out
}

// examined is the occasion of an examination's sketches, apart from those of previews,
// which count from 1.
const examined = 0

func (e *examining) sketch(k generative.GenKnobs) (points [][]float32, err error) {
	next, err := e.m.gen.Sketch(k, examined)
	if err != nil {
		return nil, err
	}
	width := e.m.real.Shape().Width()
	for done, total := 0, 1; done < total; {
		var rows []float32
		if rows, done, total, err = next(); err != nil {
			return nil, err
		}
		for ; len(rows) > 0; rows = rows[width:] {
			points = append(points, append([]float32(nil), rows[:width]...))
		}
		if err := e.breathe(); err != nil {
			return nil, err
		}
	}
	return points, nil
}

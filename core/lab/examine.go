package lab

import (
	"fmt"
	"math"

	"pgrlab/core/analysis"
	"pgrlab/core/event"
	"pgrlab/core/knob"
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

// examining is an examination under way: of what, by which F, with which knobs.
// Between two of its pieces it breathes; what happens meanwhile does not change what
// it finds.
type examining struct {
	*experiment
	m        *member
	f        relevance.Function
	settings knob.Settings
	Examination
	breathe func() error
	syn     *replay.Ring // the synthetic transitions that are looked at; nil: there are none
	asked   prompting    // of syn
}

// examine makes the analyses of a member that is between two env steps. ruler is the
// experiment whose F is the ruler; nil: none.
func (x *experiment) examine(m *member, e Examination, ruler *experiment) (*event.Examined, error) {
	return x.examining(m, m.f, x.Settings, e, func() error { return nil }).all(ruler)
}

// examining is an examination of a member with D_syn as it is.
func (x *experiment) examining(m *member, f relevance.Function, s knob.Settings, e Examination, breathe func() error) *examining {
	return &examining{experiment: x, m: m, f: f, settings: s, Examination: e, breathe: breathe, syn: m.synthetic, asked: x.Asked}
}

func (e *examining) all(ruler *experiment) (*event.Examined, error) {
	m := e.m
	if m.real.Len() < leastExamined {
		return nil, fmt.Errorf("examine: %d real transitions, want at least %d", m.real.Len(), leastExamined)
	}
	out := &event.Examined{Step: e.Step, Relevance: e.settings.Relevance}
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
	if e.generations() {
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
	if s.real, err = e.scores(f, e.m.real, spread(e.m.real, e.Rows)); err != nil || !e.generations() {
		return s, err
	}
	s.synthetic, err = e.scores(f, e.syn, e.looked())
	return s, err
}

// generations says whether there are synthetic transitions.
func (e *examining) generations() bool { return e.syn != nil && e.syn.Len() > 0 }

// looked are the slots of the synthetic transitions that are looked at.
func (e *examining) looked() []int {
	slots := make([]int, min(e.Rows, e.syn.Len()))
	for i := range slots {
		slots[i] = i
	}
	return slots
}

// synthetic are those transitions, one behind the other.
func (e *examining) synthetic() (rows []float32) {
	for _, slot := range e.looked() {
		rows = append(rows, e.syn.Row(slot)...)
	}
	return rows
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

func (s *scored) histograms() (real, synthetic *event.Histogram) {
	edges := analysis.CommonEdges(event.Bins, s.real, s.synthetic)
	real = histogram(s.real, edges)
	if s.synthetic != nil {
		synthetic = histogram(s.synthetic, edges)
	}
	return real, synthetic
}

// rule measures this run's transitions with another's F.
func (e *examining) rule(ruler *experiment, own *scored) (*event.Ruled, error) {
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
	out := &event.Ruled{Relevance: m.f.Name(), Step: ruler.Step}
	out.Real, out.Synthetic = s.histograms()
	if own != nil {
		out.RankCorrelation = run.Float(analysis.Spearman(own.real, s.real))
		out.TopOverlap = run.Float(analysis.TopOverlap(own.real, s.real, e.settings.TopFraction))
	}
	return out, nil
}

// generated holds synthetic rows to the real ones and to the task, beside a Gaussian's.
func (e *examining) generated(out *event.Examined) error {
	rows := e.synthetic()
	g, err := e.describe(rows)
	if err != nil {
		return err
	}
	if out.Obeyed, err = e.obedience(rows, &g); err != nil {
		return err
	}
	errors, err := e.holdToTask(rows, &g)
	if err != nil {
		return err
	}
	out.Generated = &g
	if g.Dynamics == nil {
		return nil
	}
	theirs, err := e.gaussian(g.Rows)
	if err != nil {
		return err
	}
	var each []float32
	out.Gaussian, each = dynamicsOf(theirs, e.m.real.Shape(), e.m.reference())
	ours, gaussian := logarithms(errors), logarithms(each)
	edges := analysis.CommonEdges(event.Bins, ours, gaussian)
	out.DynamicsErrors = histogram(ours, edges)
	if out.Gaussian != nil {
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

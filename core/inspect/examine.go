package inspect

import (
	"fmt"
	"math"

	"pgrlab/core/analysis"
	"pgrlab/core/event"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

// Examination asks for the analyses that are too expensive for every evaluation.
type Examination struct {
	// Rows is how many real and how many synthetic transitions are examined; the paper
	// has 10,000.
	Rows int
	// Points is how many transitions the present generator makes with guidance, and how
	// many without, for the projection.
	Points int
	// Embed adds t-SNE of at most MaxEmbedded points of each kind to the projection. It
	// takes tens of seconds.
	Embed bool
}

// DefaultExamination has the paper's number of rows, and as many points as a picture can
// show.
func DefaultExamination() Examination { return Examination{Rows: 10_000, Points: 1_000} }

// MaxEmbedded is how many guided generations, and how many without guidance, go into
// t-SNE.
const MaxEmbedded = analysis.MaxEmbedded / 2

// Examine makes all analyses of v and writes them into out, which is complete when the
// sequence has ended without an error. reference is another run, or this one at another
// position, whose F is compared with the run's; nil: none.
func Examine(v View, e Examination, reference *View, out *event.Examined) Pieces {
	return InPieces(func(yield func() error) error {
		return (&examiner{View: v, Examination: e, yield: yield}).all(reference, out)
	})
}

// ExaminePieces estimates how many pieces Examine has.
func ExaminePieces(v View, e Examination) int {
	n := pieces(min(e.Rows, v.Real.Len()), ScoreRows)
	if v.hasSynthetic() {
		rows := min(e.Rows, v.Syn.Len())
		n += pieces(rows, ScoreRows) + DescribePieces(rows, v.Syn.Len(), v.Real.Len())
		n += 2*pieces(rows, fittedRows) + pieces(rows, simulatedRows) // the Gaussian
	}
	if v.Fitted && v.Chunk > 0 {
		n += 2 * (2*v.Settings.SamplerSteps - 1) * pieces(e.Points, v.Chunk)
		n += pieces(3*e.Points, fittedRows) + 1
	}
	return n
}

func (e *examiner) all(reference *View, out *event.Examined) error {
	if e.Real.Len() < MinRows {
		return fmt.Errorf("examine: %d real transitions, want at least %d", e.Real.Len(), MinRows)
	}
	*out = event.Examined{Step: e.Step, Relevance: e.Settings.Relevance, Mixed: e.Mixed}
	var own *scored
	var err error
	if e.Learned {
		if own, err = e.scoreBoth(e.F); err != nil {
			return err
		}
	}
	if own != nil {
		out.Real, out.Synthetic = own.histograms()
	}
	if reference != nil {
		if out.ReferenceF, err = e.compareWith(reference, own); err != nil {
			return err
		}
	}
	if e.hasSynthetic() {
		if err := e.generated(out); err != nil {
			return err
		}
	}
	if e.Fitted && e.Points > 0 {
		if out.Projection, err = e.project(); err != nil {
			return err
		}
	}
	out.OpenLoop, err = e.OpenLoop(uint64(e.Step))
	return err
}

// scored holds F of real and of synthetic transitions.
type scored struct{ real, synthetic []float32 }

// scoreBoth returns f of real and of synthetic transitions; nil without a relevance
// function, and if f has no value for the real ones.
func (e *examiner) scoreBoth(f *relevance.Model) (s *scored, err error) {
	if f.Name() == none {
		return nil, nil
	}
	s = &scored{}
	s.real, err = e.scores(f, e.Real, e.Real.Spread(e.Rows))
	switch {
	case err != nil:
		return nil, err
	case s.real == nil && e.Real.Len() > 0:
		return nil, nil
	case !e.hasSynthetic():
		return s, nil
	}
	s.synthetic, err = e.scores(f, e.Syn, e.looked())
	return s, err
}

// hasSynthetic says whether there are synthetic transitions.
func (v *View) hasSynthetic() bool { return v.Syn != nil && v.Syn.Len() > 0 }

// looked returns the slots of the synthetic transitions that are examined.
func (e *examiner) looked() []int { return e.Looked(e.Rows) }

// Looked returns the slots of up to n synthetic transitions: the first ones, whose prompts are those of the
// first samples of their generation, or, of a D_syn that is mixed, some of all its parts.
func (v *View) Looked(n int) []int {
	if v.Mixed > 0 {
		return v.Syn.Spread(n)
	}
	slots := make([]int, min(n, v.Syn.Len()))
	for i := range slots {
		slots[i] = i
	}
	return slots
}

// synthetic returns the transitions in these slots, one after another.
func (e *examiner) synthetic() (rows []float32) {
	for _, slot := range e.looked() {
		rows = append(rows, e.Syn.Row(slot)...)
	}
	return rows
}

// scores returns f of the transitions in slots of a ring; nil if f has no value for them.
func (e *examiner) scores(f *relevance.Model, from *replay.Ring, slots []int) ([]float32, error) {
	all := make([]float32, 0, len(slots))
	slice := f.AtOnce(ScoreRows)
	for rest := slots; len(rest) > 0; rest = rest[min(slice, len(rest)):] {
		some, err := e.someScoresOf(f, from, rest[:min(slice, len(rest))])
		if err != nil || some == nil {
			return nil, err
		}
		all = append(all, some...)
		if err := e.yield(); err != nil {
			return nil, err
		}
	}
	return f.Judge(all, func(i int) replay.Note { return from.Note(slots[i]) }), nil
}

func (s *scored) histograms() (real, synthetic *event.Histogram) {
	edges := analysis.CommonEdges(bins, s.real, s.synthetic)
	real = histogram(s.real, edges)
	if s.synthetic != nil {
		synthetic = histogram(s.synthetic, edges)
	}
	return real, synthetic
}

// compareWith scores this run's transitions with another run's F.
func (e *examiner) compareWith(other *View, own *scored) (*event.ReferenceF, error) {
	if other.Real.Shape() != e.Real.Shape() {
		return nil, fmt.Errorf("relevance of another run: its task %s has other transitions than %s", other.Task.Name, e.Task.Name)
	}
	if other.F.Name() == none || !other.Learned {
		return nil, fmt.Errorf("relevance of another run: it has learned none")
	}
	if other.F.Rounds != nil {
		return nil, fmt.Errorf("relevance of another run: %s is of the episodes that the other run met", other.F.Name())
	}
	s, err := e.scoreBoth(other.F)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, fmt.Errorf("relevance of another run: %s sees frames, of which not all are there any more", other.F.Name())
	}
	out := &event.ReferenceF{Relevance: other.F.Name(), Step: other.Step}
	out.Real, out.Synthetic = s.histograms()
	if own != nil {
		out.RankCorrelation = run.Float(analysis.Spearman(own.real, s.real))
		out.TopOverlap = run.Float(analysis.TopOverlap(own.real, s.real, e.Settings.TopFraction))
	}
	return out, nil
}

// generated compares synthetic rows, and the rows of a Gaussian, with the real ones and with
// the task.
func (e *examiner) generated(out *event.Examined) error {
	rows := e.synthetic()
	g, err := e.describe(rows)
	if err != nil {
		return err
	}
	if out.AskedAchieved, err = e.promptFidelity(rows, &g); err != nil {
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
	out.Gaussian, each = dynamicsOf(theirs, e.Real.Shape(), e.scale())
	ours, gaussian := logarithms(errors), logarithms(each)
	edges := analysis.CommonEdges(bins, ours, gaussian)
	out.DynamicsErrors = histogram(ours, edges)
	if out.Gaussian != nil {
		out.GaussianErrors = histogram(gaussian, edges)
	}
	return nil
}

// logarithms returns the decimal logarithms of errors; an error of 0 counts as 1e-12.
func logarithms(errors []float32) []float32 {
	out := make([]float32, len(errors))
	for i, v := range errors {
		out[i] = float32(math.Log10(math.Max(float64(v), 1e-12)))
	}
	return out
}

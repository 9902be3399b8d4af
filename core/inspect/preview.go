package inspect

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"pgrlab/core/analysis"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
)

// boundRows is how many real transitions a piece looks at for their bounds.
const boundRows = 16_384

// Source is what a preview needs from the run besides its View.
type Source interface {
	// Function makes the relevance function of that name from the replica's models.
	Function(name string) (*relevance.Model, error)
	// Learned says whether the replica has everything that the function needs.
	Learned(name string) bool
	// NewModel makes a model of the function that is not the run's.
	NewModel(name string) (*relevance.Model, error)
	// Owed is how many units of work a model has to do before it can score: updates that
	// it missed, or transitions of so many to count.
	Owed(name string, rows int) int
	// NextRefit is the env step of the refit under way, or else of the next one.
	NextRefit() int
	// RefitTakes is the time of a refit with the function of that name, of which F of a row and a
	// unit of work that its model owes take that long, or as long as in the run if they are 0;
	// 0: unknown.
	RefitTakes(name string, row, unit time.Duration) time.Duration
	Now() time.Time
	// Show shows what was found so far; more of it follows.
	Show()
}

// preview is a preview under way. It reads the run and writes only to itself; nothing in
// a run depends on its progress.
type preview struct {
	View
	Source
	*event.Previewed
	knob     knob.Knob
	occasion uint64
	settings knob.Settings // with the previewed value
	yield    func() error

	f         *relevance.Model // of the histograms
	real, syn []float32
	strip     *strip
	doses     []knob.Value // that rows are made with, what is asked first
}

// Preview shows in out how a value of a knob would change generated transitions. out is
// complete when the sequence has ended; an error says why there is no answer. occasion
// numbers the previews of a run from 1: each has random numbers of its own. kept holds what previews
// of the same generator have made.
func Preview(v View, s Source, k knob.Knob, value knob.Value, occasion uint64, kept *Strips, out *event.Previewed) (Pieces, error) {
	out.Value = k.Format(value)
	p := &preview{View: v, Source: s, Previewed: out, knob: k, occasion: occasion, settings: v.Settings}
	p.doses = dosesOf(k, k.Get(&v.Settings), value)
	k.Set(&p.settings, value)
	p.strip = kept.of(k, &p.settings, occasion)
	work, err := p.plan(k)
	if err != nil {
		return nil, err
	}
	return InPieces(func(yield func() error) error {
		p.yield = yield
		return work()
	}), nil
}

// Unknown returns a Previewed without any results.
func Unknown() event.Previewed {
	return event.Previewed{RankCorrelation: math.NaN(), TopOverlap: math.NaN()}
}

// plan checks whether there can be an answer and returns the work that finds it.
func (p *preview) plan(k knob.Knob) (work func() error, err error) {
	now, then := p.View.Settings.Relevance, p.settings.Relevance
	switch {
	case !k.Previewable:
		return nil, fmt.Errorf("%s does not change what the present generator makes: %s can be previewed", k.Name, previewable())
	case k.Name == "relevance" && p.lacks(then) != "":
		p.Relevance = then
		return func() error { return p.price(p.lacks(then)) }, nil
	case k.Name == "relevance":
		p.sayReady(then)
	case k.Use&knob.UsePrompts != 0 && now == none:
		return nil, fmt.Errorf("%s has no effect while relevance is none", k.Name)
	case !p.Fitted && p.NextRefit() == p.Step:
		return nil, errors.New("the first generator is being fitted: there is a preview when it is done")
	case !p.Fitted:
		return nil, fmt.Errorf("no generator is fitted before step %s", knob.FormatCount(p.NextRefit()))
	}
	if p.View.Real.Len() == 0 {
		return nil, errors.New("there are no transitions yet")
	}
	p.Relevance = then
	if then == none {
		p.Relevance = now // the preview shows the old F without a condition
	}
	if p.Relevance != none {
		if p.f, err = p.function(p.Relevance); err != nil {
			return nil, err
		}
	}
	return p.make, nil
}

// lacks is the first function of those that F of that name needs which has not learned; "" if all have.
// A formula itself is measured for the preview.
func (p *preview) lacks(name string) string {
	for _, need := range relevance.Named(name) {
		if need != none && !p.Source.Learned(need) {
			return need
		}
	}
	return ""
}

// function returns the run's function of that name, or a formula that is not measured yet.
func (p *preview) function(name string) (*relevance.Model, error) {
	if relevance.IsFormula(name) && !p.Source.Learned(name) {
		return p.NewModel(name)
	}
	return p.Function(name)
}

// measure measures a formula that is not the run's on a sample of the real transitions.
func (p *preview) measure() error {
	whole := p.f.Whole
	if whole == nil || whole.Measured() {
		return nil
	}
	some := p.View.Real.Spread(p.f.AtOnce(ScoreRows))
	p.View.Real.Gather(p.Scratch, 0, some)
	if !p.f.CanScore(p.Scratch, len(some)) {
		return nil
	}
	for pass := range whole.Passes() {
		whole.BeginPass(pass)
		if err := whole.Observe(pass, p.Scratch, len(some)); err != nil {
			return err
		}
		whole.EndPass(pass)
	}
	return p.yield()
}

// previewable names the knobs that can be previewed.
func previewable() string {
	var names []string
	for _, k := range knob.All() {
		if k.Previewable {
			names = append(names, k.Name)
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// make scores real and synthetic transitions, generates a few with the previewed value, and
// compares them.
func (p *preview) make() error {
	if p.f != nil {
		if err := p.measure(); err != nil {
			return err
		}
		if err := p.score(); err != nil {
			return err
		}
	}
	if !p.Fitted {
		return p.describe(nil)
	}
	return p.fill(func() error { return p.describe(p.strip.made[p.Value].rows) })
}

// score computes F of samples of real and of synthetic transitions.
func (p *preview) score() (err error) {
	now, intn := p.View.Settings.Relevance, p.Stream.At(p.occasion).IntN
	rows := min(p.f.AtOnce(SampleRows), p.F.AtOnce(SampleRows))
	if now == p.Relevance && now == p.Scored.Of {
		p.real = p.Scored.F // what the prompts come from, as after the last refit
	} else if known, err := p.scoreReal(sampleSlots(p.View.Real, rows, intn)); err != nil {
		return err
	} else if !known {
		return p.yield()
	}
	if err := p.yield(); err != nil || !p.hasSynthetic() {
		return err
	}
	if p.syn, err = p.scoresOf(p.f, p.Syn, sampleSlots(p.Syn, rows, intn)); err != nil {
		return err
	}
	return p.yield()
}

// scoreReal computes F of some real transitions, and compares it with that of the present function
// if it is another one. known says whether both have values.
func (p *preview) scoreReal(slots []int) (known bool, err error) {
	now, begin := p.View.Settings.Relevance, p.Now()
	if p.real, err = p.scoresOf(p.f, p.View.Real, slots); err != nil || p.real == nil {
		return false, err
	}
	if err := p.describeTerms(len(slots)); err != nil {
		return false, err
	}
	p.timeFrames(p.f, p.Now().Sub(begin), len(slots))
	if p.Relevance == now || now == none {
		return true, nil
	}
	old, err := p.scoresOf(p.F, p.View.Real, slots)
	if err != nil || old == nil {
		return false, err
	}
	p.RankCorrelation = analysis.Spearman(old, p.real)
	p.TopOverlap = analysis.TopOverlap(old, p.real, p.settings.TopFraction)
	return true, nil
}

// describeTerms makes a histogram of each term of a formula over the rows that were scored just now.
func (p *preview) describeTerms(rows int) error {
	terms, err := termsOf(p.f, p.Scratch, rows)
	for _, t := range terms {
		p.Previewed.Terms = append(p.Previewed.Terms, event.PreviewedTerm{Term: t.Text, Values: histogram(t.Values, analysis.BodyEdges(bins, t.Values))})
	}
	return err
}

// describe makes the histograms, with one of generated rows.
func (p *preview) describe(rows []float32) error {
	if p.real == nil {
		return nil
	}
	made, err := p.relevanceOf(rows)
	if err != nil {
		return err
	}
	edges := analysis.BodyEdges(bins, p.real, p.syn, made)
	p.Previewed.Real = histogram(p.real, edges)
	if p.syn != nil {
		p.Synthetic = histogram(p.syn, edges)
	}
	if made != nil {
		p.Preview = histogram(made, edges)
	}
	return nil
}

// relevanceOf is F of generated rows; nil: it has no value for them.
func (p *preview) relevanceOf(rows []float32) ([]float32, error) {
	shape := p.View.Real.Shape()
	n := len(rows) / shape.Width()
	if p.f == nil || n == 0 {
		return nil, nil
	}
	batch := replay.NewBatch(shape, n)
	for i := range n {
		batch.Put(i, shape, rows[i*shape.Width():])
	}
	if !p.f.CanScore(batch, n) {
		return nil, nil // generated transitions have no frames, and no episode met them
	}
	made := make([]float32, n)
	return made, p.f.Score(made, batch, n)
}

package replica

import (
	"fmt"
	"math"
	"slices"

	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

// Synthesis makes D_syn from D_real: scores, a fit of the generator to them, a generation.
type Synthesis struct {
	of    *Replica
	Fresh *replay.Ring // the D_syn of the generation under way; nil: there is none
	// Spec and FreshSpec say how Kept and Fresh are made; nil if KeepSpec was not called for them.
	Spec, FreshSpec *RebuildSpec

	Fit    inspect.FitLoss
	Scored inspect.Scored // what the generator was fitted to

	scorer    *relevance.Model // F when scoring began
	scores    []float32        // F of every real transition
	generated bool             // Fresh is complete
	inForce   int              // rows of Fresh in D_syn, which is mixed then; 0: none
	share     float64          // see Share
	before    *replay.Ring     // what D_syn was before that; nil: it is not mixed
}

// StartScoring binds the relevance function, which has that name, for Score: a function that is
// chosen later is for the next refit. Afterwards there is room for the score of every transition
// in D_real, each of them 0, so that a checkpoint has none of an earlier refit. Of the updates that
// the function's model missed only those count that it owes.
func (o *Synthesis) StartScoring(name string) {
	r := o.of
	r.Functions.forget(name)
	o.scorer, o.scores = r.F, resized(o.scores, r.Real.Len())
	clear(o.scores)
}

// Bound returns the name of the relevance function that StartScoring has bound.
func (o *Synthesis) Bound() string { return o.scorer.Name() }

// mostUnjudged is the share of D_real's rows whose F may be unknown in a fit with conditions. Rows
// with a reward that a learner keeps from before the first round are fewer.
const mostUnjudged = 0.1

// CanScore returns an error if the function of that name, which is built, cannot give F of D_real:
// one that learns in rounds cannot before the first, nor until most rows were met after it, and one of
// the generator's models cannot before the first fit.
func (o *Synthesis) CanScore(name string) error {
	r := o.of
	m := r.Functions.built[name]
	if m != nil && m.Known != nil && !m.Known() {
		return fmt.Errorf("relevance %s is of the generator's models, which are fitted for the first time", name)
	}
	if m == nil || m.Rounds == nil {
		return nil
	}
	if !m.Rounds.Learned() {
		return fmt.Errorf("relevance %s has learned nothing yet", name)
	}
	unjudged, rows := 0, r.Real.Len()
	for i := range rows {
		if math.IsNaN(float64(r.Real.Note(i).F)) {
			unjudged++
		}
	}
	if float64(unjudged) > mostUnjudged*float64(rows) {
		return fmt.Errorf("%d of %d rows of D_real were met before relevance %s could judge them", unjudged, rows, name)
	}
	return nil
}

// ScoreSlice is how many of rows transitions Score takes at a time.
func (o *Synthesis) ScoreSlice(rows int) int {
	return min(rows, o.scorer.AtOnce(inspect.ScoreRows))
}

// Score scores n transitions of D_real from slot first on, at most ScoreSlice. A function that has to
// look at transitions before is shown a slice of them, from all of D_real, before the first ones.
func (o *Synthesis) Score(first, n int) error {
	r := o.of
	if o.scorer.Begin != nil && first == 0 {
		some := r.Real.Spread(o.ScoreSlice(r.Real.Len()))
		r.Real.Gather(r.scratch, 0, some)
		if err := o.scorer.Begin(r.scratch, len(some)); err != nil {
			return err
		}
	}
	r.Real.GatherRange(r.scratch, first, n)
	return o.scorer.Score(o.scores[first:first+n], r.scratch, n)
}

// Finite returns an error if F of some real transitions is not finite, of a function that says so only
// when all are scored.
func (o *Synthesis) Finite() error {
	r := o.of
	return o.scorer.Finite(o.scores, knob.FormatCount, func(i int) (*replay.Batch, int) {
		r.Real.GatherRange(r.scratch, i, 1)
		return r.scratch, 0
	})
}

// Scores returns F of every transition in D_real, in the order of its slots, as far as they are
// scored; bound says whether StartScoring was called.
func (o *Synthesis) Scores() (f []float32, bound bool) { return o.scores, o.scorer != nil }

// ScoreRing writes f of all rows of a ring to dst. It calls yield after every slice; an error of
// yield ends it.
func (r *Replica) ScoreRing(dst []float32, f relevance.Function, rows *replay.Ring, yield func() error) error {
	for first := 0; first < rows.Len(); first += inspect.ScoreRows {
		n := min(inspect.ScoreRows, rows.Len()-first)
		rows.GatherRange(r.scratch, first, n)
		if err := f.Score(dst[first:first+n], r.scratch, n); err != nil {
			return err
		}
		if err := yield(); err != nil {
			return err
		}
	}
	return nil
}

// StartFit begins a fit of the generator to D_real (line 5 of Algorithm 1), with the
// conditions that follow from the scores, which it completes in place (see relevance.Model); nil:
// without conditions.
func (o *Synthesis) StartFit(scores []float32, knobs generative.FitKnobs, refit uint64) error {
	r := o.of
	scores = o.scorer.Judge(scores, r.Real.Note)
	o.Fit = inspect.FitLoss{Steps: knobs.Steps}
	return r.Generator.StartFit(r.Real, scores, knobs, refit)
}

// FitSteps makes n gradient steps of the fit after the first done ones. A fit that has ended
// makes no more: cohorts go in lockstep.
func (o *Synthesis) FitSteps(done, n int) (ended bool, err error) {
	r := o.of
	if o.Fit.Ended {
		return true, nil
	}
	loss, ended, err := r.Generator.FitSteps(n)
	if err != nil {
		return false, err
	}
	o.Fit.Add(done, n, loss)
	if ended {
		o.Fit.End(done + n)
	}
	return ended, nil
}

// StartGenerate begins a generation (line 6 of Algorithm 1). D_syn stays as it is until
// FinishGeneration.
func (o *Synthesis) StartGenerate(knobs generative.GenKnobs, occasion uint64) error {
	r := o.of
	o.Fresh, o.generated = replay.NewRing(r.Real.Shape(), max(1, min(knobs.Samples, r.Config.Buffer))), false
	if r.Parts.Explores {
		o.Fresh.Annotate()
	}
	return r.Generator.StartGenerate(knobs, occasion)
}

// GenerateSlice makes a slice of calls of the generator; total is how many there are. A generation that
// has made all its transitions makes no more calls.
func (o *Synthesis) GenerateSlice() (calls int, complete bool, total int, err error) {
	r := o.of
	if o.generated {
		return 0, true, 0, nil
	}
	rows, done, total, err := r.Generator.GenerateSlice()
	if err != nil {
		return 0, false, 0, err
	}
	if err := o.add(rows); err != nil {
		return 0, false, 0, err
	}
	o.generated = done == total
	return generative.CallsMade(r.Generator), o.generated, total, nil
}

// add adds generated rows, with F in their notes if the learner learns from it: that of the function
// which was bound for the latest fit, as its paper defines it.
func (o *Synthesis) add(rows []float32) error {
	r := o.of
	if !r.Parts.Explores {
		o.Fresh.AddRows(rows)
		return nil
	}
	shape := r.Real.Shape()
	for width := shape.Width(); len(rows) > 0; {
		n := min(len(rows)/width, o.scorer.AtOnce(r.scratch.Size))
		clear(r.scratch.Notes)
		for i := range n {
			r.scratch.Put(i, shape, rows[i*width:(i+1)*width])
		}
		r.curious = resized(r.curious, n)
		if err := o.scorer.Score(r.curious, r.scratch, n); err != nil {
			return err
		}
		for i, f := range r.curious {
			o.Fresh.AddNoted(rows[i*width:(i+1)*width], replay.Note{F: float32(o.scorer.Scale) * f})
		}
		rows = rows[n*width:]
	}
	return nil
}

// Cancel abandons what the generator has under way. D_syn stays as it is.
func (o *Synthesis) Cancel() {
	r := o.of
	r.Generator.Cancel()
	o.Fresh, o.FreshSpec = nil, nil
	o.stop()
}

// FinishGeneration makes the generated transitions the new D_syn.
func (o *Synthesis) FinishGeneration() {
	r := o.of
	o.stop()
	r.Synthetic, o.Fresh, o.share = o.retain(), nil, 0
	o.Spec, o.FreshSpec = o.FreshSpec, nil
}

// Describe adds to the line of the completed generation what a generator says of its model and of its
// rollouts; of the model only if it was fitted for that generation.
func (o *Synthesis) Describe(line *event.Refit, fitted bool) {
	m, n, is := generative.Rolled(o.of.Generator)
	if !is {
		return
	}
	line.Rollouts = &event.Rollouts{Horizon: int(n.Horizon), Begun: int(n.Begun), Rows: int(n.Rows), Ended: int(n.Ended), Dropped: int(n.Dropped)}
	if !fitted {
		return
	}
	line.Ensemble = &event.Ensemble{Constant: run.Float(m.Constant), Elites: m.Elites}
	for _, e := range m.Errors {
		line.Ensemble.HeldOut = append(line.Ensemble.HeldOut, run.Float(e))
	}
}

// Relevances compares F of the completed generation with what the generator was fitted to; v is the
// replica as it is now, with the prompts of that generation. It is called before FinishGeneration.
func (o *Synthesis) Relevances(v inspect.View) (_ *event.RefitF, err error) {
	r := o.of
	if o.Scored.Of == "" {
		return nil, nil
	}
	if v.F, err = r.Functions.Function(o.Scored.Of); err != nil {
		return nil, err
	}
	v.Syn, v.Mixed = o.Fresh, 0
	return inspect.Relevances(v)
}

// retain returns the D_syn that follows from the completed generation: that generation alone, or
// after the earlier ones that the run still keeps.
func (o *Synthesis) retain() *replay.Ring {
	r := o.of
	kept := r.Config.Generator.Generations()
	if kept == 1 {
		r.Generations = []int{o.Fresh.Len()}
		return o.Fresh
	}
	earlier := r.Generations
	earlier = earlier[max(0, len(earlier)-(kept-1)):]
	rows := 0
	for _, n := range earlier {
		rows += n
	}
	all := replay.NewRing(r.Real.Shape(), max(1, min(max(kept*o.Fresh.Cap(), rows+o.Fresh.Len()), r.Config.Buffer)))
	if r.Parts.Explores {
		all.Annotate()
	}
	add := func(from *replay.Ring, newest int) {
		for _, slot := range from.Oldest(from.Len()-newest, newest) {
			all.AddFrom(from, slot)
		}
	}
	if r.Synthetic != nil {
		add(r.Synthetic, min(rows, r.Synthetic.Len())) // the buffer may have had no room for the oldest
	}
	add(o.Fresh, o.Fresh.Len())
	r.Generations = append(slices.Clone(earlier), o.Fresh.Len())
	return all
}

func resized(x []float32, n int) []float32 {
	if cap(x) < n {
		return make([]float32, n)
	}
	return x[:n]
}

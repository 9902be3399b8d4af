package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

// scoreRows is a slice of scoring.
const scoreRows = inspect.ScoreRows

// updateRelevance scores every real transition with F, for the fit that follows.
// Members go in lockstep; all hold equally many transitions. A model that missed
// updates while another F was chosen makes up for some of them first, and pseudo-counts
// see all transitions first; that counts as units of the phase.
func (x *experiment) updateRelevance(ctx context.Context) error {
	if x.entersAt(knob.Fit) {
		return nil // the scores have been taken
	}
	rows, owed := x.first().real.Len(), -1
	first := x.enter(knob.Score)
	if first > 0 {
		owed = x.total - rows
	}
	for done := first; owed < 0 || done < owed+rows; {
		if err := x.settle(ctx, knob.At(x.Step, knob.Score, done)); err != nil {
			return err
		}
		if x.abandoned() {
			x.unbind()
			return nil
		}
		if owed < 0 {
			owed = x.startScoring(rows)
			if !x.scored {
				return nil
			}
		}
		n, err := x.scoreSlice(done, owed, rows)
		if err != nil {
			return err
		}
		done += n
	}
	return nil
}

// startScoring binds the relevance function: a change from here on is for the next
// refit. It returns the units of work that the function's model has to do first.
func (x *experiment) startScoring(rows int) (owed int) {
	x.bind(boundScoring)
	name := x.Settings.Relevance
	x.scored = name != relevanceNone
	owed = x.owed(x.first(), name)
	x.total = owed + rows
	for _, m := range x.members {
		if slices.Contains(trainedModels, name) {
			m.stateOf(name).Missed = 0
		}
		m.scorer, m.scores = m.f, resized(m.scores, rows)
	}
	return owed
}

// scoreSlice does the units from done on; it returns how many.
func (x *experiment) scoreSlice(done, owed, rows int) (n int, err error) {
	defer x.meter.measure(knob.Score, &n)()
	if done < owed {
		return x.warm(done, owed)
	}
	first := done - owed
	n = min(scoreRows, rows-first)
	for _, m := range x.members {
		m.real.GatherRange(m.scoring, first, n)
		if err := m.scorer.Score(m.scores[first:first+n], m.scoring, n); err != nil {
			return 0, err
		}
	}
	return n, nil
}

func resized(x []float32, n int) []float32 {
	if cap(x) < n {
		return make([]float32, n)
	}
	return x[:n]
}

// fitModel fits a new generator to the real transitions, in slices. Without
// relevance it is fitted without conditions.
func (x *experiment) fitModel(ctx context.Context) error {
	if x.abandoned() {
		return nil
	}
	for done, complete := x.enter(knob.Fit), false; !complete; {
		if err := x.settle(ctx, knob.At(x.Step, knob.Fit, done)); err != nil {
			return err
		}
		if x.abandoned() {
			x.cancel()
			return nil
		}
		if done == 0 {
			if err := x.startFit(); err != nil {
				return err
			}
		}
		n, all, err := x.fitSlice(done)
		if err != nil {
			return err
		}
		done, complete = done+n, all
	}
	x.Fitted, x.fitted = true, true
	x.Asked.Known = false
	x.todo = workGeneration
	x.reached(stageFitted)
	x.restartPreview()
	return nil
}

func (x *experiment) startFit() error {
	x.bind(boundFitting)
	s := &x.Settings
	knobs := generative.FitKnobs{Steps: s.GeneratorSteps, LR: s.LRGenerator, PUncond: s.PUncond}
	x.total = knobs.Steps
	for _, m := range x.members {
		m.fit = inspect.FitLoss{Steps: knobs.Steps}
		scores := m.scores
		if !x.scored {
			scores = nil
		}
		if err := m.gen.StartFit(m.real, scores, knobs, x.Refits); err != nil {
			return err
		}
	}
	x.Refits++
	return nil
}

// fitSlice makes gradient steps from done on.
func (x *experiment) fitSlice(done int) (n int, complete bool, err error) {
	defer x.meter.measure(knob.Fit, &n)()
	if n = min(x.slice, x.total-done); n < 1 {
		return 0, false, fmt.Errorf("the generator's fit goes on behind its %d steps", x.total)
	}
	for _, m := range x.members {
		var loss float64
		if loss, complete, err = m.gen.FitSteps(n); err != nil {
			return 0, false, x.abandon(m, "fit model", err)
		}
		m.fit.Add(done, n, loss)
	}
	return n, complete, nil
}

// cancel abandons what the generators have under way. D_syn stays as it is.
func (x *experiment) cancel() {
	for _, m := range x.members {
		m.gen.Cancel()
		m.fresh, m.freshRecipe = nil, nil
	}
	x.unbind()
}

// generate makes D_syn anew, one network call at a time. The old D_syn stays until
// the new one is complete. The observation that the member's next action answers
// is not touched: the authors' loop overwrites it here with the last synthetic
// one (renwang435/pgr: synther/online/online_cond.py).
// Before the new one comes into force it is described; the positions of that count
// on behind the last network call.
func (x *experiment) generate(ctx context.Context) error {
	first := x.enter(knob.Generate)
	done, complete := first, first > 0 && first > x.total-x.describing()
	if complete { // it was saved while it was described
		done = x.total - x.describing()
		if err := x.settle(ctx, knob.At(x.Step, knob.Generate, first)); err != nil {
			return err
		}
		if x.abandoned() {
			x.cancel()
			return nil
		}
	}
	for !complete {
		if err := x.settle(ctx, knob.At(x.Step, knob.Generate, done)); err != nil {
			return err
		}
		if x.abandoned() {
			x.cancel()
			return nil
		}
		if done == 0 {
			if err := x.startGenerate(); err != nil {
				return err
			}
		}
		n, all, err := x.generateSlice()
		if err != nil {
			return err
		}
		if done, complete = done+n, all; all {
			x.meter.generated()
		}
	}
	found, err := x.describeGeneration(ctx, first, done)
	if errors.Is(err, errAbandoned) {
		x.cancel()
		return nil
	}
	if err != nil {
		return err
	}
	return x.finishGeneration(found)
}

func (x *experiment) startGenerate() error {
	x.bind(boundGenerating)
	knobs := inspect.Generation(&x.Settings)
	x.Generating = knobs
	x.meter.generation(knobs)
	x.total = 0
	for _, m := range x.members {
		m.fresh = replay.NewRing(m.real.Shape(), max(1, min(knobs.Samples, x.config.Buffer)))
		var err error
		if m.freshRecipe, err = x.writeDown(m, knobs); err != nil {
			return err
		}
		if err := m.gen.StartGenerate(knobs, x.Generations); err != nil {
			return err
		}
	}
	x.Generations++
	return nil
}

func (x *experiment) generateSlice() (n int, complete bool, err error) {
	n = 1
	defer x.meter.measure(knob.Generate, &n)()
	for _, m := range x.members {
		rows, done, total, err := m.gen.GenerateSlice()
		if err != nil {
			return 0, false, x.abandon(m, "generate", err)
		}
		m.fresh.AddRows(rows)
		x.total = total + x.describing()
		complete = done == total
	}
	return n, complete, nil
}

// finishGeneration puts the new transitions into force and writes the lines.
func (x *experiment) finishGeneration(found []*event.Generated) error {
	x.Asked = inspect.Prompts{Knobs: x.Generating, Occasion: x.Generations - 1, Known: true}
	for i, m := range x.members {
		m.synthetic, m.fresh = m.fresh, nil
		m.recipe, m.freshRecipe = m.freshRecipe, nil
		r, err := inspect.Compare(x.view(m), m.streams.histogram.At(x.Generations).IntN)
		if err != nil {
			return err
		}
		m.freal, m.fsyn, m.fasked = r.Real, r.Synthetic, r.Asked
		line := event.Refit{Generated: m.synthetic.Len(), Obs: event.RefitObs{Seconds: run.Float(x.meter.spent().Seconds())}}
		if x.fitted {
			line.Loss, line.Steps = m.fit.Mean(), m.fit.Steps
		}
		x.emit(event.TypeRefit, m.index, line)
		if found[i] != nil {
			x.emit(event.TypeGenerated, m.index, *found[i])
		}
	}
	x.todo = workNone
	x.reached(stageGenerated)
	x.publish(time.Time{})
	return nil
}

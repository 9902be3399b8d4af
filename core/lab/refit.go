package lab

import (
	"fmt"
	"slices"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
	"pgrlab/core/redo"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

// scoreRows is a slice of scoring.
const scoreRows = inspect.ScoreRows

// updateRelevance scores every real transition with F, for the fit that follows.
// Members go in lockstep; all hold equally many transitions. A model that missed
// updates while another F was chosen makes up for some of them first, and pseudo-counts
// see all transitions first; that counts as units of the phase.
func (x *experiment) updateRelevance() phase {
	return phase{
		Phase: knob.Score, doing: "update relevance",
		due: func() bool { return x.changes.Todo() == knob.ClassRefit },
		slice: func(done int) (n int, complete bool, err error) {
			rows := x.first().real.Len()
			if rows == 0 {
				return 0, false, fmt.Errorf("the learner has filled D_real with nothing to fit the generator to")
			}
			if done == 0 {
				if x.startScoring(rows); !x.scored {
					return 0, true, nil
				}
			}
			n, err = x.scoreSlice(done, x.total-rows, rows)
			return n, done+n >= x.total, err
		},
		cancel: x.changes.SendBack,
		end:    func() error { return nil },
	}
}

// startScoring binds the relevance function: a change from here on is for the next
// refit.
func (x *experiment) startScoring(rows int) {
	x.changes.Begins(redo.Scoring)
	name := x.Settings.Relevance
	x.scored = name != relevance.None
	x.total = x.owed(x.first(), name) + rows
	for _, m := range x.members {
		if slices.Contains(trainedModels, name) {
			m.stateOf(name).Missed = 0
		}
		m.scorer, m.scores = m.f, resized(m.scores, rows)
	}
}

// scoreSlice does the units from done on, of which the model owes the first; it returns
// how many.
func (x *experiment) scoreSlice(done, owed, rows int) (n int, err error) {
	defer x.meter.Measure(knob.Score, &n)()
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

// fitModel fits a new generator to the real transitions. Without relevance it is fitted
// without conditions.
func (x *experiment) fitModel() phase {
	return phase{
		Phase: knob.Fit, doing: "fit model",
		due: func() bool { return x.changes.Todo() == knob.ClassRefit },
		slice: func(done int) (n int, complete bool, err error) {
			if done == 0 {
				if err := x.startFit(); err != nil {
					return 0, false, err
				}
			}
			return x.fitSlice(done)
		},
		cancel: x.cancel,
		end: func() error {
			x.Fitted, x.fitted = true, true
			x.Asked.Known = false
			x.changes.EndFit()
			x.restartPreview()
			return nil
		},
	}
}

func (x *experiment) startFit() error {
	x.changes.Begins(redo.Fitting)
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

// fitSlice makes gradient steps from done on. A member whose fit has ended waits for the
// others.
func (x *experiment) fitSlice(done int) (n int, complete bool, err error) {
	defer x.meter.Measure(knob.Fit, &n)()
	if n = min(x.slice, x.total-done); n < 1 {
		return 0, false, fmt.Errorf("the generator's fit goes on behind its %d steps", x.total)
	}
	complete = true
	for _, m := range x.members {
		if m.fit.Ended {
			continue
		}
		loss, ended, err := m.gen.FitSteps(n)
		if err != nil {
			return 0, false, x.abandon(m, "fit model", err)
		}
		m.fit.Add(done, n, loss)
		if ended {
			m.fit.End(done + n)
		}
		complete = complete && ended
	}
	return n, complete, nil
}

// cancel abandons what the generators have under way. D_syn stays as it is.
func (x *experiment) cancel() {
	for _, m := range x.members {
		m.gen.Cancel()
		m.fresh, m.freshRebuild = nil, nil
	}
	x.changes.SendBack()
}

// generate makes D_syn anew, one network call at a time. The old D_syn stays until
// the new one is complete. The observation that the member's next action answers
// is not touched: the authors' loop overwrites it here with the last synthetic
// one (renwang435/pgr: synther/online/online_cond.py).
// Before the new one comes into force it is described, in pieces.
func (x *experiment) generate() phase {
	var found []*event.Generated
	return phase{
		Phase: knob.Generate, doing: "generate",
		due: func() bool { return x.changes.Todo() == knob.ClassGeneration },
		slice: func(done int) (n int, complete bool, err error) {
			if done == 0 {
				if err := x.startGenerate(); err != nil {
					return 0, false, err
				}
			}
			if n, complete, err = x.generateSlice(); complete {
				x.meter.Generated()
				x.Analysing = x.Settings
			}
			return n, complete, err
		},
		pieces: func() inspect.Pieces {
			found = make([]*event.Generated, len(x.members))
			return x.describeGeneration(found)
		},
		behind: func() int { return x.total - x.describing() },
		cancel: x.cancel,
		end:    func() error { return x.finishGeneration(found) },
	}
}

func (x *experiment) startGenerate() error {
	x.changes.Begins(redo.Generating)
	knobs := x.Settings.Generation()
	x.Generating = knobs
	x.meter.Generation(knobs)
	x.total = 0
	for _, m := range x.members {
		m.fresh, m.generated = replay.NewRing(m.real.Shape(), max(1, min(knobs.Samples, x.config.Buffer))), false
		var err error
		if m.freshRebuild, err = x.rebuildOf(m, knobs); err != nil {
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
	n, complete = 1, true
	defer x.meter.Measure(knob.Generate, &n)()
	for _, m := range x.members {
		if m.generated {
			continue
		}
		rows, done, total, err := m.gen.GenerateSlice()
		if err != nil {
			return 0, false, x.abandon(m, "generate", err)
		}
		m.fresh.AddRows(rows)
		x.total = max(x.total, total+x.describing())
		m.generated = done == total
		complete = complete && m.generated
	}
	return n, complete, nil
}

// finishGeneration puts the new transitions into force and writes the lines.
func (x *experiment) finishGeneration(found []*event.Generated) error {
	x.Asked = inspect.Prompts{Knobs: x.Generating, Occasion: x.Generations - 1, Known: x.config.Generator.Generations() == 1}
	for i, m := range x.members {
		m.synthetic, m.fresh = x.retain(m), nil
		m.rebuild, m.freshRebuild = m.freshRebuild, nil
		r, err := inspect.Compare(x.view(m), m.streams.histogram.At(x.Generations).IntN)
		if err != nil {
			return err
		}
		m.freal, m.fsyn, m.fasked = r.Real, r.Synthetic, r.Asked
		line := event.Refit{Generated: m.synthetic.Len(), Obs: event.RefitObs{Seconds: run.Float(x.meter.Spent().Seconds())}}
		if x.fitted {
			line.Loss, line.Steps = m.fit.Mean(), m.fit.Steps
		}
		x.emit(event.TypeRefit, m.index, line)
		if found[i] != nil {
			x.emit(event.TypeGenerated, m.index, *found[i])
		}
	}
	x.changes.EndGeneration()
	x.publish(time.Time{})
	return nil
}

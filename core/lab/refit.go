package lab

import (
	"fmt"
	"slices"

	"pgrlab/core/cost"
	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
	"pgrlab/core/redo"
	"pgrlab/core/relevance"
	"pgrlab/core/replica"
)

// refit does lines 3, 5 and 6 of Algorithm 1: F of every real transition, a generator that is
// fitted to them, and a D_syn made with it. It changes the members' generators, scores and
// D_syn; changes says what of this an env step has to do.
type refit struct {
	common
	settings *knob.Settings
	changes  *redo.Changes
	made     *synthesis
	views    *views
	asides   *asides
	members  []*replica.Replica
	each     eachMember // side by side for some members

	lean     func() bool                                     // checkpoints hold only the recipe of D_syn
	diverged func(member int, doing string, err error) error // handles the error of a number that is not finite

	slice  int  // generator steps of a slice
	scored bool // the fit of the present env step has scores
	fitted bool // a fit was completed in the present env step
}

// updateRelevance scores every real transition with F, for the fit that follows.
// Members go in lockstep; one with fewer transitions than the others waits for them. A model
// that missed updates while another F was chosen makes up for some of them first, and
// pseudo-counts see all transitions first; that counts as units of the phase.
func (f *refit) updateRelevance() phase {
	return phase{
		Phase: knob.Score, doing: doingScores,
		due: func() bool { return f.changes.Todo() == knob.ClassRefit },
		slice: func(done int) (n int, complete bool, err error) {
			least, rows := realRows(f.members)
			if done == 0 {
				if least < leastRows {
					f.skip(least)
					return 0, true, nil
				}
				if f.startScoring(rows); !f.scored {
					return 0, true, nil
				}
			}
			n, err = f.scoreSlice(done, f.place.total-rows, rows)
			return n, done+n >= f.place.total && !f.changes.Abandoned(), err
		},
		cancel: f.changes.SendBack,
		end:    func() error { return nil },
	}
}

// leastRows is the number of transitions to which a generator is fitted at least: normalisers need
// more than one for a deviation.
const leastRows = 2

// skip drops a refit that comes before there is enough to fit to: rows that span several env
// steps, or that a learner makes, are fewer than the steps. Its changes wait for the next one.
func (f *refit) skip(least int) {
	f.changes.Abandon()
	text := fmt.Sprintf("D_real holds %d of the %d transitions that a fit needs: this refit is left out", least, leastRows)
	f.journal.emit(event.TypeNote, event.NoMember, event.Noted{Text: text})
}

// realRows returns how many transitions members hold, at least and at most. Where rows are made of
// several env steps, episodes that end at different times make them differ.
func realRows(members []*replica.Replica) (least, most int) {
	least = members[0].Real.Len()
	for _, m := range members {
		least, most = min(least, m.Real.Len()), max(most, m.Real.Len())
	}
	return least, most
}

// startScoring binds the relevance function: a later change affects the next refit.
func (f *refit) startScoring(rows int) {
	name := f.settings.Relevance
	f.scored = name != relevance.None && f.known(name)
	f.begins(name)(redo.Scoring)
	owed := 0
	for _, m := range f.members {
		owed = max(owed, m.Functions.Owed(name, rows))
		m.Synthesis.StartScoring(name)
	}
	f.place.total = owed + rows
}

// begins notifies the changes of a stage that fits or asks by the F of that name: changes of F go on
// waiting if the fit is without conditions all the same.
func (f *refit) begins(name string) func(redo.Stage) {
	if name != relevance.None && !f.scored {
		return f.changes.BeginsWithoutF
	}
	return f.changes.Begins
}

// known says whether F of D_real is known. An F that learns from episodes is not known before
// every member has learned from some and has judged D_real; the generator is then fitted without
// conditions, and a line says so.
func (f *refit) known(name string) bool {
	known := true
	for _, m := range f.members {
		if err := m.Synthesis.CanScore(name); err != nil {
			known = false
			f.journal.emit(event.TypeNote, m.Index, event.Noted{Text: err.Error() + ": this fit is without conditions"})
		}
	}
	return known
}

// scoreSlice does some units from done on and returns how many. The first owed units are updates
// or counts that the model owes; the others are transitions to score, of which the members have
// at most rows.
func (f *refit) scoreSlice(done, owed, rows int) (n int, err error) {
	if done < owed {
		defer f.meter.MeasureWarming(f.members[0].Synthesis.Bound(), &n)()
		made := make([]int, len(f.members))
		m, err := f.each(knob.Score, func(m *replica.Replica) (err error) {
			made[m.Index], err = m.Functions.Warm(m.Synthesis.Bound(), done, owed, rows)
			return err
		})
		n = slices.Max(made)
		return n, f.abandonIf(m, doingScores, err)
	}
	defer f.meter.MeasureScoring(f.members[0].Synthesis.Bound(), &n)()
	first := done - owed
	n = f.members[0].Synthesis.ScoreSlice(rows - first)
	m, err := f.each(knob.Score, func(m *replica.Replica) error {
		if left := m.Real.Len() - first; left > 0 {
			if err := m.Synthesis.Score(first, min(n, left)); err != nil {
				return err
			}
		}
		if first+n < rows {
			return nil
		}
		return m.Synthesis.Finite()
	})
	return n, f.abandonIf(m, doingScores, err)
}

// fitModel fits a new generator to the real transitions. Without relevance it is fitted
// without conditions.
func (f *refit) fitModel() phase {
	return phase{
		Phase: knob.Fit, doing: doingFit,
		due: func() bool { return f.changes.Todo() == knob.ClassRefit },
		slice: func(done int) (n int, complete bool, err error) {
			if done == 0 {
				if err := f.startFit(); err != nil || f.changes.Abandoned() {
					return 0, false, err
				}
			}
			return f.fitSlice(done)
		},
		cancel: f.cancel,
		end: func() error {
			f.made.Fitted, f.fitted = true, true
			f.made.FittedTo, f.made.FittedWith = f.members[0].Real.Total(), f.members[0].Synthesis.Bound()
			if !f.scored {
				f.made.FittedWith = relevance.None
			}
			for _, m := range f.members {
				m.Synthesis.Scored = inspect.Digest(f.made.FittedWith, f.place.Step, f.scores(m))
			}
			f.made.Asked.Known = false
			f.changes.EndFit()
			f.asides.fitted()
			return nil
		},
	}
}

func (f *refit) startFit() error {
	begin := f.now()
	defer func() { f.meter.On(cost.Fit, begin) }() // fresh weights and the data's statistics are part of a fit
	f.giveUp()                                     // its rest would be in no batch: the refit makes a new D_syn in the same env step
	f.begins(f.members[0].Synthesis.Bound())(redo.Fitting)
	s := f.settings
	knobs := generative.FitKnobs{Steps: s.GeneratorSteps, LR: s.LRGenerator, PUncond: s.PUncond}
	f.place.total = knobs.Steps
	for _, m := range f.members {
		if err := m.Synthesis.StartFit(f.scores(m), knobs, f.made.Refits); err != nil {
			return f.abandon(m, doingFit, err)
		}
	}
	f.made.Refits++
	return nil
}

// scores returns the scores to which a member's generator is fitted; nil: without conditions.
func (f *refit) scores(m *replica.Replica) []float32 {
	if !f.scored {
		return nil
	}
	scores, _ := m.Synthesis.Scores()
	return scores
}

// fitSlice makes gradient steps from done on. A member whose fit has ended waits for the
// others.
func (f *refit) fitSlice(done int) (n int, complete bool, err error) {
	defer f.meter.Measure(knob.Fit, &n)()
	if n = min(f.sliceAt(done), f.place.total-done); n < 1 {
		return 0, false, fmt.Errorf("the generator's fit goes on after its %d steps", f.place.total)
	}
	ended := make([]bool, len(f.members))
	if m, err := f.each(knob.Fit, func(m *replica.Replica) (err error) {
		ended[m.Index], err = m.Synthesis.FitSteps(done, n)
		return err
	}); err != nil {
		return 0, false, f.abandon(m, doingFit, err)
	}
	return n, !slices.Contains(ended, false), nil
}

// sliceAt is the size of the slice from a gradient step on. It ends where a device that makes several steps at once begins
// the next ones.
func (f *refit) sliceAt(done int) int {
	together := generative.Together(f.members[0].Generator)
	if together == 0 {
		return f.slice
	}
	return max(1, f.slice/together)*together - done%together
}

// cancel abandons what the generators have under way. D_syn stays as it is.
func (f *refit) cancel() {
	for _, m := range f.members {
		m.Synthesis.Cancel()
	}
	f.changes.GiveUp()
	f.changes.SendBack()
}

// abandonIf is abandon if there is an error.
func (f *refit) abandonIf(m *replica.Replica, doing string, err error) error {
	if err == nil {
		return nil
	}
	return f.abandon(m, doing, err)
}

// abandon gives up the scoring, the fit or the generation under way because it diverged. What there was
// before stays in force; setting a knob "now" does the work again.
func (f *refit) abandon(m *replica.Replica, doing string, err error) error {
	if err := f.diverged(m.Index, doing, err); err != nil {
		return err
	}
	f.changes.Abandon()
	return nil
}

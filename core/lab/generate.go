package lab

import (
	"math"
	"slices"

	"pgrlab/core/event"
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
	"pgrlab/core/redo"
	"pgrlab/core/relevance"
	"pgrlab/core/replica"
	"pgrlab/core/run"
)

// generate makes D_syn again, one network call at a time. The old D_syn stays until the new one
// is complete, or, if it rolls, until a chunk of it is: env steps then follow before the next chunk,
// which is made in this phase of a later env step. The observation for which a member chooses its
// next action is not touched: the authors' loop overwrites it here with the last synthetic one
// (renwang435/pgr: synther/online/online_cond.py). The new D_syn is described, in pieces, before
// all of it is in force.
func (f *refit) generate() phase {
	var found []*event.Generated
	return phase{
		Phase: knob.Generate, doing: doingGenerate,
		due: func() bool { return f.changes.Todo() == knob.ClassGeneration },
		first: func() int {
			if f.changes.GoesOn() {
				return f.made.Calls
			}
			return 0
		},
		begin: func() error {
			if f.place.total = 0; f.changes.GoesOn() {
				f.place.total = f.made.OfCalls
			}
			return nil
		},
		slice: func(done int) (n int, complete bool, err error) {
			if done == 0 {
				if err := f.startGenerate(); err != nil {
					return 0, false, err
				}
			}
			if n, complete, err = f.generateSlice(); complete {
				f.meter.Generated()
				f.made.Analysing = *f.settings
			}
			return n, complete || f.chunkMade(), err
		},
		pieces: func() inspect.Pieces {
			found = make([]*event.Generated, len(f.members))
			return f.describeGeneration(found)
		},
		sliced: func() int {
			if !f.members[0].Synthesis.Whole() {
				return math.MaxInt
			}
			return f.place.total - f.describing()
		},
		cancel: f.cancel,
		end: func() error {
			if !f.members[0].Synthesis.Whole() {
				f.finishChunk()
				return nil
			}
			return f.finishGeneration(found)
		},
	}
}

// rolls says whether the generation under way comes into force chunk by chunk: nothing was fitted for it,
// and there is a D_syn before it.
func (f *refit) rolls() bool {
	syn := f.members[0].Synthesis.Kept()
	return f.config.Roll() > 0 && !f.fitted && syn != nil && syn.Len() > 0
}

// chunkMade says whether all members have a chunk to put into force. Generators that roll make equally
// many rows with each call.
func (f *refit) chunkMade() bool {
	return f.rolls() && !f.changes.Abandoned() &&
		!slices.ContainsFunc(f.members, func(m *replica.Replica) bool { return m.Synthesis.Pending() == 0 })
}

// finishChunk puts a chunk into force. What D_syn was prompted with is not known until it is whole.
func (f *refit) finishChunk() {
	for _, m := range f.members {
		m.Synthesis.FinishChunk()
	}
	f.made.Asked.Known = false
	f.changes.EndChunk(f.place.Step + f.config.Roll()*f.config.Environment.InLockstep())
}

// giveUp ends a generation of which some chunks are in force, because another one takes its place.
func (f *refit) giveUp() {
	if f.changes.Next() == 0 {
		return
	}
	for _, m := range f.members {
		m.Synthesis.Cancel()
	}
	f.changes.GiveUp()
}

func (f *refit) startGenerate() error {
	f.giveUp()
	if f.made.FittedWith == relevance.None && f.settings.Relevance != relevance.None {
		f.changes.BeginsWithoutF(redo.Generating)
	} else {
		f.changes.Begins(redo.Generating)
	}
	knobs := f.settings.Generation()
	f.made.Generating = knobs
	f.meter.Generation(knobs)
	f.made.Calls = 0
	for _, m := range f.members {
		if f.lean() {
			if err := m.Synthesis.KeepSpec(knobs, f.made.Generations); err != nil {
				return err
			}
		}
		if err := m.Synthesis.StartGenerate(knobs, f.made.Generations); err != nil {
			return err
		}
	}
	f.made.Generations++
	return nil
}

func (f *refit) generateSlice() (n int, complete bool, err error) {
	defer f.meter.Measure(knob.Generate, &n)()
	ended, totals, calls := make([]bool, len(f.members)), make([]int, len(f.members)), make([]int, len(f.members))
	if m, err := f.each(knob.Generate, func(m *replica.Replica) (err error) {
		calls[m.Index], ended[m.Index], totals[m.Index], err = m.Synthesis.GenerateSlice()
		return err
	}); err != nil {
		return 0, false, f.abandon(m, doingGenerate, err)
	}
	n = max(1, slices.Max(calls))
	f.made.Calls += n
	if total := slices.Max(totals); total > 0 { // 0 for those that have ended
		f.place.total = max(f.place.total, total+f.describing())
		f.made.OfCalls = f.place.total
	}
	return n, !slices.Contains(ended, false), nil
}

// finishGeneration puts the new transitions into force and writes the lines.
func (f *refit) finishGeneration(described []*event.Generated) error {
	f.made.Asked = f.made.prompts()
	f.made.Asked.Known = f.config.Generator.Generations() == 1
	spent := f.meter.Spent()
	if f.changes.GoesOn() {
		spent = f.meter.Generating()
	}
	for i, m := range f.members {
		found, err := m.Synthesis.Relevances(f.views.of(m))
		if err != nil {
			return err
		}
		m.Synthesis.FinishGeneration()
		line := event.Refit{Generated: m.Generations[len(m.Generations)-1], F: found, Obs: event.RefitObs{Seconds: run.Float(spent.Seconds())}}
		if f.fitted && f.config.Has()&knob.UseFit != 0 {
			line.Loss, line.Steps = m.Synthesis.Fit.Mean(), m.Synthesis.Fit.Steps
		}
		m.Synthesis.Describe(&line, f.fitted)
		f.journal.emit(event.TypeRefit, m.Index, line)
		if described[i] != nil {
			f.journal.emit(event.TypeGenerated, m.Index, *described[i])
		}
	}
	for _, w := range f.changes.EndGeneration() {
		f.journal.emit(event.TypeWhole, event.NoMember, event.Whole{ID: w.ID, Knob: w.Knob})
	}
	return nil
}

// describeGeneration describes the new D_syn of every member before it comes into force. found
// receives the result of each member, or nothing if the run makes no analyses.
func (f *refit) describeGeneration(found []*event.Generated) inspect.Pieces {
	return func(yield func(error) bool) {
		if !f.config.Analyses() || !f.members[0].Synthesis.Whole() {
			return
		}
		for i, m := range f.members {
			v, err := f.views.as(m, f.made.Analysing)
			if err != nil {
				yield(err)
				return
			}
			v.Syn, v.Mixed = m.Synthesis.Fresh, 0
			v.Prompts = f.made.prompts()
			found[i] = &event.Generated{}
			for err := range inspect.Describe(v, f.config.Evaluation.AnalysedRows, found[i]) {
				if !yield(err) {
					return
				}
			}
		}
	}
}

// describing is how many pieces describeGeneration has.
func (f *refit) describing() (n int) {
	if !f.config.Analyses() {
		return 0
	}
	for _, m := range f.members {
		n += inspect.DescribePieces(min(f.config.Evaluation.AnalysedRows, m.Synthesis.Fresh.Cap()), m.Synthesis.Fresh.Cap(), m.Real.Len())
	}
	return n
}

package lab

import (
	"pgrlab/core/event"
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
	"pgrlab/core/replica"
)

// analyses are the examinations that a run makes on their cadence. They read the members and
// write lines; work that was asked for beside training is dropped for them.
type analyses struct {
	common
	views   *views
	asides  *asides
	members []*replica.Replica
}

// due says whether the present env step ends with an examination. It is asked after the phases of a refit.
func (a *analyses) due() bool {
	every := a.config.Evaluation.AnalyseEvery
	least, _ := realRows(a.members)
	return every > 0 && a.config.Reaches(a.place.Step, every) && least >= inspect.MinRows && a.asides.givenUp() == nil
}

// examine examines every member, in pieces short enough that a command does not wait long, and
// writes the lines. Knobs that change meanwhile take effect afterwards: the examined parts stay
// as they are.
func (a *analyses) examine() phase {
	var found []*event.Examined
	return phase{
		Phase: knob.Analyse, doing: "analyse",
		due: a.due,
		begin: func() error {
			if a.place.position.Phase == knob.Analyse {
				return nil // it had begun when the run was saved
			}
			a.views.synthesis.Analysing = *a.views.settings
			a.place.total = 0
			for _, m := range a.members {
				a.place.total += inspect.ExaminePieces(a.views.of(m), inspect.DefaultExamination())
			}
			a.asides.drop(errAnalysing)
			return nil
		},
		slice: func(int) (n int, complete bool, err error) { return 0, true, nil }, // all the work is in pieces
		pieces: func() inspect.Pieces {
			found = make([]*event.Examined, len(a.members))
			return a.examineAll(found)
		},
		sliced: func() int { return 0 },
		end: func() error {
			for i, m := range a.members { // all at once: a run that is saved before has written none
				a.journal.emit(event.TypeExamined, m.Index, found[i])
			}
			return nil
		},
	}
}

// examineAll examines every member with the knobs as they were when the analysis began.
func (a *analyses) examineAll(found []*event.Examined) inspect.Pieces {
	return func(yield func(error) bool) {
		for i, m := range a.members {
			v, err := a.views.as(m, a.views.synthesis.Analysing)
			if err != nil {
				yield(err)
				return
			}
			found[i] = &event.Examined{}
			for err := range inspect.Examine(v, inspect.DefaultExamination(), nil, found[i]) {
				if !yield(err) {
					return
				}
			}
		}
	}
}

// views show the members of a run to package inspect, as they are between two slices. They
// only read.
type views struct {
	common
	settings  *knob.Settings
	synthesis *synthesis
}

// of returns the view of a member as it is now.
func (v *views) of(m *replica.Replica) inspect.View {
	return m.View(replica.Now{Step: v.place.Step, Settings: v.settings}, v.synthesis.Fitted, v.synthesis.Asked)
}

// as returns the view of a member under settings s, which the run may have changed since.
func (v *views) as(m *replica.Replica, s knob.Settings) (inspect.View, error) {
	return m.ViewAs(v.of(m), s)
}

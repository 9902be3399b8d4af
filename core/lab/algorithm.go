package lab

import (
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
)

// algorithm is what a run does in every env step: first what makes the step, in one
// slice, then phases of many. Another learner is another list.
type algorithm struct {
	step    []work
	learner []phase // its own, and those of F that is told of env steps
	phases  []phase
}

// pgr is Algorithm 1 of Wang et al. (ICLR 2025), for every env step (line 1); the numbers
// are its lines. The paper puts lines 5 and 6 into every inner iteration; here they run
// when a refit is due, behind the env step's updates, as in the authors' code
// (renwang435/pgr: synther/online/online_cond.py). Line 3 is in two places for the same
// reason: a relevance function that learns takes its step inside of line 7's updates, and
// real transitions are scored before the generator is fitted to them.
func (x *experiment) pgr() algorithm {
	return algorithm{
		step: []work{
			{"collect", x.collect},         // 2: act, step, store in D_real
			{"train agent", x.trainAgents}, // 4, 7: batches of D_real and D_syn, mixed by r
		},
		// 7, of a learner that works behind the step: none of SAC's; and 3, where F learns in
		// rounds from what was met.
		learner: append(x.learnerPhases(), x.rounds()),
		phases: []phase{
			x.refit.updateRelevance(), // 3: F of every transition in D_real
			x.refit.fitModel(),        // 5: G to D_real, conditioned on F
			x.refit.generate(),        // 6: D_syn from G, prompted with the largest F
			x.evaluate(),
			x.analyses.examine(),
		},
	}
}

// work is what is done in one slice.
type work struct {
	doing string // for errors
	do    func() error
}

// phase is work that is done in slices, as data: the driver decides when it is due,
// makes its slices and applies commands between them.
type phase struct {
	knob.Phase
	doing string // for errors
	// due says whether the present env step has it.
	due func() bool
	// begin prepares it, before commands are applied for the first time; nil: nothing.
	begin func() error
	// slice does work behind the first done units and returns how many units it did.
	slice func(done int) (n int, complete bool, err error)
	// pieces are work behind the slices that comes as a sequence; behind says how many
	// units the slices were. nil: there are none.
	pieces func() inspect.Pieces
	behind func() int
	// cancel gives it up where a command took the work away; nil: none does.
	cancel func()
	// end is what follows the last slice.
	end func() error
}

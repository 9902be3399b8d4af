package lab

import (
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
)

// algorithm is what a run does in every env step: first the work that makes the step, in one
// slice, then phases of many slices. Another learner is another list.
type algorithm struct {
	step   []work
	phases []phase
}

// pgr is Algorithm 1 of Wang et al. (ICLR 2025), for every env step (line 1); the numbers are
// its lines. The paper puts lines 5 and 6 into every inner iteration; here they run when a refit
// is due, after the env step's updates, as in the authors' code (renwang435/pgr:
// synther/online/online_cond.py). Line 3 is in two places for the same reason: a relevance
// function that learns takes its step within line 7's updates, and real transitions are scored
// before the generator is fitted to them.
func (x *experiment) pgr() algorithm {
	return algorithm{
		step: []work{
			{"collect", x.collect},         // 2: act, step, store in D_real
			{"train agent", x.trainAgents}, // 4, 7: batches of D_real and D_syn, mixed by r
		},
		phases: append(x.ownPhases(), // 3, 7: for an F or a learner that works after the step, unlike SAC
			x.refit.updateRelevance(), // 3: F of every transition in D_real
			x.refit.fitModel(),        // 5: G to D_real, conditioned on F
			x.refit.generate(),        // 6: D_syn from G, prompted with the largest F
			x.evaluate(),
			x.analyses.examine(),
		),
	}
}

// work is what is done in one slice.
type work struct {
	doing string // for errors
	do    func() error
}

// phase describes work that is done in slices: the driver decides when it is due, runs its
// slices and applies commands between them.
type phase struct {
	knob.Phase
	doing string // for errors
	// due says whether the present env step has the phase.
	due func() bool
	// begin prepares the phase, before commands are applied for the first time; nil: nothing to
	// prepare.
	begin func() error
	// first returns the unit from which an env step goes on with what an earlier one has begun; nil: each
	// does all of its own work.
	first func() int
	// slice does the work that follows the first done units, and returns how many units it did.
	slice func(done int) (n int, complete bool, err error)
	// pieces returns work that follows the slices and comes as a sequence; nil: there is none.
	// sliced returns how many units the slices had.
	pieces func() inspect.Pieces
	sliced func() int
	// cancel gives the phase up when a command has taken its work away; nil: no command does.
	cancel func()
	// end is called after the last slice.
	end func() error
}

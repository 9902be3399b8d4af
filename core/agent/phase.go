package agent

import "pgrlab/core/experience"

// Experience is the outcome of one env step of all copies. Its memory belongs to the caller.
type Experience struct {
	Copies    int
	Step      uint64
	Obs, Next []float32 // [Copies,O]; Next is before any reset
	// Seen and NextSeen are each copy's newest frame, [Side,Side,3], before and after the
	// env step, like Obs and Next; nil if the learner sees no frames.
	Seen, NextSeen [][]byte
	Actions        []float32 // [Copies,A]
	Rewards        []float32 // [Copies], including the bonus if there is one
	Earned         []float32 // [Copies], the task's own rewards; nil if they are Rewards
	Ends           []End     // [Copies]
	// Respawned [Copies] says where Next does not follow from Obs and Actions: see
	// replay.Note.
	Respawned []bool
	// F [Copies] is the relevance that was assigned to the transitions as they were met, NaN
	// where none was; nil if there is none in any env step.
	F []float32
	// State [Copies,StateSize] is what the policy remembered before it chose the
	// actions.
	State []float32
}

// End is the state of a copy's episode after an env step.
type End = experience.End

// The ends.
const (
	Continues  = experience.Continues
	Terminated = experience.Terminated
	Truncated  = experience.Truncated
)

// Observer is a learner that keeps experience of its own, in whatever shape it learns
// from: a rollout, sequences, frames. Save writes that experience too.
type Observer interface {
	// Observe receives every env step, including random ones, before anything else happens.
	Observe(e *Experience) error
}

// Phased is a learner that works between env steps.
type Phased interface {
	// Phases returns the phases in the order in which they run in an env step. Every call
	// returns the same ones.
	Phases() []Phase
}

// Remarker is a learner that has something to tell the person who watches about how its device works.
type Remarker interface {
	// Remark returns, once, what has changed in how long updates take, in one line without a stop;
	// "": nothing. Results do not depend on it.
	Remark() string
}

// Phase is work that a learner does between env steps. It is cut into slices; between two
// slices settings may change, and the run may pause or be saved. Its positions are
// STEP/name:i, with i units done.
type Phase struct {
	Name string // "rollout", "learn" or "encode": they come in this order
	// Due says whether there is such work in the env step, which has been collected.
	Due func(w *Work) bool
	// Start begins the work and returns how many units it has. It is not called if a run is
	// loaded in the middle of the phase: Load has restored the work.
	Start func(w *Work) (total int, err error)
	// Slice does the units that follow the done ones and returns how many it did, with the
	// results of the updates among them: at least 1, or 0 if this learner has no more and others
	// of its cohort have.
	Slice func(w *Work, done int) (n int, made []UpdateResult, err error)
}

// Work is the input of a phase. It is valid for one call.
type Work struct {
	Step int // the env step
	// Refit says that the generator is fitted to D_real in this env step, after the
	// learner's phases.
	Refit bool
	// Enough says that there are more transitions than the run's random start has. Until
	// then a learner that learns from batches makes no updates.
	Enough bool
	Rates  Rates
	// Source is what batches are sampled from: D_real and D_syn, with as many rows of each
	// as the knobs batch, ratio and hold say. Its First is the number of updates made. Only
	// a learner whose Spec has Rows writes D_real; all others only read it.
	Source BatchSource
}

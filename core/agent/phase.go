package agent

import "pgrlab/core/replay"

// Experience is what an env step of all copies gave. The memory is the caller's.
type Experience struct {
	Copies    int
	Step      uint64
	Obs, Next []float32 // [Copies,O]; Next is before any reset
	// Seen and NextSeen are each copy's newest frame, [Side,Side,3], as Obs and Next; nil
	// where the learner sees none.
	Seen, NextSeen [][]byte
	Actions        []float32 // [Copies,A]
	Rewards        []float32 // [Copies], with the bonus on them where there is one
	Earned         []float32 // [Copies], the task's own; nil: Rewards are
	Ends           []End     // [Copies]
	// Respawned [Copies] says where Next does not follow from Obs and Actions: see
	// replay.Note.
	Respawned []bool
	// F [Copies] is relevance of the transitions that was told as they were met; nil where
	// nothing was.
	F []float32
	// State [Copies,StateSize] is what the policy remembered before it chose the
	// actions.
	State []float32
}

// Note is that of the transition of a copy.
func (e *Experience) Note(i int) replay.Note {
	n := replay.Note{Met: true}
	if e.Respawned != nil {
		n.Respawned = e.Respawned[i]
	}
	if e.F != nil {
		n.F = e.F[i]
	}
	return n
}

// EarnedBy is the task's own reward of a copy.
func (e *Experience) EarnedBy(i int) float32 {
	if e.Earned != nil {
		return e.Earned[i]
	}
	return e.Rewards[i]
}

// End is how a copy's episode stands after an env step. A time limit is no true end:
// the values behind it count.
type End int

// The ends.
const (
	Continues End = iota
	Terminated
	Truncated
)

// Observer is a learner that keeps experience of its own, in whatever shape it learns
// from: a rollout, sequences, frames. It is part of what Save writes.
type Observer interface {
	// Observe is told every env step, random ones too, before anything else happens.
	Observe(e *Experience) error
}

// Phased is a learner that works between env steps.
type Phased interface {
	// Phases are in the order of an env step. They are the same at every call.
	Phases() []Phase
}

// Phase is work of a learner between env steps. It is cut into slices, between which
// settings change, a pause waits and a run is saved: its positions are STEP/name:i with
// i units done.
type Phase struct {
	Name string // "rollout", "learn" or "encode": they come in this order
	// Due says whether there is such work in the env step, which was collected.
	Due func(w *Work) bool
	// Start begins the work and returns how many units it has. Where a run is loaded in
	// the middle of the phase Start is not called: Load has brought it back.
	Start func(w *Work) (total int, err error)
	// Slice does the units that follow the done ones and returns how many those were,
	// at least 1, with what the updates among them made.
	Slice func(w *Work, done int) (n int, made []UpdateResult, err error)
}

// Work is what a phase works with. It is good for one call.
type Work struct {
	Step int // the env step
	// Refit says that the generator is fitted to D_real in this env step, behind the
	// phases of the learner.
	Refit bool
	// Enough says that there are more transitions than the run's random start: before, a
	// learner of batches makes no updates.
	Enough bool
	Rates  Rates
	// Source is what batches are sampled from: D_real and D_syn, how many rows of each
	// by the knobs batch, ratio and hold, and as First the number of updates made. A
	// learner whose Spec has Rows writes D_real, which nothing else does; all others
	// only read it.
	Source BatchSource
}

package agent

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
	// a learner whose Traits have Rows writes D_real; all others only read it.
	Source BatchSource
}

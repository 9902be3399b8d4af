package pane

import (
	"time"

	"pgrlab/core/whatif"
)

// WhatIf trains the agent of the run's last checkpoint with other rows, in a process beside
// the run. It belongs to the run: all its screens see the same one. Its methods may be
// called from any goroutine.
type WhatIf interface {
	// Check says why there is none of this run, or returns nil.
	Check() error
	// Plan is what one would compare now, and about how much work that is, in critic
	// updates.
	Plan() (p whatif.Plan, updates int)
	// Begin begins one. It reads files: call it outside the event loop. What is wrong
	// stands in State.
	Begin()
	// Stop ends the one under way, if there is one.
	Stop()
	// State is where it stands: the same pointer until that changes.
	State() *WhatIfState
}

// WhatIfState is where a what-if stands, and what came of the last one. It is not changed
// any more.
type WhatIfState struct {
	Under    bool      // one is under way
	Step     int       // env steps of its checkpoint
	Begun    time.Time // when the work began; zero: the checkpoint is being read
	Progress whatif.Progress

	Err   error         // what was wrong with the last one; nil: nothing
	Table *whatif.Table // of the last one that was finished; nil: none was
	Of    int           // env steps of its checkpoint
}

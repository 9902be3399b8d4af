package pane

import (
	"time"

	"pgrlab/core/whatif"
)

// WhatIf trains the agent of the run's last checkpoint with other rows, in a process beside the
// run. A what-if belongs to the run: all its screens see the same one. The methods may be called
// from any goroutine.
type WhatIf interface {
	// Check says why this run cannot have a what-if, or returns nil.
	Check() error
	// Plan is the comparison that Begin would make now, with an estimate of its work in critic
	// updates. It is smaller than usual, and updates less than the usual one takes, where the run
	// makes few updates in a second.
	Plan() (p whatif.Plan, updates, usual int)
	// Begin starts a what-if. It reads files: call it outside the event loop. Errors are reported
	// in State.
	Begin()
	// Stop ends the current what-if, if there is one.
	Stop()
	// Hold pauses the run until the current what-if is over; a pause or resume of the run
	// meanwhile counts instead.
	Hold() error
	// State is the what-if's state: the same pointer until the state changes.
	State() *WhatIfState
}

// WhatIfState is the state of a what-if, and the result of the last one. It is immutable.
type WhatIfState struct {
	Under    bool      // a what-if is under way
	Step     int       // env steps of its checkpoint
	Begun    time.Time // when the work began; zero: the checkpoint is being read
	Progress whatif.Progress
	Core     float64 // share of a core that its process has got in the last seconds; negative: unknown
	Held     bool    // the run was paused for it

	Err   error         // the error of the last what-if; nil: none
	Table *whatif.Table // of the last what-if that was finished; nil: there was none
	Of    int           // env steps of its checkpoint
}

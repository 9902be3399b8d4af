package lab

import "errors"

// Command is what can be asked of a running lab; see Send.
type Command interface{ command() }

// SetKnob changes a knob, at the next place between two slices or at a given
// one. The answer is an event: KnobChanged or Refused.
type SetKnob struct {
	// ID is the sender's own, to recognise the answer by (KnobObs.Ref,
	// Refused.Ref).
	ID    string
	Knob  string
	Value string // as Knob.Parse reads it
	// Now redoes at once what depends on the knob: a generation, or a refit.
	Now bool
	By  string // who asks
	// At is where to change it; nil: at once. A position that has passed is
	// refused.
	At *Position
}

// Undo sets a knob back to what it was before change ID, as a new change. It does
// not bring back weights.
type Undo struct {
	ID  int // KnobChanged.ID
	Ref string
	Now bool
	By  string
}

// Pause makes training wait between two slices until Resume.
type Pause struct {
	Reason string // empty: somebody wants it so
	By     string
}

// Resume ends a pause.
type Resume struct{ By string }

// Stop saves and ends the run; Run returns nil.
type Stop struct{ By string }

// Checkpoint saves the run where it is; the answer is the event Checkpointed, when
// it is on the disk.
type Checkpoint struct{ By string }

// Note writes a line into the journal.
type Note struct{ Text, By string }

// Attach and Detach note that a screen came or went; training does not care.
type Attach struct{ By string }

// Detach notes that a screen went away.
type Detach struct{ By, Reason string }

func (SetKnob) command()    {}
func (Undo) command()       {}
func (Pause) command()      {}
func (Resume) command()     {}
func (Stop) command()       {}
func (Checkpoint) command() {}
func (Note) command()       {}
func (Attach) command()     {}
func (Detach) command()     {}

// Errors of Send and Run.
var (
	// ErrBusy: the mailbox is full; nothing was asked. Try again.
	ErrBusy = errors.New("the lab is busy: its mailbox is full")
	// ErrEnded: the run is over.
	ErrEnded = errors.New("the run has ended")
	// ErrInterrupted: Run saved and ended because its context did. The context's
	// cause is wrapped beside it.
	ErrInterrupted = errors.New("interrupted")
)

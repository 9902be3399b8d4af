package event

import (
	"errors"
	"strings"

	"pgrlab/core/knob"
)

// Command is a request to a running lab; see Send.
type Command interface{ command() }

// SetKnob changes a knob, at the next boundary between two slices or at a given
// position. The answer is an event: KnobChanged or Refused.
type SetKnob struct {
	// ID is chosen by the sender, which recognises the answer by it (KnobObs.Ref,
	// Refused.Ref).
	ID    string
	Knob  string
	Value string // in the syntax of Knob.Parse
	// Now redoes at once what depends on the knob: a generation, or a refit.
	Now bool
	By  string // who sent it
	// At is where to change the knob; nil means at once. A position that has passed
	// is refused.
	At *knob.Position
}

// Undo sets a knob back to its value before change ID, as a new change. It does not
// restore weights.
type Undo struct {
	ID  int // KnobChanged.ID
	Ref string
	Now bool
	By  string
}

// Cancel takes a change that is still to come off the schedule: of those of that knob and value
// planned for that position, the last. The answer is an event: Cancelled or Refused.
type Cancel struct {
	ID    string // chosen by the sender, as SetKnob.ID
	At    knob.Position
	Knob  string
	Value string // in the syntax of Knob.Parse
	By    string
}

// Pause makes training wait between two slices until Resume.
type Pause struct {
	Reason  string // empty if a person asked for it
	By      string
	Passing bool // By ends it, unless another pause comes meanwhile
}

// Resume ends a pause.
type Resume struct {
	By string
	Of string // whose pause it ends; "": anybody's
}

// Stop saves and ends the run; Run returns nil.
type Stop struct{ By string }

// Checkpoint saves the run where it is. The answer is the event Checkpointed with Ref among its Refs,
// sent when the checkpoint is on the disk: one that was being written already is of an earlier state.
type Checkpoint struct {
	Ref string // chosen by the sender, as SetKnob.ID; "": the sender waits for no answer
	By  string
}

// Note writes a line into the journal.
type Note struct{ Text, By string }

// Attach notes that a screen came which may drive. Attach and Detach do not affect training.
type Attach struct{ By string }

// Detach notes that a screen went away.
type Detach struct{ By, Reason string }

func (SetKnob) command() {}

func (Undo) command() {}

func (Cancel) command() {}

func (Pause) command() {}

func (Resume) command() {}

func (Stop) command() {}

func (Checkpoint) command() {}

func (Note) command() {}

func (Attach) command() {}

func (Detach) command() {}

// Errors of Send.
var (
	// ErrBusy: the mailbox is full and the command was not accepted. Try again.
	ErrBusy = errors.New("the lab is busy: its mailbox is full")
	// ErrEnded: the run is over.
	ErrEnded = errors.New("the run has ended")
)

// HandOver saves the run and ends it so that another process can continue it. Nothing
// is written after the checkpoint, so the journal reads like that of an uninterrupted
// run. Run returns ErrHandedOver. If the run cannot be saved, it goes on, and the answer
// is the event Refused with Knob HandedOver.
type HandOver struct {
	Ref string // chosen by the sender, as SetKnob.ID
	By  string
}

func (HandOver) command() {}

// HandedOver is the Knob of a Refused that answers a HandOver.
const HandedOver = "hand over"

// AnalyseNow asks for the expensive analyses of the run as it is. Training waits until they
// are done; commands are obeyed between two pieces of them. The answer is an event of
// type TypeExamined for each member with By in its Obs, or a Refused whose Knob is
// "analyse". Nothing else in a run depends on it, and canonical journals leave it out.
type AnalyseNow struct{ By string }

func (AnalyseNow) command() {}

// Map asks where the transitions lie, over two dimensions of the observation. The
// answer is Snapshot.Map, some slices later; nothing in a run depends on it.
type Map struct{ X, Y int }

// Watch asks for the newest transition. The answer is Snapshot.Moment.
type Watch struct{}

func (Map) command() {}

func (Watch) command() {}

// Park is a Pause that also saves the run and releases its GPU memory for others until
// Resume. On the CPU there is nothing to release.
type Park struct{ By string }

func (Park) command() {}

// Preview asks how a value of a knob would affect generated transitions, without
// changing anything. The answer is an event of type TypePreviewed. A later Preview
// replaces one that is not answered yet. Guidance, top_fraction, sampler_steps, s_churn
// and relevance can be previewed.
type Preview struct {
	ID    string // chosen by the sender, which recognises the answer by it: SENDER-NUMBER
	Knob  string
	Value string // in the syntax of Knob.Parse
}

// Sender is the SENDER part of ID. Only the last preview of one sender counts; several
// senders take turns.
func (p Preview) Sender() string { return p.ID[:max(0, strings.LastIndexByte(p.ID, '-'))] }

func (Preview) command() {}

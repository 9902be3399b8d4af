package event

import (
	"errors"
	"strings"

	"pgrlab/core/knob"
)

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
	At *knob.Position
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
	Reason string // empty: it was asked for by hand
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

func (SetKnob) command() {}

func (Undo) command() {}

func (Pause) command() {}

func (Resume) command() {}

func (Stop) command() {}

func (Checkpoint) command() {}

func (Note) command() {}

func (Attach) command() {}

func (Detach) command() {}

// Errors of Send.
var (
	// ErrBusy: the mailbox is full; nothing was asked. Try again.
	ErrBusy = errors.New("the lab is busy: its mailbox is full")
	// ErrEnded: the run is over.
	ErrEnded = errors.New("the run has ended")
)

// HandOver saves the run and ends it for another process to go on with: nothing is
// written behind the checkpoint, so that the journal becomes that of a run without a
// break. Run returns ErrHandedOver. Where the run cannot be saved it goes on, and the
// answer is the event Refused with Knob HandedOver.
type HandOver struct {
	Ref string // the sender's own, as SetKnob.ID
	By  string
}

func (HandOver) command() {}

// HandedOver is the Knob of a Refused that answers a HandOver.
const HandedOver = "hand over"

// AnalyseNow asks for the expensive analyses of the run as it is. Training waits until they
// are made; commands are obeyed between two pieces of them. The answer is an event of
// type TypeExamined for each member with By in its Obs, or a Refused whose Knob is
// "analyse". Nothing else of a run depends on it: canonical journals are without.
type AnalyseNow struct{ By string }

func (AnalyseNow) command() {}

// Map asks where the transitions lie, over two dimensions of the observation. The
// answer is Snapshot.Map, some slices later; nothing of a run depends on it.
type Map struct{ X, Y int }

// Watch asks for the transition that was made last. The answer is Snapshot.Moment.
type Watch struct{}

func (Map) command() {}

func (Watch) command() {}

// Park is Pause that also saves the run and gives back what it holds of a GPU, for
// others to use, until Resume. On the CPU there is nothing to give back.
type Park struct{ By string }

func (Park) command() {}

// Preview asks what a value of a knob would make of generated transitions, before
// anything is touched. The answer is an event of type TypePreviewed. A later Preview
// takes the place of one that is not answered yet. Guidance, top_fraction,
// sampler_steps, s_churn and relevance can be previewed.
type Preview struct {
	ID    string // the sender's own, to recognise the answer by: SENDER-NUMBER
	Knob  string
	Value string // as Knob.Parse reads it
}

// Sender is who asks: of one sender the last preview counts, of several each has its turn.
func (p Preview) Sender() string { return p.ID[:max(0, strings.LastIndexByte(p.ID, '-'))] }

func (Preview) command() {}

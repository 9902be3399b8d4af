package pane

import (
	"errors"
	"image"

	"pgrlab/core/config"
	"pgrlab/core/event"
)

// Lab is what the screen needs of a running experiment.
type Lab interface {
	Snapshot() *event.Snapshot
	Events(from int) []event.Event
	Send(event.Command) error
}

// Reference is a result to compare the returns with.
type Reference struct {
	Source     string // "paper", "independent", or "expect": of this program's own runs
	Mean, Std  float64
	Step       int    // env steps after which it was measured
	Frames     int    // of the task, where results are counted in them; else 0
	OtherScale bool   // measured at another scale than this run's: it does not compare
	Where      string // where it was measured, if that was elsewhere: it does not compare either
}

// GPU is what a GPU is doing. What is not known is negative.
type GPU struct {
	Busy        float64 // share of the time in which a kernel ran, of any process, 0 to 1
	Used, Total float64 // bytes of its memory, by all processes
	Temperature float64 // °C
	Power       float64 // W
}

// Apart says whether the result does not compare with the run.
func (r Reference) Apart() bool { return r.OtherScale || r.Where != "" }

// About is what the screen is told of a run, and what it may ask of the program around
// the run.
type About struct {
	Config     config.Config // of the run: its names stand in the header, its method decides which knobs are used
	Device     string        // with the kernel family, e.g. "cpu avx2"; "": Config.Device
	Folder     string        // the run folder, shown while starting and in the quit dialog
	References []Reference   // the one that compares best first
	Untrained  *float64      // the return of a policy that has learned nothing, as others measured it; nil: unknown

	// Names are those of the numbers of an observation, for the map; nil: unknown.
	Names []string
	// Choices are the names of the actions that the agent chooses from; nil: unknown, or it
	// does not choose.
	Choices []string

	// Replay says that Start gives a *Replay: nothing can be changed.
	Replay bool
	// Ended says that the replay stands at the end of a run that this screen's person
	// has watched: leaving asks what next.
	Ended bool
	// LoadRun reads the journal of another run folder, to compare with; nil: ReadJournal.
	LoadRun func(dir string) ([]event.Event, error)

	// Fork makes children of the run and has them trained beside it; it is called
	// outside the event loop, and the children that it could make come with an error.
	// nil: they cannot be made here.
	Fork func(ForkPlan) ([]Child, error)

	// Beside says how many of the children train at a time; nil: one.
	Beside func() int

	// WhatIf trains with other rows beside the run; nil: it cannot be done here.
	WhatIf WhatIf

	// Remote says that the screen is on the terminal of another process: leaving it is
	// nothing to the run.
	Remote bool
	// Draw paints the body in a event.Snapshot.Pose, w by h square pixels. The picture
	// is the function's own memory, good until the next call; picture.Lines makes
	// text of it. It is called from one goroutine; the first call may take a tenth of
	// a second. An error is of the kind that stays. nil: nothing can be drawn.
	Draw func(pose []float64, w, h int) (*image.RGBA, error)

	// Ground is where those pictures show the ground; nil: they do not.
	Ground Ground

	// GPU is what the GPU of the run did last; nil, or a function that returns nil:
	// there is none, or nothing is known of it.
	GPU func() *GPU

	// Viewer is this screen among several of the run; nil: it is the
	// only one.
	Viewer Viewer
}

// Ground is the part of a picture of w by h pixels that shows the ground from above: a square,
// size by size units of task.Placed, from (0,0) in its upper left corner on.
type Ground func(w, h int) (part image.Rectangle, size float64)

// Viewer is a screen among several of one run, of which one drives:
// only what it sends is carried out.
type Viewer interface {
	// Driver is who drives instead of this screen; "": this one does.
	Driver() string
	// MayDrive says whether this screen may become the one that drives.
	MayDrive() bool
	// Take makes this screen the one that drives, if it may.
	Take()
}

// ErrWatchOnly refuses what a screen asks for that may only look.
var ErrWatchOnly = errors.New("this screen may look, not change anything")

// ForkPlan says which children a run gets. Those of a pair have the same random
// streams, new ones from the fork on; one is changed, the other is not.
type ForkPlan struct {
	Set   []string // "knob=value", with ! redone at once; empty: placebo, only the streams differ
	Pairs int
	Steps int // env steps that each child makes
	// Confirm begins the children at the beginning, on fresh seeds: one with the
	// schedule of everything that was changed in this run, one with none.
	Confirm bool
}

// Child is one child of a run.
type Child struct {
	Dir     string
	Pair    int  // from 0
	Changed bool // in placebo pairs: the second one
	From    int  // env steps at which it begins
	To      int  // and ends
	// Failed says why it was given up; nil: it goes on, or is done. It may be called
	// from any goroutine.
	Failed func() error
}

// ErrReplay is the answer to every wish to change a run that is over.
var ErrReplay = errors.New("this is a replay: nothing can be changed; pgrlab --preset DIR/config.toml runs it again")

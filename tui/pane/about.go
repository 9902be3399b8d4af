package pane

import (
	"errors"
	"image"
	"path/filepath"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/tui/history"
	"pgrlab/tui/scenes"
)

// Lab is what the screen needs from a running experiment.
type Lab interface {
	Snapshot() *event.Snapshot
	Events(from int) []event.Event
	Send(event.Command) error
}

// Reference is a result to compare the returns with.
type Reference struct {
	Source     string // "paper", "independent", or "expect" for this program's own runs
	Mean, Std  float64
	From       int    // a mean over the evaluations from this env step to Step; 0: the result at Step
	Step       int    // env steps after which the result was measured
	Frames     int    // the same in frames of the task, where results are counted in frames; else 0
	OtherScale bool   // measured at another scale than this run's, hence not comparable
	Where      string // where the result was measured, if elsewhere; it is not comparable then
}

// GPU is what a GPU is doing. Unknown values are negative.
type GPU struct {
	Busy        float64 // share of the time in which a kernel of any process ran, 0 to 1
	Used, Total float64 // bytes of its memory; Used counts all processes
	Temperature float64 // °C
	Power       float64 // W
}

// At is the env step beside which the result stands in a chart: the middle of those that it is of.
func (r Reference) At() float64 {
	if r.From > 0 {
		return float64(r.From+r.Step) / 2
	}
	return float64(r.Step)
}

// Apart says whether the result is not comparable with the run.
func (r Reference) Apart() bool { return r.OtherScale || r.Where != "" }

// About describes a run to the screen, with what it may ask of the program around the run.
type About struct {
	Config     config.Config // the run's config: its names stand in the header, its method decides which knobs are used
	Device     string        // with the kernel family, e.g. "cpu avx2"; "": Config.Device
	Folder     string        // the run folder, shown at the start and in the quit dialog
	References []Reference   // the most comparable first
	Untrained  *float64      // the return of a policy that has learned nothing, as measured by others; nil: unknown

	// Names are the names of an observation's numbers, for the map; nil: unknown.
	Names []string
	// Choices are the names of the actions that the agent chooses from; nil: unknown, or the agent
	// does not choose.
	Choices []string

	// Replay says that Start returns a *Replay: nothing can be changed.
	Replay bool
	// Scenes are what the replay shows beside the journal; nil: there are none.
	Scenes *scenes.Reel
	// Again says how a past run is run again, once Start has read its journal; nil: unknown.
	Again func() string
	// Ended says that the replay stands at the end of a run that the person at this screen has
	// watched: leaving asks what to do next.
	Ended bool
	// Picked says that the replay was chosen on the first screen: leaving leads back there.
	Picked bool
	// LoadRun reads the journal of another run folder, to compare with; nil: ReadJournal.
	LoadRun func(dir string) ([]event.Event, error)
	// LoadFork reads the journal of a fork that this run's journal names; nil: LoadRun.
	LoadFork func(dir string) ([]event.Event, error)
	// Alike reads what other runs returned that have the settings of this one and were not changed by
	// hand. It is called once, outside the event loop. nil: none are looked for.
	Alike func() []history.Past
	// LoadConfig reads the configuration of that folder; nil: from its config.toml.
	LoadConfig func(dir string) (config.Config, error)

	// Fork makes children of the run, has them trained beside it, and returns them with the line of the
	// journal that says what they are. It is called outside the event loop. If it fails it returns the
	// children that it could make with the error. nil: no children can be made here.
	Fork func(ForkPlan) (event.Forked, []Child, error)

	// GoOn trains children on that stopped before their end. It returns them as Fork does, without those
	// that another process trains or that this one does already.
	GoOn func([]Child) ([]Child, error)

	// Hold makes the run wait until the children that train are over; without any it returns ErrNoForks.
	Hold func() error

	// Look writes into the journal what children showed; nil: it is not kept. It is called outside the
	// event loop.
	Look func(event.Looked) error

	// Pace says how quickly the children train; nil: one at a time, on a core of its own.
	Pace func() ForkPace

	// WhatIf trains with other rows beside the run; nil: not available here.
	WhatIf WhatIf

	// Remote says that the screen is on the terminal of another process: leaving it does not affect
	// the run.
	Remote bool
	// Draw paints the body in an event.Snapshot.Pose, w by h square pixels. The picture belongs to
	// the function and is valid until the next call; picture.Lines turns it into text. Draw is
	// called from one goroutine; the first call may take a tenth of a second. An error is
	// permanent. nil: nothing can be drawn.
	Draw func(pose []float64, w, h int) (*image.RGBA, error)

	// Ground is where these pictures show the ground; nil: they do not show it.
	Ground Ground

	// GPU is the last reading of the run's GPU; nil, or a function that returns nil: there is no
	// GPU, or nothing is known of it.
	GPU func() *GPU

	// Viewer is this screen if the run has several screens; nil: it is the only one.
	Viewer Viewer
}

// Ground is the part of a picture of w by h pixels that shows the ground from above: a square of
// size by size units of task.Placed, with (0,0) in its upper left corner.
type Ground func(w, h int) (part image.Rectangle, size float64)

// Viewer is one of several screens of a run. One of them drives: only its commands are carried out.
type Viewer interface {
	// Driver is the name of the screen that drives instead of this one; "": this one does.
	Driver() string
	// MayDrive says whether this screen may become the one that drives.
	MayDrive() bool
	// Take makes this screen the one that drives, if it may.
	Take()
}

// ErrWatchOnly refuses a command of a screen that may only watch.
var ErrWatchOnly = errors.New("this screen may look, not change anything")

// ForkPlan says which children a run gets. Each child has random streams of its own from the fork on.
type ForkPlan struct {
	Set   []string // "knob=value", with ! redone at once; empty: nothing is changed
	Each  int      // children that get the change; as many do not
	Steps int      // env steps that each child makes
	Every int      // env steps between two of its evaluations
	At    int      // the last kept checkpoint at or before that env step is forked; 0: the newest
	Hold  bool     // the run waits until the children are done
	// Confirm starts the children at step 0 on fresh seeds: half of them with the schedule of all
	// changes made in this run, half with none.
	Confirm bool
}

// ForkPace is how quickly children train.
type ForkPace struct {
	AtATime int           // children that train at the same time
	Paused  float64       // cores that they share while the run waits
	Beside  float64       // and while it trains
	Threads int           // of the run, whose children have one each
	Start   time.Duration // from the start of a process until it trains; 0: unknown
	OnGPU   bool          // they share a GPU with the run: the cores say nothing
}

// Child is one child of a run.
type Child struct {
	Dir     string
	Changed bool // it was dealt the change
	From    int  // env steps at which it begins
	To      int  // and ends
	// Failed says why the child was given up, which is ErrStopped if it can go on; nil: it goes on,
	// is done, or is not known. It may be called from any goroutine.
	Failed func() error
}

// ErrStopped is wrapped by the reason why a child trains no longer that can go on.
var ErrStopped = errors.New("stopped before its end")

// ErrNoForks: the run cannot be held for forks.
var ErrNoForks = errors.New("no forks are being trained: there is nothing to hold the run for")

// ForkFolder is the folder of a fork that the journal of a run names; "" if it does not lie beside that
// of the run. The last part of folder is the run's own name (run.Named).
func ForkFolder(folder, name string) string {
	if folder == "" || !filepath.IsLocal(name) || filepath.Base(name) != name {
		return ""
	}
	return filepath.Join(filepath.Dir(filepath.Clean(folder)), name)
}

// ErrReplay is the answer to every attempt to change a run that is over.
var ErrReplay = errors.New("this is a replay: nothing can be changed")

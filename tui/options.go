package tui

import (
	"image"
	"os"
	"time"

	"github.com/charmbracelet/lipgloss"

	"pgrlab/core/event"
	"pgrlab/core/lab"
)

// CharacterSet chooses the characters of a screen.
type CharacterSet int

// The sets.
const (
	Unicode CharacterSet = iota // box drawing and blocks, no Braille
	ASCII                       // plain ASCII only
	Console                     // the box drawing that the Linux console's font has
)

// Reference is a published result to compare the returns with.
type Reference struct {
	Source     string // e.g. "paper"
	Mean, Std  float64
	Step       int  // env steps after which it was measured
	OtherScale bool // measured at another scale than this run's: it does not compare
}

// GPU is what a GPU is doing. What is not known is negative.
type GPU struct {
	Busy        float64 // share of the time in which a kernel ran, of any process, 0 to 1
	Used, Total float64 // bytes of its memory, by all processes
	Temperature float64 // °C
	Power       float64 // W
}

// About is what the screen is told of a run, and what it may ask of the program around
// the run.
type About struct {
	Config     lab.Config  // of the run: its names stand in the header, its method decides which knobs are used
	Device     string      // with the kernel family, e.g. "cpu avx2"; "": Config.Device
	Folder     string      // the run folder, shown while starting and in the quit dialog
	References []Reference // the one that compares best first

	// Names are those of the numbers of an observation, for the map; nil: unknown.
	Names []string

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

	// Remote says that the screen is on the terminal of another process: leaving it is
	// nothing to the run.
	Remote bool
	// Draw paints the body in a event.Snapshot.Pose, w by h square pixels. The picture
	// is the function's own memory, good until the next call; picture.Lines makes
	// text of it. It is called from one goroutine; the first call may take a tenth of
	// a second. An error is of the kind that stays. nil: nothing can be drawn.
	Draw func(pose []float64, w, h int) (*image.RGBA, error)

	// GPU is what the GPU of the run did last; nil, or a function that returns nil:
	// there is none, or nobody knows.
	GPU func() *GPU

	// Seat is this screen's place among several screens of the run; nil: it is the
	// only one.
	Seat Seat
}

// Options describe the run that the screen shows, and the screen. Start is the only
// field without a usable zero value.
type Options struct {
	About

	// Start makes the lab and sets it running; it is called once, from a goroutine of
	// its own, while the screen shows that the run is starting. An error closes the
	// screen and is what Run returns.
	Start func() (Lab, error)

	// Picker, when there is one, is shown first: what it picks becomes the run.
	Picker *Picker
	// Plain writes lines instead of a screen, and reads commands line by line: for
	// screen readers and logs.
	Plain bool
	// Leave, when it delivers, closes the screen as ctrl+z does; nil: it never does.
	Leave <-chan struct{}
	// Told stands at the foot of the first frame.
	Told string
	// Home is the folder of the user's settings; "" reads and keeps none.
	Home string

	Characters CharacterSet
	Renderer   *lipgloss.Renderer // nil: colours as the environment allows
	Input      *os.File           // nil: os.Stdin
	Output     *os.File           // nil: os.Stdout
	Clock      func() time.Time   // nil: time.Now
}

// settings are those of the user's folder; a file that is wrong counts as none, and
// the caller has said so before the screen opened.
func (o Options) settings() Settings {
	if o.Home == "" {
		return DefaultSettings()
	}
	s, err := LoadSettings(o.Home)
	if err != nil {
		return DefaultSettings()
	}
	return s
}

func (o Options) terminal() (in, out *os.File) {
	in, out = o.Input, o.Output
	if in == nil {
		in = os.Stdin
	}
	if out == nil {
		out = os.Stdout
	}
	return in, out
}

func (o Options) clock() func() time.Time {
	if o.Clock == nil {
		return time.Now
	}
	return o.Clock
}

// environment is the process's environment as termenv asks for it.
type environment struct{}

// Environ lists the environment.
func (environment) Environ() []string { return os.Environ() }

// Getenv is one variable of it.
func (environment) Getenv(key string) string { return os.Getenv(key) }

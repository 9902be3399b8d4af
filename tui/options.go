package tui

import (
	"image"
	"os"
	"time"

	"github.com/charmbracelet/lipgloss"

	"pgrlab/core/lab"
)

// CharacterSet chooses the characters of a screen.
type CharacterSet int

// The sets.
const (
	Unicode CharacterSet = iota // box drawing and blocks, no Braille
	ASCII                       // plain ASCII only
)

// Reference is a published result to compare the returns with.
type Reference struct {
	Source    string // e.g. "paper"
	Mean, Std float64
}

// Options describe the run that the screen shows. Start is the only field without a
// usable zero value.
type Options struct {
	Config    lab.Config // of the run: its names stand in the header, its method decides which knobs are used
	Device    string     // with the kernel family, e.g. "cpu avx2"; "": Config.Device
	Folder    string     // the run folder, shown while starting and in the quit dialog
	Reference *Reference // nil: none is known

	// Start makes the lab and sets it running; it is called once, from a goroutine of
	// its own, while the screen shows that the run is starting. An error closes the
	// screen and is what Run returns.
	Start func() (Lab, error)

	// Draw paints the body in a lab.Snapshot.Pose, w by h square pixels. The picture
	// is the function's own memory, good until the next call; picture.Lines makes
	// text of it. It is called from one goroutine; the first call may take a tenth of
	// a second. An error is of the kind that stays. nil: nothing can be drawn.
	Draw func(pose []float64, w, h int) (*image.RGBA, error)

	Characters CharacterSet
	Renderer   *lipgloss.Renderer // nil: colours as the environment allows
	Input      *os.File           // nil: os.Stdin
	Output     *os.File           // nil: os.Stdout
	Clock      func() time.Time   // nil: time.Now
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

package tui

import (
	"os"
	"time"

	"github.com/charmbracelet/lipgloss"

	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// Options describe the run that the screen shows, and the screen itself. Start is the only field
// without a usable zero value.
type Options struct {
	pane.About

	// Start makes the lab and sets it running. It is called once, from a goroutine of its own,
	// while the screen shows that the run is starting. An error closes the screen and is returned
	// by Run.
	Start func() (pane.Lab, error)

	// Picker, if not nil, is shown first: what it picks becomes the run.
	Picker *Picker
	// Plain writes lines instead of a screen and reads commands line by line, for screen readers
	// and logs.
	Plain bool
	// Seen is the env step up to which Plain does not write what happened: it is on the terminal already.
	Seen int
	// Leave closes the screen, as ctrl+z does, when it delivers; nil: it never does.
	Leave <-chan struct{}
	// Message stands at the foot of the first frame.
	Message string
	// Layout is focus, full or present; "": as the settings say.
	Layout string
	// Refresh is the most times a second that the screen polls the run; 0: as the settings say.
	Refresh float64
	// Pictures is one of PictureChoices; "": as the settings say.
	Pictures string
	// Home is the folder of the user's settings; "": none are read or kept.
	Home string

	Characters theme.CharacterSet
	Renderer   *lipgloss.Renderer // nil: colours as the environment allows
	Input      *os.File           // nil: os.Stdin
	Output     *os.File           // nil: os.Stdout
	Clock      func() time.Time   // nil: time.Now

	screen   int64         // number of a screen that this process serves; 0: its own
	patience time.Duration // with the terminal's answers; 0: query.Patience
}

// settings are those of the user's folder. A file with an error counts as none; the caller has
// reported it before the screen opened.
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

// environment gives the process's environment to termenv.
type environment struct{}

// Environ lists the environment.
func (environment) Environ() []string { return os.Environ() }

// Getenv returns one variable of the environment.
func (environment) Getenv(key string) string { return os.Getenv(key) }

package pane

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/shell"
	"pgrlab/tui/history"
	"pgrlab/tui/picture"
	"pgrlab/tui/theme"
	"pgrlab/tui/topic"
)

// Run is what all parts of the screen know of the run and of the screen that shows it. The screen
// writes it; the parts read it.
type Run struct {
	Screen
	About     *About
	Theme     *theme.Theme
	Images    *picture.Images // of the terminal; nil: it shows only characters
	Now       func() time.Time
	KnobList  []knob.Knob // the knobs that the method uses come first
	Boxed     bool        // the layout draws panes in boxes
	Projected bool        // the screen is on a projector: dots stand in for areas
	Driver    string      // who steers instead of this screen, as last drawn; "": this screen does
	Lab       Lab         // nil: not started yet
	Snap      *event.Snapshot
	History   history.History
	Others    []Other    // runs that the charts show beside this one
	Fan       *FanCurves // forks that they show; nil: none
	Newest    *FanCurves // the newest forks, whether shown or not; nil: there are none

	momentAsked time.Time // when the newest transition was last requested
}

// Canvas returns what pictures are drawn on.
func (r *Run) Canvas() picture.Canvas {
	return r.Images.Canvas(picture.For(r.Theme.Renderer.ColorProfile(), r.Theme.Set != theme.ASCII))
}

// Touch marks the panes that show a topic to be drawn again.
func (r *Run) Touch(topics ...topic.Topic) { r.History.Touch(topics...) }

// TouchPane marks one pane to be drawn again.
func (r *Run) TouchPane(id ID) { r.History.Touch(topic.Topic(id)) }

// Ended says whether the run is over.
func (r *Run) Ended() bool {
	return r.Snap != nil && (r.Snap.State == event.Finished || r.Snap.State == event.FailedState)
}

// chunks is in how many parts a D_syn that is made again comes into force.
func (r *Run) chunks() int {
	c := r.About.Config
	if r.Snap.Synthetic == 0 || c.Roll() == 0 {
		return 1
	}
	chunk := max(1, c.Generator.Chunk)
	return max(1, (int(r.Effective("samples").Number)+chunk-1)/chunk)
}

// RollSteps is how many steps after its first part all of a D_syn that is made again is in force.
func (r *Run) RollSteps() int {
	return (r.chunks() - 1) * r.About.Config.Roll() * r.About.Config.Environment.InLockstep()
}

// Cost estimates for how long redoing a class leaves no time for env steps; unknown before the first refit.
func (r *Run) Cost(class knob.Class) (time.Duration, bool) {
	if r.Snap == nil {
		return 0, false
	}
	switch class {
	case knob.ClassGeneration:
		return r.Snap.CostGenerate / time.Duration(r.chunks()), r.Snap.CostGenerate > 0
	case knob.ClassRefit:
		return r.Snap.CostRefit, r.Snap.CostRefit > 0
	default:
		return 0, true
	}
}

// Generated says whether there is a generator that could make its samples again.
func (r *Run) Generated() bool { return r.Snap != nil && r.Snap.Refits > 0 }

// CheckDriver checks which screen drives.
func (r *Run) CheckDriver() {
	if r.About.Viewer == nil {
		return
	}
	if driver := r.About.Viewer.Driver(); driver != r.Driver {
		r.Driver = driver
		r.Changed()
	}
}

// Watching says whether another screen drives.
func (r *Run) Watching() bool {
	r.CheckDriver()
	return r.Driver != ""
}

// MayDrive says whether this screen drives or may take over.
func (r *Run) MayDrive() bool { return r.About.Viewer == nil || r.About.Viewer.MayDrive() }

// Fixed says why nothing can be changed at this screen, whatever its person does; nil: something can.
func (r *Run) Fixed() error {
	switch {
	case r.About.Replay && r.About.Again != nil:
		return fmt.Errorf("%w; %s", ErrReplay, r.About.Again())
	case r.About.Replay:
		return ErrReplay
	case !r.MayDrive():
		return ErrWatchOnly
	}
	return nil
}

// FolderWord is the run folder in a command to type; DIR if the person knows it better, or cannot
// type commands where it is.
func (r *Run) FolderWord() string {
	if r.About.Folder == "" || !r.MayDrive() || r.About.Remote && !filepath.IsAbs(r.About.Folder) {
		return "DIR"
	}
	return shell.Word(r.About.Folder)
}

// ErrNotDriving says why a screen that only watches cannot change anything.
func (r *Run) ErrNotDriving() error {
	if !r.MayDrive() {
		return ErrWatchOnly
	}
	return fmt.Errorf("%s drives: D takes over", r.Driver)
}

// TakeControl takes over from the screen that drives.
func (r *Run) TakeControl() tea.Cmd {
	if !r.Watching() {
		r.Tell("this screen drives")
		return nil
	}
	if !r.MayDrive() {
		r.Tell(ErrWatchOnly.Error())
		return nil
	}
	from := r.Driver
	r.About.Viewer.Take()
	r.CheckDriver()
	r.Tell("you drive now: " + filepath.Base(r.About.Folder) + "; " + from + " watches")
	return nil
}

// WatchingLine is the footer of a screen that does not drive.
func (r *Run) WatchingLine(w int) string {
	t := r.Theme
	hint := func(key, does string) string { return t.Key.On(key) + " " + t.Dim.On(does) }
	start := t.Warn.On("watching: ") + r.Driver + t.Dim.On(" drives")
	hints := []string{hint("D", "take over"), hint("?", "help"), hint("q", "leave")}
	if !r.MayDrive() {
		hints = hints[1:]
	}
	return t.Spread(start, theme.Join(w-theme.Width(start)-2, "  ", hints...), w)
}

// Device is the device, with what is known of its kernels.
func (r *Run) Device() string {
	if r.About.Device != "" {
		return r.About.Device
	}
	return r.About.Config.Device
}

// LookOf is the look of the i-th compared run.
func (r *Run) LookOf(i int) int { return 1 + i }

// RunLabel labels a run on the charts: A is this run, B and on are those it is compared with; "" if
// there is nothing to tell apart.
func (r *Run) RunLabel(i int) string {
	if len(r.Others) == 0 {
		return ""
	}
	return string(rune('A' + i))
}

// Generates says whether the run's method makes synthetic data.
func (r *Run) Generates() bool {
	k, err := knob.Find("samples")
	return err != nil || r.KnobUse(k) == nil
}

// Dreams says whether the run has no agent.
func (r *Run) Dreams() bool { return r.About.Config.Dreams() }

// Imagines says whether the learner has a model of the world.
func (r *Run) Imagines() bool { return r.About.Config.Imagines() }

// NextRefit is the number of env steps to the next refit; 0: none will come.
func (r *Run) NextRefit() int {
	if r.Ended() {
		return 0
	}
	return r.Snap.NextRefit
}

// Phase is the current phase; between two steps it is the phase of the step.
func (r *Run) Phase() knob.Phase {
	if r.Snap.Phase == knob.AfterStep {
		return knob.Collect
	}
	return r.Snap.Phase
}

// Effective is the value that the lab says is set.
func (r *Run) Effective(name string) knob.Value {
	if r.Snap != nil {
		if v, ok := r.Snap.Knobs[name]; ok {
			return v
		}
	}
	v, _ := r.About.Config.Knobs.Get(name)
	return v
}

// KnobUse is nil, or the reason why the method does not use the knob.
func (r *Run) KnobUse(k knob.Knob) error { return r.About.Config.Uses(k) }

// LastChange is the newest change, whatever became of it.
func (r *Run) LastChange() *history.Change {
	if n := len(r.History.Changes); n > 0 {
		return r.History.Changes[n-1]
	}
	return nil
}

// SortKnobs puts the knobs that the method uses before the others.
func (r *Run) SortKnobs() {
	r.KnobList = knob.All()
	rank := func(k knob.Knob) int {
		if r.KnobUse(k) != nil {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(r.KnobList, func(a, b knob.Knob) int { return rank(a) - rank(b) })
	for i, k := range r.KnobList {
		r.KnobList[i] = r.About.Config.Offered(k)
	}
}

// Waiting is a pane without data: the reason why it is empty, dim, in its middle.
func (r *Run) Waiting(text string, w, h int) []string {
	lines := theme.Wrap(r.Spelled(text), max(1, w))
	out := make([]string, max(0, h-len(lines))/2, h+1)
	for _, l := range lines {
		out = append(out, strings.Repeat(" ", max(0, (w-theme.Width(l))/2))+r.Theme.Dim.On(l))
	}
	return out
}

// Wall is the time from the first event to the newest.
func (r *Run) Wall() time.Duration {
	n := len(r.History.Lines)
	if n == 0 {
		return 0
	}
	return r.History.Lines[n-1].Wall.Sub(r.History.Begin)
}

// Fraction is the share of the run that is done, 0 to 1.
func (r *Run) Fraction() float64 {
	if r.Snap == nil || r.Snap.Steps <= 0 {
		return 0
	}
	return math.Min(1, float64(r.Snap.Step)/float64(r.Snap.Steps))
}

// StateText is the run's state with a sign of its own, so that it can be read without colour.
func (r *Run) StateText() string {
	t := r.Theme
	if r.Snap == nil {
		return t.StateStart.On(t.Glyphs.Ring + " STARTING")
	}
	switch r.Snap.State {
	case event.Running:
		return t.StateRun.On(t.Glyphs.Play + " RUN")
	case event.Ready:
		return t.StateRun.On(t.Glyphs.Ring + " READY")
	case event.PausedState:
		if r.Snap.Passing && r.Snap.Err == "" { // for forks or a what-if
			return t.StatePause.On(t.Glyphs.Pause + " HELD")
		}
		return t.StatePause.On(t.Glyphs.Pause + " PAUSED")
	case event.Finished:
		if r.Snap.Step < r.Snap.Steps {
			return t.StatePause.On(t.Glyphs.Stop + " STOPPED")
		}
		return t.StateRun.On(t.Glyphs.Check + " DONE")
	case event.FailedState:
		return t.StateStop.On(t.Glyphs.Cross + " FAILED")
	default:
		return t.StateStart.On(t.Glyphs.Ring + " STARTING")
	}
}

// Badge says whether people changed knobs during the run.
func (r *Run) Badge(h *history.History) string {
	if n := h.Touched(); n > 0 {
		return r.Theme.Warn.On(fmt.Sprintf("TOUCHED %s%d", r.Theme.Glyphs.Times, n))
	}
	return r.Theme.Good.On("CLEAN")
}

// ShowsChosenF says whether the histograms of F are of the F that is chosen now: the generator is fitted to
// another one at the next refit.
func (r *Run) ShowsChosenF() bool {
	return r.History.F == nil || r.History.F.Of == r.Effective("relevance").Text
}

// Remaking says whether the run is redoing what a change of F or of the generator requires.
func (r *Run) Remaking() bool {
	if r.Snap == nil {
		return false
	}
	switch r.Phase() {
	case knob.Score, knob.Fit, knob.Generate:
		return true
	}
	return false
}

// Spelled is text in the characters that the screen has.
func (r *Run) Spelled(text string) string { return r.Theme.Spelled(text) }

// Paused says whether the run stands still on request.
func (r *Run) Paused() bool { return r.Snap != nil && r.Snap.State == event.PausedState }

// Answers says whether the run can be asked for what only the lab has.
func (r *Run) Answers() bool {
	return r.Lab != nil && r.Snap != nil && !r.Ended() && !r.About.Replay
}

// momentEvery is the shortest time between two requests for the newest transition: each costs the training
// some milliseconds.
const momentEvery = 500 * time.Millisecond

// AskMoment asks the run for its newest transition, for all panes that show it.
func (r *Run) AskMoment() {
	if !r.Answers() || r.Now().Sub(r.momentAsked) < momentEvery {
		return
	}
	if m := r.Snap.Moment; m != nil && m.Step == r.Snap.Step {
		return
	}
	if r.Lab.Send(event.Watch{}) == nil {
		r.momentAsked = r.Now()
	}
}

// Other is a run that the charts show beside this one.
type Other struct {
	Name    string
	History history.History
	Paced   bool // its configuration was read, so that its critic updates are known
}

// FindKnob finds a knob by its name or its symbol.
func (r *Run) FindKnob(name string) (knob.Knob, error) {
	for _, k := range r.KnobList {
		if k.Called(name) {
			return k, nil
		}
	}
	return knob.Find(name)
}

// NewHistory is the history, still empty, of this run.
func (r *Run) NewHistory() history.History {
	h := history.New(0, 0)
	h.Clock = ClockOf(&r.About.Config)
	return h
}

// ClockOf is the clock of a run of c before its first event.
func ClockOf(c *config.Config) history.Clock {
	p := c.Pace()
	copies := c.Environment.InLockstep()
	return history.Clock{Before: c.Data.Pretrain, From: copies * p.From, UTD: float64(p.Updates), Every: copies * p.Every}
}

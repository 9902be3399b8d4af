package tui

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/knob"

	tea "github.com/charmbracelet/bubbletea"
)

// runView is what all parts of the screen know of the run, and of the screen that
// shows it. The screen writes it; the parts read it.
type runView struct {
	host
	about    *About
	theme    *theme
	now      func() time.Time
	knobList []knob.Knob // those that the method uses first
	boxed    bool        // the layout draws panes in boxes
	driver   string      // who steers instead of this screen, as drawn; "": this one does
	lab      Lab         // nil: not started yet
	snap     *event.Snapshot
	history  history
	others   []other // runs that the charts show beside this one
}

// touch has the panes that show a topic drawn again.
func (m *runView) touch(topics ...topic) { m.history.touch(topics...) }

// touchPane has one pane drawn again.
func (m *runView) touchPane(id paneID) { m.history.touch(topic(id)) }

// ended says whether the run is over.
func (m *runView) ended() bool {
	return m.snap != nil && (m.snap.State == event.Finished || m.snap.State == event.FailedState)
}

// cost estimates what redoing a class takes; unknown before the first refit.
func (m *runView) cost(class knob.Class) (time.Duration, bool) {
	if m.snap == nil {
		return 0, false
	}
	switch class {
	case knob.ClassGeneration:
		return m.snap.CostGenerate, m.snap.CostGenerate > 0
	case knob.ClassRefit:
		return m.snap.CostRefit, m.snap.CostRefit > 0
	default:
		return 0, true
	}
}

// generated says whether there is a generator whose samples could be made anew.
func (m *runView) generated() bool { return m.snap != nil && m.snap.Refits > 0 }

// seated looks which screen steers.
func (m *runView) seated() {
	if m.about.Seat == nil {
		return
	}
	if driver := m.about.Seat.Driver(); driver != m.driver {
		m.driver = driver
		m.changed()
	}
}

// watching says whether another screen drives.
func (m *runView) watching() bool {
	m.seated()
	return m.driver != ""
}

// takeSeat takes over from the screen that drives.
func (m *runView) takeSeat() tea.Cmd {
	if !m.watching() {
		m.tell("this screen drives")
		return nil
	}
	from := m.driver
	m.about.Seat.Take()
	m.seated()
	m.tell("you drive now; " + from + " watches")
	return nil
}

// watchingLine is the footer of a screen that does not drive.
func (m *runView) watchingLine(w int) string {
	t := m.theme
	hint := func(key, does string) string { return t.key.on(key) + " " + t.dim.on(does) }
	start := t.warn.on("watching: ") + m.driver + t.dim.on(" drives")
	return t.spread(start, join(w-width(start)-2, "  ", hint("D", "take over"), hint("?", "help"), hint("q", "leave")), w)
}

// device is the device with what is known of its kernels.
func (m *runView) device() string {
	if m.about.Device != "" {
		return m.about.Device
	}
	return m.about.Config.Device
}

// lookOf is the look of the i-th compared run.
func (m *runView) lookOf(i int) int { return m.history.members() + i }

// runLabel names a run on the charts: A is this one, B and on are those it is compared
// with; "" where there is nothing to tell apart.
func (m *runView) runLabel(i int) string {
	if len(m.others) == 0 {
		return ""
	}
	return string(rune('A' + i))
}

// generates says whether the run's method makes synthetic data.
func (m *runView) generates() bool {
	k, err := knob.Find("samples")
	return err != nil || m.knobUse(k) == nil
}

// nextRefit is the env steps to the next refit; 0: none is to come.
func (m *runView) nextRefit() int {
	if m.ended() {
		return 0
	}
	return m.snap.NextRefit
}

// phase is the one that runs; between two steps it is the step's.
func (m *runView) phase() knob.Phase {
	if m.snap.Phase == knob.AfterStep {
		return knob.Collect
	}
	return m.snap.Phase
}

// effective is the value the lab says is set.
func (m *runView) effective(name string) knob.Value {
	if m.snap != nil {
		if v, ok := m.snap.Knobs[name]; ok {
			return v
		}
	}
	v, _ := m.about.Config.Knobs.Get(name)
	return v
}

// knobUse is nil, or why the method does not use the knob.
func (m *runView) knobUse(k knob.Knob) error { return m.about.Config.Uses(k) }

// lastChange is the newest change, whatever became of it.
func (m *runView) lastChange() *change {
	if n := len(m.history.changes); n > 0 {
		return m.history.changes[n-1]
	}
	return nil
}

// sortKnobs puts the knobs that the method uses before the others.
func (m *runView) sortKnobs() {
	m.knobList = knob.All()
	rank := func(k knob.Knob) int {
		if m.knobUse(k) != nil {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(m.knobList, func(a, b knob.Knob) int { return rank(a) - rank(b) })
}

// waiting is a pane without data: why it is empty, dim, in its middle.
func (m *runView) waiting(text string, w, h int) []string {
	lines := wrap(m.spelled(text), max(1, w))
	out := make([]string, max(0, h-len(lines))/2, h+1)
	for _, l := range lines {
		out = append(out, strings.Repeat(" ", max(0, (w-width(l))/2))+m.theme.dim.on(l))
	}
	return out
}

// wall is the time from the first event to the newest.
func (m *runView) wall() time.Duration {
	n := len(m.history.lines)
	if n == 0 {
		return 0
	}
	return m.history.lines[n-1].wall.Sub(m.history.begin)
}

func (m *runView) fraction() float64 {
	if m.snap.Steps <= 0 {
		return 0
	}
	return math.Min(1, float64(m.snap.Step)/float64(m.snap.Steps))
}

// stateText is the run's state with a sign of its own, so that it reads without
// colour.
func (m *runView) stateText() string {
	t := m.theme
	switch m.snap.State {
	case event.Running:
		return t.stateRun.on(t.glyphs.play + " RUN")
	case event.PausedState:
		return t.statePause.on(t.glyphs.pause + " PAUSED")
	case event.Finished:
		return t.stateRun.on(t.glyphs.check + " DONE")
	case event.FailedState:
		return t.stateStop.on(t.glyphs.cross + " FAILED")
	default:
		return t.stateStart.on(t.glyphs.ring + " STARTING")
	}
}

// badge says whether people changed knobs while the run went on.
func (m *runView) badge(h *history) string {
	if n := h.touched(); n > 0 {
		return m.theme.warn.on(fmt.Sprintf("TOUCHED %s%d", m.theme.glyphs.times, n))
	}
	return m.theme.good.on("CLEAN")
}

// remaking says whether the run is making what a change of F or of the generator needs.
func (m *runView) remaking() bool {
	if m.snap == nil {
		return false
	}
	switch m.phase() {
	case knob.Score, knob.Fit, knob.Generate:
		return true
	}
	return false
}

// spelled is text in characters that the screen has.
func (m *runView) spelled(text string) string { return m.theme.spelled(text) }

// paused says whether the run stands still on request.
func (m *runView) paused() bool { return m.snap != nil && m.snap.State == event.PausedState }

// answers says whether the run can be asked for what only the lab can tell.
func (m *runView) answers() bool {
	return m.lab != nil && m.snap != nil && !m.ended() && !m.about.Replay
}

// other is a run that the charts show beside this one.
type other struct {
	name    string
	history history
}

// findKnob finds a knob by its name or its symbol.
func (m *runView) findKnob(name string) (knob.Knob, error) {
	for _, k := range m.knobList {
		if k.Symbol == name {
			return k, nil
		}
	}
	k, err := knob.Find(name)
	if err != nil {
		return k, fmt.Errorf("no such command or knob: %w", err)
	}
	return k, nil
}

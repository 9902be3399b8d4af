package tui

import (
	"fmt"
	"math"
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

func redoing(class knob.Class) string {
	if class == knob.ClassRefit {
		return "F is scored, the generator fitted from new and D_syn made anew."
	}
	return "D_syn is made anew from the generator as it is."
}

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

// replaySpeed is how fast the replay plays.
func (m *runView) replaySpeed() float64 {
	if r, ok := m.lab.(*Replay); ok {
		return r.Faster(1)
	}
	return 1
}

// device is the device with what is known of its kernels.
func (m *runView) device() string {
	if m.about.Device != "" {
		return m.about.Device
	}
	return m.about.Config.Device
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

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

// atNextRefit says when a change is made that waits, if it ever is.
func (m *runView) atNextRefit() string {
	if left := m.snap.Steps - m.snap.Step; m.snap.NextRefit <= 0 || m.snap.NextRefit >= left {
		return "at the next refit, but the run ends before there is one, in " + count(left) + " steps"
	}
	return "at the next refit, in " + count(m.snap.NextRefit) + " steps"
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

func (m *runView) knobSymbol(name string) string {
	if k, err := knob.Find(name); err == nil {
		return symbol(k)
	}
	return name
}

// knobTitle is symbol and name.
func (m *runView) knobTitle(name string) string {
	s := m.knobSymbol(name)
	if strings.EqualFold(s, name) { // as UTD
		return s
	}
	return s + " " + name
}

// sortKnobs puts the knobs that the method uses before the others.
func (m *runView) sortKnobs() {
	m.knobList = knob.All()
	sortBy(m.knobList, func(k knob.Knob) int {
		if m.knobUse(k) != nil {
			return 1
		}
		return 0
	})
}

// since says how long a change has been in force.
func (m *runView) since(c *change) string {
	if c.state != inForce {
		return "set at step " + count(c.appliedStep) + ", not in force yet"
	}
	return "in force since step " + count(c.forceStep)
}

// markerText is the short text of a change beside its number.
func (m *runView) markerText(c *change) string {
	return fmt.Sprintf("%s %s%s%s", m.knobSymbol(c.knob), readable(c.from), m.theme.glyphs.arrow, readable(c.to))
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

// changeText is a change with as many of its stamps as fit into w columns; of the
// last one there is at least a sign.
func (m *runView) changeText(c *change, w int) string {
	stamps := m.stamps(c)
	separator := m.theme.faint.on(" " + m.theme.glyphs.separator + " ")
	for _, name := range []string{m.knobTitle(c.knob), m.knobSymbol(c.knob)} {
		for i := range stamps {
			text := m.changeWhat(c, name) + "  " + strings.Join(stamps[i:], separator)
			if width(text) <= w {
				return text
			}
		}
	}
	if c.state == refused { // the reason is what matters; its beginning says most of it
		what := m.changeWhat(c, m.knobSymbol(c.knob)) + "  " + m.theme.bad.on(m.theme.glyphs.cross) + " "
		return what + m.theme.bad.on(m.theme.clip(c.why, max(8, w-width(what))))
	}
	brief := *c
	brief.now, brief.undoes, brief.redoes = false, 0, 0
	what := m.changeWhat(&brief, m.knobSymbol(c.knob))
	return firstFitting([]string{what + "  " + m.stampSign(c), what + " " + m.stampSign(c), what}, max(w, width(what)))
}

// stampSign is the stage that a change has reached, in few columns.
func (m *runView) stampSign(c *change) string {
	t := m.theme
	switch {
	case c.state == asked && c.at > 0:
		return t.dim.on("@" + count(c.at))
	case c.state == asked:
		return t.warn.on("pending")
	case c.state == inForce:
		return t.good.on(t.glyphs.check + " at " + count(c.forceStep))
	case c.now && m.remaking():
		return t.warn.on(m.phase().String())
	default:
		return t.dim.on("waits")
	}
}

// changeWhat is number, name and values of a change.
func (m *runView) changeWhat(c *change, name string) string {
	t := m.theme
	var b strings.Builder
	if c.number > 0 {
		b.WriteString(t.markerNumber.on(fmt.Sprintf("#%d ", c.number)))
	}
	fmt.Fprintf(&b, "%s %s %s %s", name, readable(c.from), t.glyphs.arrow, readable(c.to))
	if c.now {
		b.WriteString(" now")
	}
	if c.undoes > 0 {
		fmt.Fprintf(&b, " (undoes #%d)", c.undoes)
	}
	if c.redoes > 0 {
		fmt.Fprintf(&b, " (redoes #%d)", c.redoes)
	}
	return b.String()
}

// stamps are the stages a change has reached, in their order.
func (m *runView) stamps(c *change) []string {
	t := m.theme
	var out []string
	if c.askedStep >= 0 {
		out = append(out, "asked "+count(c.askedStep))
	}
	switch c.state {
	case asked:
		if c.at > 0 {
			return append(out, t.dim.on("for step "+count(c.at)))
		}
		return append(out, t.warn.on("pending"+t.glyphs.wait))
	case refused:
		return append(out, t.bad.on(t.glyphs.cross+" "+c.why))
	}
	out = append(out, "applied "+count(c.appliedStep))
	switch {
	case c.state == inForce:
		out = append(out, t.good.on(t.glyphs.check+" in force "+count(c.forceStep)))
	case c.now && m.remaking():
		out = append(out, t.warn.on("under way: "+m.phase().String()))
	case c.why != "":
		out = append(out, t.dim.on(c.why))
	case c.class == knob.ClassGeneration:
		out = append(out, t.dim.on("waits for the next generation"))
	case c.class == knob.ClassRefit:
		out = append(out, t.dim.on("waits for the next refit"))
	}
	return out
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

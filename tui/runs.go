package tui

import (
	"fmt"
	"path/filepath"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/tui/chart"
)

// loaded delivers the journal of a run to compare with.
type loaded struct {
	name   string
	events []event.Event
	err    error
}

// runsPane is this run, the runs it is compared with, and the children of its forks.
type runsPane struct {
	*steering
	saving *forkGroup // waits for its checkpoint
	groups []forkGroup
	nextAt time.Time // when the journals of children are read next
}

func newRuns(s *steering) *runsPane { return &runsPane{steering: s} }

// ID names the pane.
func (m *runsPane) ID() paneID { return paneRuns }

// Tab is its name on the tab bar.
func (m *runsPane) Tab() string { return string(paneRuns) }

// Title is what its border says.
func (m *runsPane) Title(w int) (title, note string) { return "RUNS", "" }

// Keys work while it is in focus.
func (m *runsPane) Keys() []binding { return nil }

// Verbs are its commands.
func (m *runsPane) Verbs() []verb {
	return []verb{
		{"confirm", "make the changes of this run a preset, and run it beside an untouched control on fresh seeds", nil, m.commandConfirm},
		{"compare", "draw another run's curves beside these: a run folder", nil, m.commandCompare},
	}
}

// DependsOn are the topics that it shows.
func (m *runsPane) DependsOn() []topic { return []topic{topicSnapshot, topicCharts} }

// Body lists this run and those that it is compared with.
func (m *runsPane) Body(w, _ int) []string {
	t, h := m.theme, &m.history
	row := func(mark string, name string, h *history, state string) string {
		room := max(12, min(48, w-46))
		text := mark + " " + t.bold.on(t.fit(t.middle(name, room), room))
		short := text
		if n := len(h.evaluations); n > 0 {
			e := h.evaluations[n-1]
			short += " " + number(e.mean)
			text += t.dim.on(" return ") + number(e.mean) + t.dim.on(" at ") + count(e.step)
		}
		return longest([]string{short + "  " + m.badge(h), short + "  " + state + "  " + m.badge(h), text + "  " + state + "  " + m.badge(h)}, w)
	}
	name := filepath.Base(m.about.Folder)
	if m.about.Folder == "" {
		name = m.about.Config.Method
	}
	mark := func(look int, label string) string {
		if label != "" {
			label = " " + label
		}
		return t.series[look%len(t.series)].on(t.chart.Sample(look, chart.Line) + label)
	}
	out := []string{row(mark(0, m.runLabel(0)), name, h, m.stateText())}
	for i := range m.others {
		o := &m.others[i]
		out = append(out, row(mark(m.lookOf(i), m.runLabel(i+1)), o.name, &o.history, t.dim.on("compared")))
	}
	out = append(out, m.forkLines(w)...)
	return append(out, "", t.dim.on(t.clip(":compare DIR draws another run's curves beside these", w)))
}

// commandCompare reads another run's journal, outside the event loop.
func (m *runsPane) commandCompare(dir string) error {
	if dir == "" {
		return fmt.Errorf("compare: which run folder?")
	}
	if len(m.others) >= 3 {
		return fmt.Errorf("compare: three runs beside this one are the most; esc takes them away")
	}
	load := m.about.LoadRun
	m.startLater(func() tea.Msg {
		events, err := load(dir)
		return loaded{filepath.Base(filepath.Clean(dir)), events, err}
	})
	return nil
}

// overlayRun draws a run that was read beside this one.
func (m *runsPane) overlayRun(msg loaded) {
	if msg.err != nil {
		m.report(msg.err)
		return
	}
	o := other{name: msg.name, history: newHistory(m.about.Config)}
	for _, e := range msg.events {
		o.history.take(e)
	}
	m.others = append(m.others, o)
	m.tell(m.runLabel(len(m.others)) + " is " + msg.name + ", drawn beside this run, A; esc takes it away")
	m.touchPane(paneRuns)
	m.touch(topicCharts)
	m.changed()
}

// forget takes the runs away that this one is compared with; it says whether there were
// any.
func (m *runsPane) forget() bool {
	if len(m.others) == 0 {
		return false
	}
	m.others = nil
	m.touch(topicCharts)
	m.changed()
	return true
}

package tui

import (
	"fmt"
	"path/filepath"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/tui/chart"
)

// other is a run that the charts show beside this one.
type other struct {
	name    string
	history history
}

// loaded delivers the journal of a run to compare with.
type loaded struct {
	name   string
	events []event.Event
	err    error
}

// runsBody lists this run and those that it is compared with.
func (m *Model) runsBody(w, _ int) []string {
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
	name := filepath.Base(m.options.Folder)
	if m.options.Folder == "" {
		name = m.options.Config.Method
	}
	mark := func(look int, label string) string {
		if label != "" {
			label = " " + label
		}
		return t.series[look%len(t.series)].on(t.chart.Sample(look, chart.Line) + label)
	}
	out := []string{row(mark(0, m.runLabel(0)), name, h, m.stateText())}
	for i := range m.compared {
		o := &m.compared[i]
		out = append(out, row(mark(m.lookOf(i), m.runLabel(i+1)), o.name, &o.history, t.dim.on("compared")))
	}
	out = append(out, m.forkLines(w)...)
	return append(out, "", t.dim.on(t.clip(":compare DIR draws another run's curves beside these", w)))
}

// badge says whether people changed knobs while the run went on.
func (m *Model) badge(h *history) string {
	if n := h.touched(); n > 0 {
		return m.theme.warn.on(fmt.Sprintf("TOUCHED %s%d", m.theme.glyphs.times, n))
	}
	return m.theme.good.on("CLEAN")
}

// commandCompare reads another run's journal, outside the event loop.
func (m *Model) commandCompare(dir string) error {
	if dir == "" {
		return fmt.Errorf("compare: which run folder?")
	}
	if len(m.compared) >= 3 {
		return fmt.Errorf("compare: three runs beside this one are the most; esc takes them away")
	}
	load := m.options.LoadRun
	if load == nil {
		load = ReadJournal
	}
	m.later = func() tea.Msg {
		events, err := load(dir)
		return loaded{filepath.Base(filepath.Clean(dir)), events, err}
	}
	return nil
}

// overlayRun draws a run that was read beside this one.
func (m *Model) overlayRun(msg loaded) {
	if msg.err != nil {
		m.report(msg.err)
		return
	}
	o := other{name: msg.name, history: history{clock: clock{from: m.options.Config.StartSteps, utd: float64(m.options.Config.Knobs.UTD)}}}
	for _, e := range msg.events {
		o.history.take(e)
	}
	m.compared = append(m.compared, o)
	m.tell(m.runLabel(len(m.compared)) + " is " + msg.name + ", drawn beside this run, A; esc takes it away")
	m.history.touch(paneRuns)
	m.drawChartsAnew()
}

package tui

import (
	"pgrlab/core/event"
	"strconv"
	"time"
)

// systemPane is what this process and the machine do.
type systemPane struct {
	*runView
	machine machine
	line    func() (sent int64, took time.Duration) // bytes written to the terminal, and how long a write takes; nil: not known
}

func newSystem(r *runView) *systemPane { return &systemPane{runView: r} }

// ID names the pane.
func (m *systemPane) ID() paneID { return paneSystem }

// Tab is its name on the tab bar.
func (m *systemPane) Tab() string { return string(paneSystem) }

// Title is what its border says.
func (m *systemPane) Title(w int) (title, note string) { return "SYSTEM", "" }

// Keys work while it is in focus.
func (m *systemPane) Keys() []binding { return nil }

// DependsOn are the topics that it shows.
func (m *systemPane) DependsOn() []topic { return []topic{} }

// Body is what this process and the machine do.
func (m *systemPane) Body(w, h int) []string {
	t, k := m.theme, &m.machine
	if k.at.IsZero() || len(k.busyPast) == 0 {
		return m.waiting("measuring", w, h)
	}
	label := func(s string) string { return t.dim.on(t.fit(s, 7)) }
	cpu := label("CPU") + t.bold.on(strconv.FormatFloat(k.cores, 'f', 2, 64)) + t.dim.on(" of "+strconv.Itoa(k.cpus)+" cores")
	if k.busy >= 0 {
		cpu += t.dim.on("  machine ") + percent(k.busy)
	}
	if room := w - width(cpu) - 2; room >= 6 {
		cpu += "  " + t.accent.on(t.sparklineIn(k.busyPast[max(0, len(k.busyPast)-min(room, 24)):], 0, float64(k.cpus)))
	}
	memory := label("memory") + t.bold.on(bytesText(k.resident)) + t.dim.on("  Go heap ") + bytesText(k.heap)
	if k.total > 0 {
		memory = longest([]string{memory, memory + t.dim.on("  machine ") + bytesText(k.total-k.free) + t.dim.on(" of ") + bytesText(k.total)}, w)
	}
	lines := []string{cpu, memory, label("device") + m.device()}
	if m.about.GPU != nil {
		if g := m.about.GPU(); g != nil {
			lines = append(lines, label("GPU")+m.gpuUse(g, w-7))
		}
	}
	if m.line != nil {
		sent, took := m.line()
		lines = append(lines, label("screen")+bytesText(float64(sent))+t.dim.on(" written, ")+strconv.FormatFloat(took.Seconds()*1000, 'f', 1, 64)+t.dim.on(" ms a frame"))
	}
	return lines
}

// gpuUse is what a GPU does, as much as there is room for.
func (m *systemPane) gpuUse(g *GPU, w int) string {
	t := m.theme
	text := t.dim.on("busy ")
	if g.Busy >= 0 {
		text += t.bold.on(percent(g.Busy))
	} else {
		text += "-"
	}
	all := []string{text}
	add := func(known float64, part string) {
		if known >= 0 {
			text += part
			all = append(all, text)
		}
	}
	add(g.Used, t.dim.on("  memory ")+bytesText(g.Used)+t.dim.on(" of ")+bytesText(g.Total))
	add(g.Temperature, "  "+strconv.FormatFloat(g.Temperature, 'f', 0, 64)+t.dim.on(" °C"))
	add(g.Power, "  "+strconv.FormatFloat(g.Power, 'f', 0, 64)+t.dim.on(" W"))
	return longest(all, w)
}

// Poll takes new numbers while the pane is shown. While a run stands still it takes none:
// such a screen writes nothing.
func (m *systemPane) Poll(visible bool) {
	moving := m.snap != nil && (m.snap.State == event.Running || m.snap.State == event.Starting)
	if m.machine.look(m.now(), moving && visible) {
		m.touchPane(paneSystem)
		m.changed()
	}
}

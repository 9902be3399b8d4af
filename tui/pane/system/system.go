// Package system shows the activity of this process and of the machine.
package system

import (
	"strconv"
	"time"

	"pgrlab/core/event"
	"pgrlab/tui/format"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
	"pgrlab/tui/topic"
)

// Pane is the activity of this process and of the machine.
type Pane struct {
	*pane.Run
	Machine Machine
	Line    func() (sent int64, took time.Duration) // bytes written to the terminal, and how long a write takes; nil: unknown
}

// New makes the pane of a run.
func New(r *pane.Run) *Pane { return &Pane{Run: r} }

// ID names the pane.
func (p *Pane) ID() pane.ID { return pane.System }

// Tab is the name of the pane on the tab bar.
func (p *Pane) Tab() string { return string(pane.System) }

// Title is the text in the border of the pane.
func (p *Pane) Title(w int) (title, note string) { return "SYSTEM", "" }

// Keys are those that work while the pane is in focus.
func (p *Pane) Keys() []pane.Binding { return nil }

// DependsOn are the topics that the pane shows.
func (p *Pane) DependsOn() []topic.Topic { return []topic.Topic{} }

// Body is the activity of this process and of the machine.
func (p *Pane) Body(w, h int) []string {
	t, k := p.Theme, &p.Machine
	if k.At.IsZero() || len(k.BusyPast) == 0 {
		return p.Waiting(p.awaited(), w, h)
	}
	label := func(s string) string { return t.Dim.On(t.Fit(s, 7)) }
	cpu := label("CPU") + t.Bold.On(strconv.FormatFloat(k.Cores, 'f', 2, 64)) + t.Dim.On(" of "+strconv.Itoa(k.CPUs)+" cores")
	if k.Busy >= 0 {
		cpu += t.Dim.On("  machine ") + format.Percent(k.Busy)
	}
	if room := w - theme.Width(cpu) - 2; room >= 6 {
		cpu += "  " + t.Accent.On(t.SparklineIn(k.BusyPast[max(0, len(k.BusyPast)-min(room, 24)):], 0, float64(k.CPUs)))
	}
	memory := label("memory") + t.Bold.On(format.BytesText(k.Resident)) + t.Dim.On("  Go heap ") + format.BytesText(k.Heap)
	if k.Total > 0 {
		memory = theme.Longest([]string{memory, memory + t.Dim.On("  machine ") + format.BytesText(k.Total-k.Free) + t.Dim.On(" of ") + format.BytesText(k.Total)}, w)
	}
	lines := []string{cpu, memory, label("device") + p.Device()}
	if p.About.GPU != nil {
		if g := p.About.GPU(); g != nil {
			lines = append(lines, label("GPU")+p.gpuUse(g, w-7))
		}
	}
	if p.Line != nil {
		sent, took := p.Line()
		lines = append(lines, label("screen")+format.BytesText(float64(sent))+t.Dim.On(" written, ")+strconv.FormatFloat(took.Seconds()*1000, 'f', 1, 64)+t.Dim.On(" ms a frame"))
	}
	return lines
}

// gpuUse is the activity of a GPU, in as much detail as there is room for.
func (p *Pane) gpuUse(g *pane.GPU, w int) string {
	t := p.Theme
	text := t.Dim.On("busy ")
	if g.Busy >= 0 {
		text += t.Bold.On(format.Percent(g.Busy))
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
	add(g.Used, t.Dim.On("  memory ")+format.BytesText(g.Used)+t.Dim.On(" of ")+format.BytesText(g.Total))
	add(g.Temperature, "  "+strconv.FormatFloat(g.Temperature, 'f', 0, 64)+t.Dim.On(" °C"))
	add(g.Power, "  "+strconv.FormatFloat(g.Power, 'f', 0, 64)+t.Dim.On(" W"))
	return theme.Longest(all, w)
}

// awaited says what the first reading waits for.
func (p *Pane) awaited() string {
	switch {
	case p.About.Replay:
		return "a replay is not measured: a journal holds no use of the machine"
	case p.Paused() || p.Ended():
		return "measured while the run goes on"
	}
	return "measuring"
}

// Poll takes a new reading while the pane is shown. While a run stands still it takes none, so that
// the screen writes nothing.
func (p *Pane) Poll(visible bool) {
	moving := p.Snap != nil && (p.Snap.State == event.Running || p.Snap.State == event.Starting)
	if p.Machine.look(p.Now(), moving && visible) {
		p.TouchPane(pane.System)
		p.Changed()
	}
}

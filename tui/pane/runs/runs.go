// Package runs shows this run beside the runs it is compared with.
package runs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/tui/chart"
	"pgrlab/tui/format"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
	"pgrlab/tui/topic"
)

// Loaded delivers the journal of a run to compare with.
type Loaded struct {
	Name   string
	Events []event.Event
	Clock  *history.Clock // before its first event; nil: its configuration cannot be read
	Err    error
}

// Pane is this run and the runs it is compared with.
type Pane struct{ *pane.Run }

// New makes the pane of a run.
func New(r *pane.Run) *Pane { return &Pane{r} }

// ID names the pane.
func (p *Pane) ID() pane.ID { return pane.Runs }

// Tab is the name of the pane on the tab bar.
func (p *Pane) Tab() string { return string(pane.Runs) }

// Title is the text in the border of the pane.
func (p *Pane) Title(w int) (title, note string) { return "RUNS", "" }

// Keys are those that work while the pane is in focus.
func (p *Pane) Keys() []pane.Binding { return nil }

// Verbs are the commands of the pane.
func (p *Pane) Verbs() []pane.Verb {
	return []pane.Verb{
		{Name: "compare", About: "draw another run's curves beside these: a run folder", Arguments: nil, Run: p.commandCompare},
	}
}

// DependsOn are the topics that the pane shows.
func (p *Pane) DependsOn() []topic.Topic { return []topic.Topic{topic.Snapshot, topic.Charts} }

// Body lists this run and the runs that it is compared with.
func (p *Pane) Body(w, _ int) []string {
	t, h := p.Theme, &p.History
	row := func(mark string, name string, h *history.History, state string) string {
		room := max(12, min(48, w-46))
		text := mark + " " + t.Bold.On(t.Fit(t.Middle(name, room), room))
		short := text
		if n := len(h.Evaluations); n > 0 {
			e := h.Evaluations[n-1]
			short += " " + format.Number(e.Mean)
			text += t.Dim.On(" return ") + format.Number(e.Mean) + t.Dim.On(" at ") + format.Count(e.Step)
		}
		return theme.Longest([]string{short + "  " + p.Badge(h), short + "  " + state + "  " + p.Badge(h), text + "  " + state + "  " + p.Badge(h)}, w)
	}
	name := filepath.Base(p.About.Folder)
	if p.About.Folder == "" {
		name = p.About.Config.Method
	}
	mark := func(look int, label string) string {
		if label != "" {
			label = " " + label
		}
		return t.Series[look%len(t.Series)].On(t.Chart.Sample(look, chart.Line) + label)
	}
	out := []string{row(mark(0, p.RunLabel(0)), name, h, p.StateText())}
	for i := range p.Others {
		o := &p.Others[i]
		out = append(out, row(mark(p.LookOf(i), p.RunLabel(i+1)), o.Name, &o.History, t.Dim.On("compared")))
	}
	if !p.MayDrive() { // it reads no other run
		return out
	}
	return append(out, "", t.Dim.On(t.Clip(":compare DIR draws another run's curves beside these", w)))
}

// commandCompare reads another run's journal and configuration, outside the event loop.
func (p *Pane) commandCompare(dir string) error {
	if dir == "" {
		return fmt.Errorf("compare: which run folder?")
	}
	dir = typedFolder(dir)
	if len(p.Others) >= 3 {
		return fmt.Errorf("compare: three runs beside this one are the most; esc takes them away")
	}
	load, configuration := p.About.LoadRun, p.About.LoadConfig
	p.StartLater(func() tea.Msg {
		msg := Loaded{Name: filepath.Base(filepath.Clean(dir))}
		if msg.Events, msg.Err = load(dir); msg.Err != nil {
			return msg
		}
		if c, err := configuration(dir); err == nil {
			clock := pane.ClockOf(&c)
			msg.Clock = &clock
		}
		return msg
	})
	return nil
}

// typedFolder is the folder that a person means who writes it as a shell would take it: in quotes, or
// from ~ on.
func typedFolder(text string) string {
	if n := len(text); n > 1 && text[0] == text[n-1] && strings.ContainsRune("'\"", rune(text[0])) {
		text = text[1 : n-1]
	}
	if rest, at := strings.CutPrefix(text, "~/"); at {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return text
}

// OverlayRun draws a run that was read beside this one.
func (p *Pane) OverlayRun(msg Loaded) {
	if msg.Err != nil {
		p.Report(msg.Err)
		return
	}
	o, note := pane.Other{Name: msg.Name, History: history.New(0, 0), Paced: msg.Clock != nil}, ""
	if o.Paced {
		o.History.Clock = *msg.Clock
	} else {
		note = "; its config.toml cannot be read, so it is left out over updates"
	}
	for _, e := range msg.Events {
		o.History.Take(e)
	}
	p.Others = append(p.Others, o)
	p.Tell(p.RunLabel(len(p.Others)) + " is " + msg.Name + ", drawn beside this run, A; esc takes it away" + note)
	p.TouchPane(pane.Runs)
	p.Touch(topic.Charts)
	p.Changed()
}

// Forget removes the runs that this one is compared with; it says whether there were any.
func (p *Pane) Forget() bool {
	if len(p.Others) == 0 {
		return false
	}
	p.Others = nil
	p.Touch(topic.Charts)
	p.Changed()
	return true
}

// Package events lists the events of a run, the newest first.
package events

import (
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/tui/format"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
	"pgrlab/tui/topic"
)

// Pane is the list of events.
type Pane struct {
	*pane.Run
	memory hintMemory // which hints were used
	Filter string     // only events with this text are shown; "": all
	upBy   int        // events above the first one shown
	room   int        // events that fit, as drawn
	seen   int        // number of events that passed the filter at the last poll
}

// New makes the pane; m remembers which hints the person no longer needs.
func New(r *pane.Run, m hintMemory) *Pane { return &Pane{Run: r, memory: m} }

// ID names the pane.
func (p *Pane) ID() pane.ID { return pane.Events }

// Tab is the name of the pane on the tab bar.
func (p *Pane) Tab() string { return string(pane.Events) }

// Title is the text in the border of the pane.
func (p *Pane) Title(w int) (title, note string) { return "EVENTS", p.eventsNote() }

// Keys are those that work while the pane is in focus.
func (p *Pane) Keys() []pane.Binding {
	return []pane.Binding{
		{Name: "newer", Keys: []string{"up", "k"}, Label: "up k", Help: "newer events", Action: p.up},
		{Name: "older", Keys: []string{"down", "j"}, Label: "down j", Help: "older events", Action: p.down},
		{Name: "page-newer", Keys: []string{"pgup"}, Help: "a page of newer events", Action: p.pageUp},
		{Name: "page-older", Keys: []string{"pgdown"}, Help: "a page of older events", Action: p.pageDown},
		{Name: "filter", Keys: []string{"/"}, Does: "filter", Help: "show only the events that contain a text or are of a kind (knob, eval, refit, note, …)", Action: p.openFilter},
	}
}

// Verbs are the commands of the pane.
func (p *Pane) Verbs() []pane.Verb {
	return []pane.Verb{{Name: "filter", About: "show only the events with a text in them", Arguments: nil, Run: func(text string) error { p.setFilter(text); return nil }}}
}

// Poll keeps the events in sight in place while new ones arrive.
func (p *Pane) Poll(bool) {
	n := len(p.Filtered())
	if p.upBy > 0 {
		p.upBy += n - p.seen
	}
	p.seen = n
}

// Scroll moves with the wheel of the mouse.
func (p *Pane) Scroll(by int) tea.Cmd { return p.scrollEvents(by) }

// DependsOn are the topics that the pane shows.
func (p *Pane) DependsOn() []topic.Topic { return []topic.Topic{topic.Lines, topic.Changes} }

// Body shows the newest events that fit, or those around the scroll position, below what a new user
// needs to know.
func (p *Pane) Body(w, h int) []string {
	lines := p.Filtered()
	if len(lines) == 0 && p.Filter != "" {
		return []string{p.Theme.Dim.On("no event has " + p.Filter + " in it; esc shows all")}
	}
	hints := p.HintLines(w)
	if p.upBy > 0 { // the person looks for an event
		hints = nil
	}
	if h < 2*len(hints) { // in a low pane events come first
		hints = hints[:min(len(hints), max(0, h-min(3, len(lines))))]
	}
	h -= len(hints)
	p.room = p.eventsThatFit(lines, w, h)
	p.upBy = max(0, min(p.upBy, len(lines)-p.room))
	end := len(lines) - p.upBy
	out := make([]string, 0, h)
	for i := end - 1; i >= 0 && len(out) < h; i-- {
		out = append(out, p.EventText(lines[i], w, h)...)
	}
	return append(hints, out[:min(len(out), max(0, h))]...)
}

// roomyEvents is the height from which events are shown whole, on several lines if need be. Below
// it each event has one line, cut after a clause or a word.
const roomyEvents = 12

// eventsThatFit is how many of the oldest events fit into h rows: the limit of scrolling.
func (p *Pane) eventsThatFit(lines []history.EventLine, w, h int) int {
	if h < roomyEvents {
		return h
	}
	n, rows := 0, 0
	for _, l := range lines {
		if rows += len(p.EventText(l, w, h)); rows > h {
			break
		}
		n++
	}
	return max(1, n)
}

// wideEvents is the width from which events have their steps, and those of other days a time of day.
const wideEvents = 60

// clock is when an event was, in a pane of w columns: the time of day or, unless that was today, the date.
func (p *Pane) clock(at time.Time, w int) string {
	const clock = "15:04:05"
	today := func(t time.Time) bool {
		return t.Format(time.DateOnly) == p.Now().In(t.Location()).Format(time.DateOnly)
	}
	switch all := p.History.Lines; {
	case !today(at) && w < wideEvents:
		return fmt.Sprintf("%-*s", len(clock), at.Format("Jan _2"))
	case !today(at):
		return at.Format("Jan _2 15:04")
	case w >= wideEvents && len(all) > 0 && !today(all[0].Wall): // as wide as theirs
		return at.Format(clock + "    ")
	}
	return at.Format(clock)
}

// EventText is an event in a pane of w by h: time, step, kind, text.
func (p *Pane) EventText(l history.EventLine, w, h int) []string {
	t := p.Theme
	head := t.Faint.On(p.clock(l.Wall, w))
	if w >= wideEvents {
		steps := max(9, 1+len(format.Count(p.About.Config.Steps)))
		head += t.Dim.On(fmt.Sprintf("%*s", steps, format.Count(l.Step))) + " "
	}
	head += " " + inkOf(t, l).On(t.Fit(l.Kind, 7)) + " "
	room := w - theme.Width(head)
	switch {
	case h < roomyEvents && l.Change != nil:
		return []string{t.Fit(head+p.ChangeText(l.Change, room), w)}
	case h < roomyEvents:
		text := theme.FirstFitting(p.spelled(append([]string{l.Text + p.framesOf(l), l.Text}, l.Briefs...)), room)
		if text == "" {
			text = t.Clip(p.Spelled(l.Text), room)
		}
		return []string{t.Fit(head+text, w)}
	}
	text := p.Spelled(l.Text + p.framesOf(l))
	if l.Change != nil {
		text = p.ChangeText(l.Change, 3*room)
	}
	out := theme.WrapStyled(text, room)
	for i := range out {
		if i > 0 {
			head = strings.Repeat(" ", w-room)
		}
		out[i] = t.Fit(head+out[i], w)
	}
	return out
}

// spelled are texts in the characters of the screen.
func (p *Pane) spelled(texts []string) []string {
	for i, text := range texts {
		texts[i] = p.Spelled(text)
	}
	return texts
}

// framesOf names the frame of the task at which an evaluation was made, for a run that learns from
// pixels: published results of such runs count in frames.
func (p *Pane) framesOf(l history.EventLine) string {
	c := &p.About.Config
	if l.Kind != "eval" || !c.Sees() {
		return ""
	}
	return fmt.Sprintf(", frame %s", format.Count(c.Frames(l.Step)))
}

// inkOf is the colour for an event's kind.
func inkOf(t *theme.Theme, l history.EventLine) theme.Ink {
	switch {
	case l.Warning:
		return t.Bad
	case l.Kind == "knob":
		return t.MarkerNumber
	case l.Kind == "eval":
		return t.Accent
	case l.Kind == "refit":
		return t.Warn
	default:
		return t.Dim
	}
}

// Filtered are the lines that pass the filter.
func (p *Pane) Filtered() []history.EventLine {
	if p.Filter == "" {
		return p.History.Lines
	}
	var out []history.EventLine
	for _, l := range p.History.Lines {
		text := l.Kind + " " + l.Text
		if l.Change != nil {
			text = l.Kind + " " + p.KnobTitle(l.Change.Knob) + " " + p.ChangeWhat(l.Change, l.Change.Knob) + " " + strings.Join(p.Stamps(l.Change), " ")
		}
		if strings.Contains(strings.ToLower(text), strings.ToLower(p.Filter)) {
			out = append(out, l)
		}
	}
	return out
}

// openFilter asks for the text that the shown events must contain.
func (p *Pane) openFilter() tea.Cmd {
	e := pane.NewEntry("filter: ", "a kind (knob, eval, refit, note, ...) or any text; empty shows all", func(text string) tea.Cmd {
		p.setFilter(text)
		return nil
	})
	e.Propose(p.Filter)
	p.Open(e)
	return nil
}

func (p *Pane) setFilter(text string) {
	p.Filter, p.upBy = text, 0
	p.seen = len(p.Filtered())
	p.TouchPane(pane.Events)
	p.Changed()
}

func (p *Pane) eventsNote() string {
	if p.Filter != "" {
		return p.Theme.Warn.On(fmt.Sprintf("%d of %d with %q", len(p.Filtered()), len(p.History.Lines), p.Filter))
	}
	if p.upBy > 0 {
		return p.Theme.Warn.On(fmt.Sprintf("%d newer %s g follow", p.upBy, p.Theme.Glyphs.Separator))
	}
	return p.Theme.Dim.On("newest first")
}

func (p *Pane) scrollEvents(by int) tea.Cmd {
	p.upBy = max(0, min(p.upBy+by, len(p.Filtered())-p.room))
	p.TouchPane(pane.Events)
	return nil
}

func (p *Pane) up() tea.Cmd       { return p.scrollEvents(-1) }
func (p *Pane) down() tea.Cmd     { return p.scrollEvents(1) }
func (p *Pane) pageUp() tea.Cmd   { return p.scrollEvents(-max(1, p.room-1)) }
func (p *Pane) pageDown() tea.Cmd { return p.scrollEvents(max(1, p.room-1)) }

// Follow goes back to the newest events; it says whether it had to.
func (p *Pane) Follow() bool {
	if p.upBy == 0 {
		return false
	}
	p.upBy = 0
	p.TouchPane(pane.Events)
	return true
}

// Unfilter shows all events again; it says whether a filter was set.
func (p *Pane) Unfilter() bool {
	if p.Filter == "" {
		return false
	}
	p.setFilter("")
	return true
}

package tui

import (
	"cmp"
	"strings"

	"pgrlab/tui/theme"
)

// startingView is shown until the lab exists. It takes seconds, in which a new user reads what
// there will be to see and what to do first; what there is no room for is left out.
func (m *Model) startingView() []string {
	t := m.Theme
	o := m.options
	head := []string{t.StateStart.On(t.Glyphs.Dot+" STARTING") + "  " + t.Bold.On(o.Config.Task) + " " + t.Glyphs.Separator + " " + o.Config.Method}
	if m.layout.kind == oneLine {
		return head
	}
	margin := max(0, min(m.w/2-36, m.w/4)) + 2
	w := min(m.w-margin-1, 100)
	head = append(head, t.Dim.On(m.startingWith()))
	foot := []string{""}
	if o.Folder != "" {
		foot = append(foot, t.Dim.On("run folder  "+o.Folder))
	}
	if m.leaving.soon {
		foot = append(foot, t.Dim.On("the shell gets its terminal back as soon as the run has started"))
	}
	said := cmp.Or(m.message, m.steering.Message)
	switch {
	case m.entry != nil:
		foot = append(foot, m.entry.Line(t, w))
	case said != "":
		foot = append(foot, t.Warn.On(said))
	}
	foot = append(foot, t.Key.On("q")+" "+t.Dim.On("quit"))
	lines := head
	for _, more := range [][]string{m.loop(w), m.firstThings(w)} {
		if len(lines)+len(more)+len(foot) <= m.h {
			lines = append(lines, more...)
		}
	}
	lines = append(lines, foot...)
	out := make([]string, max(0, (m.h-len(lines))/2), m.h)
	for _, l := range lines {
		out = append(out, strings.Repeat(" ", margin)+l)
	}
	return out
}

// startingWith is what takes the time.
func (m *Model) startingWith() string {
	switch {
	case m.About.Replay:
		return "reading the journal"
	case m.About.Remote:
		return "waiting for the run to answer"
	}
	return "compiling the physics and the training plans: some seconds"
}

// loop are the parts of the run's method, in w columns.
func (m *Model) loop(w int) []string {
	t := m.Theme
	const name = 12
	out := []string{""}
	for i, p := range m.sentence.Parts() {
		arrow := "  "
		if i > 0 {
			arrow = t.Glyphs.Arrow + " "
		}
		head := t.Dim.On(arrow) + t.Bold.On(t.Fit(p.Name, name-2))
		for _, l := range theme.Wrap(m.Spelled(p.Does), max(8, w-name)) {
			out = append(out, head+l)
			head = strings.Repeat(" ", name)
		}
	}
	return out
}

// firstThings are what a new user needs to know first, in w columns; none that were used before.
func (m *Model) firstThings(w int) []string {
	hints := m.events.HintLines(w)
	if len(hints) == 0 {
		return nil
	}
	return append([]string{""}, hints...)
}

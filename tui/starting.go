package tui

import (
	"cmp"
	"strings"

	"pgrlab/core/knob"
	"pgrlab/tui/format"
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
	said := cmp.Or(m.told, m.steering.Message)
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

// part is one part of the loop that a run goes through, and what it does.
type part struct{ name, does string }

// parts are what the run's method consists of, in the order of its data.
func (m *Model) parts() []part {
	has := m.options.Config.Has()
	real := part{"real", "each step of the agent is kept: state, action, reward, next"}
	if !m.Generates() {
		return []part{real, {"batch", "what the agent learns from: real rows, nothing is generated"}}
	}
	made, asked := part{"generator", "learns to make rows like these"}, []part{}
	makes := "the rows it makes: they look real, and were never met"
	f := m.Effective("relevance").Text
	explores := m.options.Config.Explores()
	switch {
	case explores:
		asked = []part{{"F", f + " of a generated row, the reward of the agent that explores and acts"}}
	case f != "none":
		asked = []part{{"F", "scores each row by " + f + ": is it worth learning from?"}}
	}
	switch {
	case has&knob.UseFit == 0:
		made.does, makes = "repeats real rows: the control of a generator", "the rows it repeats"
	case has&knob.UseRollouts != 0:
		made.does, makes = "learns what the task answers to an action", "what the policy would meet, by that model, from real states"
		if f != "none" && m.Effective("top_fraction").Number < 1 {
			makes += " of high F"
		}
	case has&knob.UsePrompts != 0 && f != "none":
		made.does = "learns to make such rows, and is asked for a high F (ω)"
	}
	mix := m.Effective("ratio").Number
	learns := "what the agent learns from: "
	if explores {
		learns = "what the agent learns from that is evaluated: "
	}
	return append(append([]part{real}, asked...), made,
		part{"synthetic", makes},
		part{"batch", learns + format.Percent(mix) + " synthetic, the rest real"})
}

// loop are these parts, in w columns.
func (m *Model) loop(w int) []string {
	t := m.Theme
	const name = 12
	out := []string{""}
	for i, p := range m.parts() {
		arrow := "  "
		if i > 0 {
			arrow = t.Glyphs.Arrow + " "
		}
		head := t.Dim.On(arrow) + t.Bold.On(t.Fit(p.name, name-2))
		for _, l := range theme.Wrap(m.Spelled(p.does), max(8, w-name)) {
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

package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// verb is a command of the palette that takes an argument; commands without one are
// the bindings of the keys table.
type verb struct {
	name, about string
	arguments   func(m *Model) []string // to complete with; nil: free text
	run         func(m *Model, argument string) error
}

func verbs() []verb {
	return []verb{
		{"set", "stage and apply a knob: set guidance 3, set F td!, set r 0.75 @20000", knobNames, (*Model).commandSet},
		{"stage", "stage a knob's value without applying it", knobNames, (*Model).commandStage},
		{"undo", "take change N back, or the last one", nil, (*Model).commandUndo},
		{"note", "write a line into the journal, and a marker", nil, func(m *Model, text string) error { m.writeNote(text); return nil }},
		{"show", "show a quantity in the chart in focus", func(*Model) []string { return quantityNames() }, (*Model).commandShow},
		{"pane", "go to a pane, as the tabs name them: pane return, pane runs", (*Model).tabNames, (*Model).commandPane},
		{"lesson", "begin a lesson: dormant, guidance, reward, ratio, dynamics", lessonNames, (*Model).commandLesson},
		{"confirm", "make the changes of this run a preset, and run it beside an untouched control on fresh seeds", nil, (*Model).commandConfirm},
		{"map", "go to the map; with one or two dimensions of the observation: map speed x, pitch", func(m *Model) []string { return m.options.Names }, (*Model).commandMap},
		{"goto", "put the cursor on a marker, or on a step", nil, (*Model).commandGoto},
		{"layout", "focus, full or present", func(*Model) []string { return viewNames[:] }, (*Model).commandLayout},
		{"axis", "what the charts count", func(*Model) []string { return axisNames[:] }, (*Model).commandAxis},
		{"filter", "show only the events with a text in them", nil, func(m *Model, text string) error { m.setFilter(text); return nil }},
		{"compare", "draw another run's curves beside these: a run folder", nil, (*Model).commandCompare},
		{"theme", "colours for a dark or a light background", func(*Model) []string { return []string{"auto", "dark", "light"} }, (*Model).commandTheme},
		{"refresh", "looks at the run per second, 0.2 to 10", nil, (*Model).commandRefresh},
		{"save-settings", "keep theme, layout, axis, charts, refresh and mouse for the next time", nil, (*Model).commandSaveSettings},
		{"detach", "leave the screen; the run goes on", nil, func(m *Model, _ string) error { m.dialog = nil; return errQuit }},
		{"stop", "stop the run and save", nil, func(m *Model, _ string) error { m.openQuit(); return nil }},
	}
}

// errQuit is how a verb leaves the screen.
var errQuit = fmt.Errorf("quit")

func knobNames(m *Model) []string {
	var out []string
	for _, k := range m.knobs {
		if m.knobUse(k) == nil {
			out = append(out, k.Name)
		}
	}
	return out
}

func quantityNames() []string {
	var out []string
	for _, q := range quantities {
		out = append(out, q.id)
	}
	return out
}

// openPalette asks for a command.
func (m *Model) openPalette() tea.Cmd {
	e := newEntry(":", "tab complete  enter run  esc leave", (*Model).command)
	e.complete = (*Model).candidates
	e.history = m.memory.Commands
	m.open(e)
	return nil
}

// command runs a line of the palette: a verb with its argument, the name of a
// binding, or a knob with its value.
func (m *Model) command(text string) tea.Cmd {
	if text == "" {
		return nil
	}
	m.keepCommand(text)
	name, argument, _ := strings.Cut(text, " ")
	argument = strings.TrimSpace(argument)
	for _, v := range verbs() {
		if v.name == name && (argument != "" || !m.bound(name)) {
			return m.report(v.run(m, argument))
		}
	}
	for _, b := range m.keys {
		if b.name == name {
			if argument != "" {
				return m.report(fmt.Errorf("%s takes nothing: %q is too much", name, argument))
			}
			if !b.works(m.focus) { // a command about a pane means that pane
				m.goTo(b.panes[0])
			}
			return m.act(b)
		}
	}
	return m.report(m.commandSet(text))
}

func (m *Model) bound(name string) bool {
	for _, b := range m.keys {
		if b.name == name {
			return true
		}
	}
	return false
}

// report shows why a command did not do what it says.
func (m *Model) report(err error) tea.Cmd {
	switch {
	case err == errQuit:
		return m.leave()
	case err != nil:
		m.tell(m.theme.bad.on(m.theme.glyphs.cross) + " " + err.Error())
	}
	return nil
}

// keepCommand remembers a line; one that was given before moves to the end.
func (m *Model) keepCommand(text string) {
	kept := m.memory.Commands[:0:0]
	for _, c := range m.memory.Commands {
		if c != text {
			kept = append(kept, c)
		}
	}
	kept = append(kept, text)
	m.memory.Commands = kept[max(0, len(kept)-rememberedCommands):]
	m.remember()
}

// remember writes what the screen remembers; a file that cannot be written is no
// reason to disturb a run.
func (m *Model) remember() {
	if m.options.Home != "" {
		_ = writeTOML(m.options.Home+"/"+rememberedFile, m.memory)
	}
}

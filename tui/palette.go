package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/knob"
	"pgrlab/core/spelling"
	"pgrlab/tui/lesson"
	"pgrlab/tui/pane"
)

// verbs are the commands with an argument: those of the run and the screen, and those of the panes.
func (m *Model) verbs() []pane.Verb {
	var verbs []pane.Verb
	for _, p := range m.panes {
		if c, ok := p.(pane.Commander); ok {
			verbs = append(verbs, c.Verbs()...)
		}
	}
	return append(verbs, []pane.Verb{
		{Name: "note", About: "write a line into the journal, and a marker", Arguments: nil, Run: func(text string) error { m.steering.WriteNote(text); return nil }},
		{Name: "pane", About: "go to a pane, as the tabs name them: pane return, pane runs", Arguments: m.tabNames, Run: m.commandPane},
		{Name: "lesson", About: "begin a lesson: " + strings.Join(lesson.LessonNames(), ", "), Arguments: lesson.LessonNames, Run: m.lessons.CommandLesson},
		{Name: "layout", About: "focus, full or present", Arguments: func() []string { return viewNames[:] }, Run: m.commandLayout},
		{Name: "projector", About: "for a lecture hall: large digits, nothing dim, dots instead of areas, the last key named", Arguments: func() []string { return []string{"on", "off"} }, Run: m.projector.command},
		{Name: "theme", About: "colours for a dark or a light background", Arguments: func() []string { return []string{"auto", "dark", "light"} }, Run: m.commandTheme},
		{Name: "refresh", About: "looks at the run per second, 0.2 to 10", Arguments: nil, Run: m.commandRefresh},
		{Name: "save-settings", About: "keep theme, layout, axis, charts, refresh and mouse for the next time", Arguments: nil, Run: m.commandSaveSettings},
		{Name: "detach", About: "leave the screen; the run goes on", Arguments: nil, Run: m.commandDetach},
		{Name: "stop", About: "stop the run and save", Arguments: nil, Run: m.commandStop},
	}...)
}

// commandDetach leaves the screen, unless there is something to ask or to wait for.
func (m *Model) commandDetach(string) error {
	m.dialog = nil
	if m.leaving.handOver() != nil {
		return errQuit
	}
	return nil
}

// commandStop asks whether to stop the run, or leaves the screen at once where there is nothing to ask.
func (m *Model) commandStop(string) error {
	if m.leaving.openQuit() != nil {
		return errQuit
	}
	return nil
}

// palette runs typed commands: verbs with an argument, keys by their name, and knobs with a value.
type palette struct {
	*pane.Run
	memory *memory
	keys   []pane.Binding
	verbs  []pane.Verb
	lists  string // what lists all commands
	act    func(b pane.Binding) tea.Cmd
	set    func(text string) error // runs a line that is a knob and a value
}

// errQuit is returned by a verb that leaves the screen.
var errQuit = errors.New("quit")

// openPalette asks for a command.
func (p *palette) openPalette() tea.Cmd {
	e := pane.NewEntry(":", "tab complete  enter run  esc leave", p.command)
	e.Complete = p.candidates
	e.History = p.memory.Commands
	p.Open(e)
	return nil
}

// command runs a line of the palette: a verb with its argument, the name of a
// binding, or a knob with its value.
func (p *palette) command(text string) tea.Cmd {
	if text == "" {
		return nil
	}
	p.keepCommand(text)
	name, argument, _ := strings.Cut(text, " ")
	argument = strings.TrimSpace(argument)
	for _, v := range p.verbs {
		if v.Name == name && (argument != "" || !p.bound(name)) {
			return p.Report(v.Run(argument))
		}
	}
	for _, b := range p.keys {
		if b.Name == name {
			if argument != "" {
				return p.Report(fmt.Errorf("%q is too much: type %s alone", argument, name))
			}
			if !b.Works(p.Focused()) { // a command about a pane implies that pane
				p.GoTo(b.Panes[0])
			}
			return p.act(b)
		}
	}
	if err := p.unknown(text); err != nil {
		return p.Report(err)
	}
	return p.Report(p.set(text))
}

// unknown is an error if a line begins with the name of no knob; it suggests the nearest commands and
// knobs.
func (p *palette) unknown(text string) error {
	name, _, _ := strings.Cut(text, " ")
	name, _, _ = strings.Cut(name, "=")
	_, err := p.FindKnob(name)
	if err == nil || name == "" {
		return nil
	}
	if name == "steps" {
		return fmt.Errorf("the length is fixed while a run goes on: stop it, then %s DIR --steps N", p.longer())
	}
	names := knob.Names()
	for _, v := range p.verbs {
		names = append(names, v.Name)
	}
	for _, b := range p.keys {
		if !strings.HasPrefix(b.Name, goTo("")) {
			names = append(names, b.Name)
		}
	}
	if meant := spelling.Meant(name, names); meant != "" {
		return fmt.Errorf("no such command or knob: %s", meant)
	}
	return fmt.Errorf("no such command; %w (%s)", err, p.lists)
}

// longer is the command that makes a longer run of this one when it has ended.
func (p *palette) longer() string {
	if _, err := p.About.Config.Longer(p.About.Config.Steps + 1); err != nil {
		return "pgrlab fork"
	}
	return "pgrlab --resume"
}

// bound says whether a key has this name.
func (p *palette) bound(name string) bool {
	return slices.ContainsFunc(p.keys, func(b pane.Binding) bool { return b.Name == name })
}

// keepCommand remembers a line; a repeated line moves to the end.
func (p *palette) keepCommand(text string) {
	p.memory.change(func() { p.memory.Commands = newest(p.memory.Commands, text, rememberedCommands) })
}

package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// verbs are the commands with an argument: those of the run and the screen, and those of
// the panes.
func (m *Model) verbs() []verb {
	var verbs []verb
	for _, p := range m.panes {
		if c, ok := p.(commander); ok {
			verbs = append(verbs, c.Verbs()...)
		}
	}
	return append(verbs, []verb{
		{"note", "write a line into the journal, and a marker", nil, func(text string) error { m.steering.writeNote(text); return nil }},
		{"pane", "go to a pane, as the tabs name them: pane return, pane runs", m.tabNames, m.commandPane},
		{"lesson", "begin a lesson: dormant, guidance, reward, ratio, dynamics", lessonNames, m.lessons.commandLesson},
		{"layout", "focus, full or present", func() []string { return viewNames[:] }, m.commandLayout},
		{"theme", "colours for a dark or a light background", func() []string { return []string{"auto", "dark", "light"} }, m.commandTheme},
		{"refresh", "looks at the run per second, 0.2 to 10", nil, m.commandRefresh},
		{"save-settings", "keep theme, layout, axis, charts, refresh and mouse for the next time", nil, m.commandSaveSettings},
		{"detach", "leave the screen; the run goes on", nil, func(string) error { m.dialog = nil; return errQuit }},
		{"stop", "stop the run and save", nil, func(string) error { m.leaving.openQuit(); return nil }},
	}...)
}

// palette runs commands that are typed: verbs with an argument, keys by their name, and
// knobs with a value.
type palette struct {
	*runView
	memory *memory
	keys   []binding
	verbs  []verb
	act    func(b binding) tea.Cmd
	set    func(text string) error // of a line that is a knob and a value
}

// errQuit is how a verb leaves the screen.
var errQuit = errors.New("quit")

// openPalette asks for a command.
func (p *palette) openPalette() tea.Cmd {
	e := newEntry(":", "tab complete  enter run  esc leave", p.command)
	e.complete = p.candidates
	e.history = p.memory.Commands
	p.open(e)
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
		if v.name == name && (argument != "" || !p.bound(name)) {
			return p.report(v.run(argument))
		}
	}
	for _, b := range p.keys {
		if b.name == name {
			if argument != "" {
				return p.report(fmt.Errorf("%s takes nothing: %q is too much", name, argument))
			}
			if !b.works(p.focused()) { // a command about a pane means that pane
				p.goTo(b.panes[0])
			}
			return p.act(b)
		}
	}
	return p.report(p.set(text))
}

// bound says whether a key has this name.
func (p *palette) bound(name string) bool {
	return slices.ContainsFunc(p.keys, func(b binding) bool { return b.name == name })
}

// keepCommand remembers a line; one that was given before moves to the end.
func (p *palette) keepCommand(text string) {
	kept := slices.DeleteFunc(slices.Clone(p.memory.Commands), func(c string) bool { return c == text })
	kept = append(kept, text)
	p.memory.Commands = kept[max(0, len(kept)-rememberedCommands):]
	p.memory.keep()
}

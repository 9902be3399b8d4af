package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// projector is the screen in a lecture hall: large digits, no dim ink, dots in place of areas, and the
// last key with what it did.
type projector struct {
	screen  *Model
	before  view   // the layout to go back to
	pressed string // the last key, and its name
}

// command switches the projector on or off.
func (p *projector) command(text string) error {
	m := p.screen
	switch {
	case text != "on" && text != "off":
		return fmt.Errorf("projector: want on or off")
	case m.Projected == (text == "on"):
		return nil
	case text == "on":
		p.before, m.Projected = m.view, true
		m.setView(presentView)
		m.Tell(":projector off ends it; large digits, nothing dim, the last key named at the bottom")
	default:
		m.Projected = false
		m.setView(p.before)
		m.Tell("projector off")
	}
	m.retheme()
	return nil
}

// watch notes what a key means, and returns what notes after it what it did.
func (p *projector) watch(msg tea.KeyMsg) (after func()) {
	if !p.screen.Projected {
		return func() {}
	}
	key := msg.String()
	name, staged, taught := p.name(key), p.staged(), p.taught()
	return func() {
		switch now := p.staged(); {
		case p.taught() != taught:
			name = "lesson"
		case now != staged && now != "":
			name = now + " staged"
		}
		if key == " " {
			key = "space"
		}
		if name != "" {
			p.pressed = p.screen.Theme.KeyLabel(key) + " " + name
			p.screen.Changed()
		}
	}
}

// name is what a key means at the moment; "": it does nothing, or what it does is typed text.
func (p *projector) name(key string) string {
	m := p.screen
	switch {
	case key == "ctrl+c" || key == "ctrl+z":
		return "leave"
	case m.entry != nil:
		return map[string]string{"enter": "take", "esc": "drop", "tab": "complete", "up": "choose", "down": "choose"}[key]
	case m.dialog != nil:
		return p.answer(key)
	case m.help.IsOpen():
		return "help"
	}
	for _, b := range m.palette.keys {
		if b.Matches(key, m.focus) {
			return strings.ReplaceAll(b.Name, "-", " ")
		}
	}
	return ""
}

// answer is what a key answers to the open dialog.
func (p *projector) answer(key string) string {
	all := p.screen.dialog.Choices
	i := slices.IndexFunc(all, func(c pane.Choice) bool { return c.Key == key })
	switch {
	case i >= 0:
		text, _, _ := strings.Cut(all[i].Text(), ", about ")
		text, _, _ = strings.Cut(text, ":")
		return text
	case pane.Escapes(key):
		return "leave the question"
	}
	return ""
}

// taught is where a lesson is.
func (p *projector) taught() teaching {
	x := p.screen.lessons
	if !x.Given() {
		return teaching{}
	}
	return teaching{x.Lesson, x.Lesson.At, x.Lesson.Part}
}

// staged are the staged values, each after its symbol.
func (p *projector) staged() string {
	var all []string
	for _, k := range p.screen.KnobList {
		if v, is := p.screen.steering.Staged[k.Name]; is {
			all = append(all, pane.Symbol(k)+" "+pane.Readable(v))
		}
	}
	return strings.Join(all, ", ")
}

// foot is the last line of the screen: the footer and, on a projector, the last key at its right end.
func (p *projector) foot(w int) string {
	m := p.screen
	if !m.Projected || p.pressed == "" || m.entry != nil {
		return m.footer(w)
	}
	said := m.Theme.Cursor.On(" " + m.Theme.Clip(m.Spelled(p.pressed), max(8, w/2)) + " ")
	return m.Theme.Spread(m.footer(w-theme.Width(said)-2), said, w)
}

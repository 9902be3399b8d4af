package tui

import (
	"fmt"
	"strings"
)

// inShort is what somebody who sees the screen for the first time wants to know.
var inShort = []string{
	"change ω: tab to KNOBS, arrows to ω guidance and to a value, enter; z takes it back",
	"a number on a chart, like 1, is a marker: the step from which change #1 was in force; a letter is a note",
	"get out: q, then d leaves the run training and s stops and saves it; esc closes what is open",
}

// helpLines is the help in w columns.
func (m *Model) helpLines(w int) []string {
	t := m.theme
	out := []string{t.title.on("IN SHORT")}
	for _, line := range inShort {
		out = append(out, hang("", 2, m.spelled(line), w)...)
	}
	out = append(out, "")
	name := 16
	while := ""
	if m.picker != nil {
		while = ", once a run goes on"
		out = append(out, t.title.on("KEYS on this screen"))
		for _, b := range pickerKeys() {
			if b.help != "" {
				out = append(out, hang(t.key.on(t.fit(t.keyLabel(b.title()), name)), name, m.spelled(b.help), w)...)
			}
		}
		out = append(out, "")
	}
	keys := append(append([]binding(nil), m.keys...), binding{label: "ctrl+c", help: "as q; a second one within 5 s stops and saves at once"},
		binding{label: "ctrl+g", help: "as esc, everywhere: dialogs, text, help"})
	for _, group := range helpGroups(keys) {
		out = append(out, t.title.on("KEYS "+group.title+while))
		for _, b := range group.keys {
			out = append(out, hang(t.key.on(t.fit(t.keyLabel(b.title()), name)), name, m.spelled(b.help), w)...)
		}
		out = append(out, "")
	}
	out = append(out, t.title.on("COMMANDS behind : (every key above has one too, by name)"))
	for _, v := range verbs() {
		out = append(out, hang(t.key.on(t.fit(v.name, name)), name, m.spelled(v.about), w)...)
	}
	out = append(out, "", t.title.on("KNOBS"))
	for _, k := range m.knobs {
		about := fmt.Sprintf("%s; %s, %s", k.Doc+unitOf(k), k.Range(), takesEffect(k.Class))
		out = append(out, hang(t.accent.on(t.fit(k.Name, nameWidth)), nameWidth, m.spelled(about), w)...)
	}
	out = append(out, "", t.title.on("WHAT THE NUMBERS ARE"))
	for _, d := range definitions {
		name := t.accent.on(d.name)
		if len(d.shown) > 0 {
			name += t.dim.on("  beside " + m.spelled(strings.Join(d.shown, ", ")))
		}
		out = append(out, wrapStyled(name, w)...)
		for _, l := range wrap(m.spelled(d.text), w-2) {
			out = append(out, "  "+l)
		}
	}
	return out
}

// keyGroup are the keys that work in the same panes.
type keyGroup struct {
	title string
	keys  []binding
}

// helpGroups are the keys by the panes in which they work, those of all panes first.
func helpGroups(keys []binding) []keyGroup {
	out := []keyGroup{{title: "everywhere"}}
	at := map[string]int{}
	for _, b := range keys {
		i := 0
		if b.panes != nil {
			where := namesOf(b.panes)
			if at[where] == 0 {
				at[where] = len(out)
				out = append(out, keyGroup{title: "in " + where})
			}
			i = at[where]
		}
		out[i].keys = append(out[i].keys, b)
	}
	return out
}

// spelled is text in characters that the screen has.
func (m *Model) spelled(text string) string {
	if m.options.Characters == ASCII {
		return spelledOut.Replace(text)
	}
	return text
}

// hang wraps text behind a name of n columns.
func hang(name string, n int, text string, w int) []string {
	lines := wrap(text, max(10, w-n))
	for i := range lines {
		if i == 0 {
			lines[i] = name + lines[i]
		} else {
			lines[i] = strings.Repeat(" ", n) + lines[i]
		}
	}
	return lines
}

func namesOf(panes []paneID) string {
	if len(panes) == len(chartPanes) && panes[0] == chartPanes[0] {
		return "charts"
	}
	var names []string
	for _, p := range panes {
		names = append(names, paneNames[p])
	}
	return strings.Join(names, ", ")
}

// spelledOut names, for terminals without them, the letters of the definitions that
// are not ASCII.
var spelledOut = strings.NewReplacer(
	"μ", "mu", "τ", "tau", "π", "pi", "γ", "gamma", "ω", "w", "α", "alpha", "λ", "lambda", "σ", "sigma", "Σ", "sum",
	"Q̄", "Q'", "H̄", "H", "ã", "a~", "−", "-", "≤", "<=", "²", "^2", "±", "+-", "·", "*", "∅", "none", "╎", "!", "┴", "^")

// helpView is the help over the whole screen, scrolled.
func (m *Model) helpView() []string {
	w, h := m.w, m.h
	lines := m.helpLines(min(w-4, 110))
	room := max(1, h-2)
	m.helpTop = max(0, min(m.helpTop, len(lines)-room))
	end := min(len(lines), m.helpTop+room)
	body := make([]string, 0, room)
	for _, l := range lines[m.helpTop:end] {
		body = append(body, " "+l)
	}
	return m.theme.box("HELP", m.theme.dim.on(m.helpNote(end, len(lines))), body, w, h, true)
}

func (m *Model) helpNote(end, all int) string {
	note := "esc close"
	if m.helpTop > 0 || end < all {
		note = m.theme.glyphs.up + m.theme.glyphs.down + " scroll  " + note
	}
	return note
}

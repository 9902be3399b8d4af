package tui

import (
	"fmt"
	"pgrlab/core/knob"
	"slices"
	"strings"
)

// inShort is what somebody who sees the screen for the first time wants to know.
var inShort = []string{
	"change ω: tab to KNOBS, arrows to ω guidance and to a value, enter; z takes it back",
	"a number on a chart, like 1, is a marker: the step from which change #1 was in force; a letter is a note",
	"get out: q, then d leaves the run training and s stops and saves it; esc closes what is open",
}

// helpContents is what the help explains.
type helpContents struct {
	here    []binding // of the screen that is open instead of the panes; nil: the panes are
	keys    []binding // of the panes
	focus   paneID
	verbs   []verb
	knobs   []knob.Knob
	numbers []definition
}

// lines is the help in w columns: the keys of the pane in focus first, then what
// helps at once, then everything.
func (m *helpPage) lines(w int) []string {
	t := m.theme
	var out []string
	section := func(title string, lines ...string) {
		out = append(append(append(out, t.title.on(title)), lines...), "")
	}
	c := m.contents()
	if c.here != nil {
		section("KEYS on this screen", m.keyLines(c.here, w)...)
	}
	keys := append(slices.Clone(c.keys), binding{label: "ctrl+c", help: "as q; a second one within 5 s stops and saves at once"},
		binding{label: "ctrl+g", help: "as esc, everywhere: dialogs, text, help"})
	here, elsewhere := helpGroups(keys, c.focus)
	if c.here == nil {
		for _, group := range here {
			section("KEYS "+group.title+", the pane in focus", m.keyLines(group.keys, w)...)
		}
	}
	var short []string
	for _, line := range inShort {
		short = append(short, hang("", 2, m.theme.spelled(line), w)...)
	}
	section("IN SHORT", short...)
	while := ""
	if c.here != nil {
		elsewhere, while = append(elsewhere, here...), ", once a run goes on"
	}
	for _, group := range elsewhere {
		section("KEYS "+group.title+while, m.keyLines(group.keys, w)...)
	}
	section("KEYS in this help", m.keyLines(m.keys(), w)...)
	section("COMMANDS behind : (every key above has one too, by name)", m.verbLines(c.verbs, w)...)
	section("KNOBS", m.knobLines(c.knobs, w)...)
	section("WHAT THE NUMBERS ARE", m.definitionLines(c.numbers, w)...)
	return out[:len(out)-1]
}

// helpName is the width of the names of keys and commands.
const helpName = 16

// keyLines are keys with what they do; of several with one help the first says it.
func (m *helpPage) keyLines(keys []binding, w int) []string {
	t := m.theme
	var out []string
	for _, b := range keys {
		if b.help != "" {
			out = append(out, hang(t.key.on(t.fit(t.keyLabel(b.title()), helpName)), helpName, m.theme.spelled(b.help), w)...)
		}
	}
	return out
}

func (m *helpPage) verbLines(verbs []verb, w int) []string {
	t := m.theme
	var out []string
	for _, v := range verbs {
		out = append(out, hang(t.key.on(t.fit(v.name, helpName)), helpName, m.theme.spelled(v.about), w)...)
	}
	return out
}

func (m *helpPage) knobLines(knobs []knob.Knob, w int) []string {
	t := m.theme
	var out []string
	for _, k := range knobs {
		about := fmt.Sprintf("%s; %s, %s", k.Doc+unitOf(k), k.Range(), takesEffect(k.Class))
		out = append(out, hang(t.accent.on(t.fit(k.Name, helpName)), helpName, m.theme.spelled(about), w)...)
	}
	return out
}

func (m *helpPage) definitionLines(definitions []definition, w int) []string {
	t := m.theme
	var out []string
	for _, d := range definitions {
		name := t.accent.on(d.name)
		if len(d.shown) > 0 {
			name += t.dim.on("  beside " + m.theme.spelled(strings.Join(d.shown, ", ")))
		}
		out = append(out, wrapStyled(name, w)...)
		for _, l := range wrap(m.theme.spelled(d.text), w-2) {
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

// helpGroups are the keys by the panes in which they work: those of the pane in focus,
// and the others, with those of all panes first.
func helpGroups(keys []binding, focused paneID) (here, elsewhere []keyGroup) {
	out := []keyGroup{{title: "everywhere"}}
	at := map[string]int{}
	focus := map[int]bool{}
	for _, b := range keys {
		i := 0
		if b.panes != nil {
			where := namesOf(b.panes)
			if at[where] == 0 {
				at[where] = len(out)
				out = append(out, keyGroup{title: "in " + where})
			}
			i = at[where]
			focus[i] = focus[i] || b.works(focused)
		}
		out[i].keys = append(out[i].keys, b)
	}
	for i, group := range out {
		if focus[i] {
			here = append(here, group)
		} else {
			elsewhere = append(elsewhere, group)
		}
	}
	return here, elsewhere
}

func namesOf(panes []paneID) string {
	if len(panes) > 1 && panes[0] == paneChart1 {
		return "charts"
	}
	var names []string
	for _, p := range panes {
		names = append(names, string(p))
	}
	return strings.Join(names, ", ")
}

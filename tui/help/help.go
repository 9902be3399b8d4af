// Package help is the page that explains every key, command, knob and number on the screen.
package help

import (
	"fmt"
	"slices"
	"strings"

	"pgrlab/core/knob"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// InShort is what a person who sees the screen for the first time needs to know.
var InShort = []string{
	"to change ω: tab to KNOBS, choose ω guidance and then a value with the arrows, and press enter; z takes it back",
	markers,
	"to get out: press q, then d to leave the run training or s to stop and save it; esc closes what is open",
}

// InShortToLook is the same for a person who may only look.
var InShortToLook = []string{
	"this screen may look, not change anything: the arrows, 1 to 9 and tab move over panes and charts, L and + make them larger",
	markers,
	"to get out: press q; a run goes on",
}

const markers = "a number on a chart, like 1, is a marker: the step from which change #1 was in force; a letter is a note"

// Contents is what the help explains.
type Contents struct {
	Short   []string       // what to know first
	Here    []pane.Binding // keys of the screen open in place of the panes; nil: the panes are shown
	Keys    []pane.Binding // keys of the panes
	Focus   pane.ID
	Verbs   []pane.Verb
	Knobs   []knob.Knob
	Numbers []pane.Definition
}

// Lines is the help in w columns: the keys of the pane in focus first, then what helps at once,
// then everything.
func (p *Page) Lines(w int) []string {
	t := p.theme
	var out []string
	section := func(title string, lines ...string) {
		out = append(append(append(out, t.Title.On(title)), lines...), "")
	}
	c := p.contents()
	if c.Here != nil {
		section("KEYS on this screen", p.keyLines(c.Here, w)...)
	}
	keys := append(slices.Clone(c.Keys), pane.Binding{Label: "ctrl+c", For: pane.ToLeave, Help: "like q; a second one within 5 s stops and saves at once"},
		pane.Binding{Label: "ctrl+g", For: pane.ToLeave, Help: "like esc, everywhere: in dialogs, text and help"})
	here, elsewhere := helpGroups(keys, c.Focus)
	if c.Here == nil {
		for _, group := range here {
			section("KEYS "+group.title+", the pane in focus", p.keyLines(group.keys, w)...)
		}
	}
	var short []string
	for _, line := range c.Short {
		short = append(short, theme.Hang("", 2, p.theme.Spelled(line), w)...)
	}
	section("IN SHORT", short...)
	while := ""
	if c.Here != nil {
		elsewhere, while = append(elsewhere, here...), ", once a run goes on"
	}
	for _, group := range elsewhere {
		section("KEYS "+group.title+while, p.keyLines(group.keys, w)...)
	}
	section("KEYS in this help", p.keyLines(p.Keys(), w)...)
	section("COMMANDS after : (every key above has one too, by name)", p.verbLines(c.Verbs, w)...)
	section("KNOBS", p.knobLines(c.Knobs, w)...)
	section(numbersTitle, p.definitionLines(c.Numbers, w)...)
	return out[:len(out)-1]
}

// numbersTitle is the heading of the definitions.
const numbersTitle = "WHAT THE NUMBERS ARE"

// helpName is the width of the column with the names of keys and commands.
const helpName = 16

// keyLines are keys with their effect; of several keys with the same help only the first has the
// text.
func (p *Page) keyLines(keys []pane.Binding, w int) []string {
	t := p.theme
	var out []string
	for _, b := range keys {
		if b.Help != "" {
			out = append(out, theme.Hang(t.Key.On(t.Fit(t.KeyLabel(b.Title()), helpName)), helpName, p.theme.Spelled(b.Help), w)...)
		}
	}
	return out
}

func (p *Page) verbLines(verbs []pane.Verb, w int) []string {
	t := p.theme
	var out []string
	for _, v := range verbs {
		out = append(out, theme.Hang(t.Key.On(t.Fit(v.Name, helpName)), helpName, p.theme.Spelled(v.About), w)...)
	}
	return out
}

func (p *Page) knobLines(knobs []knob.Knob, w int) []string {
	t := p.theme
	var out []string
	for _, k := range knobs {
		about := fmt.Sprintf("%s; %s, %s", k.Doc+pane.UnitOf(k), k.Range(), pane.TakesEffect(k.Class))
		out = append(out, theme.Hang(t.Accent.On(t.Fit(k.Name, helpName)), helpName, p.theme.Spelled(about), w)...)
	}
	return out
}

func (p *Page) definitionLines(definitions []pane.Definition, w int) []string {
	t := p.theme
	var out []string
	for _, d := range definitions {
		name := t.Accent.On(d.Name)
		if len(d.Shown) > 0 {
			name += t.Dim.On("  beside " + p.theme.Spelled(strings.Join(d.Shown, ", ")))
		}
		out = append(out, theme.WrapStyled(name, w)...)
		for _, l := range theme.Wrap(p.theme.Spelled(d.Text), w-2) {
			out = append(out, "  "+l)
		}
	}
	return out
}

// keyGroup is a group of keys that work in the same panes.
type keyGroup struct {
	title string
	keys  []pane.Binding
}

// purposes are the titles of the keys that work everywhere, by their purpose.
var purposes = [...]struct {
	of    pane.Purpose
	title string
}{
	{pane.ToChange, "everywhere, to change the run"}, {pane.ToLook, "everywhere, to look"},
	{pane.ToCompare, "everywhere, to compare"}, {pane.ToLeave, "everywhere, to leave"},
}

// helpGroups groups the keys: those of the pane in focus, and the others, with the keys of all panes
// first, by their purpose.
func helpGroups(keys []pane.Binding, focused pane.ID) (here, elsewhere []keyGroup) {
	var out []keyGroup
	everywhere, at := map[pane.Purpose]int{}, map[string]int{}
	for i, p := range purposes {
		out, everywhere[p.of] = append(out, keyGroup{title: p.title}), i
	}
	focus := map[int]bool{}
	for _, b := range keys {
		i := everywhere[b.For]
		if b.Panes != nil {
			where := namesOf(b.Panes)
			if at[where] == 0 {
				at[where] = len(out)
				out = append(out, keyGroup{title: "in " + where})
			}
			i = at[where]
			focus[i] = focus[i] || b.Works(focused)
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

func namesOf(panes []pane.ID) string {
	if len(panes) > 1 && panes[0] == pane.Chart1 {
		return "charts"
	}
	var names []string
	for _, p := range panes {
		names = append(names, string(p))
	}
	return strings.Join(names, ", ")
}

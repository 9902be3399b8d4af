package tui

import (
	"cmp"
	"fmt"
	"strings"

	"pgrlab/core/knob"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// candidates are the commands that text can be completed to, the best first.
func (p *palette) candidates(text string) []pane.Candidate {
	name, argument, spaced := strings.Cut(text, " ")
	if spaced {
		return p.argumentCandidates(name, strings.TrimLeft(argument, " "))
	}
	var all []pane.Candidate
	for _, v := range p.verbs {
		all = append(all, pane.Candidate{Text: v.Name, About: v.About})
	}
	for _, b := range p.keys {
		if !strings.HasPrefix(b.Name, goTo("")) {
			all = append(all, pane.Candidate{Text: b.Name, About: b.Help})
		}
	}
	for _, k := range p.KnobList {
		if p.KnobUse(k) == nil {
			all = append(all, pane.Candidate{Text: k.Name + " ", About: "now " + pane.Readable(p.Effective(k.Name)) + "; " + k.Doc})
		}
	}
	return pane.Best(all, name)
}

// argumentCandidates complete a verb's argument or a knob's value.
func (p *palette) argumentCandidates(name, argument string) []pane.Candidate {
	for _, v := range p.verbs {
		if v.Name != name || v.Arguments == nil {
			continue
		}
		if knob, value, more := strings.Cut(argument, " "); more && (name == "set" || name == "stage") {
			return pane.Prefixed(name+" ", p.argumentCandidates(knob, value))
		}
		var all []pane.Candidate
		for _, a := range v.Arguments() {
			all = append(all, pane.Candidate{Text: a, About: ""})
		}
		return pane.Prefixed(name+" ", pane.Best(all, argument))
	}
	k, err := p.FindKnob(name)
	if err != nil || k.Kind != knob.KindChoice {
		return nil
	}
	value := strings.TrimLeft(argument, "= ")
	return pane.Prefixed(name+" "+argument[:len(argument)-len(value)], pane.ValueCandidates(k, value))
}

// view draws the candidates above the line that is being typed, on a screen of w by h.
func (p *palette) view(w, h int) []string {
	t, e := p.Theme, p.Typed()
	all := e.Candidates()
	if len(all) == 0 || h < 8 {
		return nil
	}
	room := min(8, h-5)
	first := max(0, min(e.Chosen-room/2, len(all)-room))
	w = min(w, 100)
	var body []string
	for i := first; i < min(len(all), first+room); i++ {
		mark, ink := "  ", t.Text
		if i == e.Chosen {
			mark, ink = t.Accent.On(t.Glyphs.Cursor)+" ", t.Bold
		}
		body = append(body, t.Fit(mark+ink.On(t.Fit(cmp.Or(all[i].Shown, all[i].Text), 24))+t.Dim.On(p.Spelled(all[i].About)), w-4))
	}
	title := "COMMANDS"
	if e.Pane != "" {
		title = "CHOICES"
	}
	return t.Box(title, t.Dim.On(fmt.Sprintf("%d", len(all))), theme.Indent(body), w, len(body)+2, true)
}

package tui

import (
	"fmt"
	"strings"

	"pgrlab/core/knob"
)

// candidates are the commands that a text may become, the best first.
func (p *palette) candidates(text string) []candidate {
	name, argument, spaced := strings.Cut(text, " ")
	if spaced {
		return p.argumentCandidates(name, strings.TrimLeft(argument, " "))
	}
	var all []candidate
	for _, v := range p.verbs {
		all = append(all, candidate{v.name, v.about})
	}
	for _, b := range p.keys {
		if !strings.HasPrefix(b.name, "go-") {
			all = append(all, candidate{b.name, b.help})
		}
	}
	for _, k := range p.knobList {
		if p.knobUse(k) == nil {
			all = append(all, candidate{k.Name + " ", "now " + readable(p.effective(k.Name)) + "; " + k.Doc})
		}
	}
	return best(all, name)
}

// argumentCandidates complete the argument of a verb or the value of a knob.
func (p *palette) argumentCandidates(name, argument string) []candidate {
	for _, v := range p.verbs {
		if v.name != name || v.arguments == nil {
			continue
		}
		if knob, value, more := strings.Cut(argument, " "); more && (name == "set" || name == "stage") {
			return prefixed(name+" ", p.argumentCandidates(knob, value))
		}
		var all []candidate
		for _, a := range v.arguments() {
			all = append(all, candidate{a, ""})
		}
		return prefixed(name+" ", best(all, argument))
	}
	k, err := p.findKnob(name)
	if err != nil || k.Kind != knob.KindChoice {
		return nil
	}
	var all []candidate
	for _, c := range k.Choices {
		all = append(all, candidate{c, ""})
	}
	return prefixed(name+" ", best(all, argument))
}

// view is the candidates above the line that is being typed, on a screen of w by h.
func (p *palette) view(w, h int) []string {
	t, e := p.theme, p.typed()
	all := e.candidates()
	if len(all) == 0 || h < 8 {
		return nil
	}
	room := min(8, h-5)
	first := max(0, min(e.chosen-room/2, len(all)-room))
	w = min(w, 100)
	var body []string
	for i := first; i < min(len(all), first+room); i++ {
		mark, ink := "  ", t.text
		if i == e.chosen {
			mark, ink = t.accent.on(t.glyphs.cursor)+" ", t.bold
		}
		body = append(body, t.fit(mark+ink.on(t.fit(all[i].text, 24))+t.dim.on(p.spelled(all[i].about)), w-4))
	}
	title := "COMMANDS"
	if e.pane != "" {
		title = "CHOICES"
	}
	return t.box(title, t.dim.on(fmt.Sprintf("%d", len(all))), indent(body), w, len(body)+2, true)
}

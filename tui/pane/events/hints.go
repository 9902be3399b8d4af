package events

import "pgrlab/tui/pane"

// hintMemory keeps which hints a person needs no more.
type hintMemory interface {
	Knows(hint string) bool
	Learn(hint string)
}

// Hint is what a new user of the screen is told until a key was used.
type Hint struct{ key, keys, Text string }

// newcomerHints are the three things a new user needs; each goes when it was used.
var newcomerHints = []Hint{
	{"more", "left right", "change the selected knob, enter applies it"},
	{"help", "?", "what every key does and every number means"},
	{"quit", "q", "leave: the run can go on without the screen"},
}

// replayHints are those of a person who watches a run of the past.
var replayHints = []Hint{
	{"later", "< >", "back and forth; ( and ) change the speed, space stops it"},
	{"help", "?", "what every key does and every number means"},
	{"quit", "q", "leave"},
}

// hints are the things that a new user of this screen needs.
func (p *Pane) hints() []Hint {
	switch {
	case p.About.Replay:
		return replayHints
	case p.Ended():
		return newcomerHints[1:] // there is nothing to change
	}
	return newcomerHints
}

// Used notes that a binding was used, for the hints.
func (p *Pane) Used(name string) {
	switch name {
	case "less":
		name = "more"
	case "earlier":
		name = "later"
	}
	for _, h := range p.hints() {
		if h.key == name && !p.memory.Knows(name) {
			p.memory.Learn(name)
			p.TouchPane(pane.Events)
		}
	}
}

// hintLines are the hints that are still needed, for the end of the events.
func (p *Pane) hintLines(w int) []string {
	t := p.Theme
	var out []string
	for _, h := range p.hints() {
		if !p.memory.Knows(h.key) {
			out = append(out, t.Fit(t.Staged.On(t.Fit(t.KeyLabel(h.keys), 5))+" "+t.Clip(h.Text, max(1, w-6)), w))
		}
	}
	return out
}

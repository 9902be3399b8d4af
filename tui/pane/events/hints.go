package events

import "pgrlab/tui/pane"

// hintMemory remembers which hints a person no longer needs.
type hintMemory interface {
	Knows(hint string) bool
	Learn(hint string)
}

// Hint is a piece of advice to a new user, shown until its key was used.
type Hint struct{ key, keys, Text string }

// newcomerHints are the three things that a new user needs; each disappears once it was used.
var newcomerHints = []Hint{
	{"more", "left right", "change the selected knob, enter applies it"},
	{"help", "?", "what every key does and every number means"},
	{"quit", "q", "leave: the run can go on without the screen"},
}

// replayHints are the hints for a person who watches a run of the past.
var replayHints = []Hint{
	{"later", "< >", "back and forth; ( and ) change the speed, space stops it, and goes on"},
	{"help", "?", "what every key does and every number means"},
	{"quit", "q", "leave"},
}

// endedHints are the hints for a person who sees that a run has ended.
var endedHints = []Hint{
	{"help", "?", "what every key does and every number means"},
	{"quit", "q", "leave"},
}

// watchHints are the hints for a person who may only look.
var watchHints = []Hint{
	{"help", "?", "what every number means"},
	{"quit", "q", "leave; the run goes on"},
}

// hints are the hints for a new user of this screen.
func (p *Pane) hints() []Hint {
	switch {
	case p.About.Replay:
		return replayHints
	case !p.MayDrive():
		return watchHints
	case p.Ended():
		return endedHints
	}
	return newcomerHints
}

// Used notes for the hints that a binding was used.
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

// HintLines are the hints still needed.
func (p *Pane) HintLines(w int) []string {
	t := p.Theme
	var out []string
	for _, h := range p.hints() {
		if !p.memory.Knows(h.key) {
			out = append(out, t.Fit(t.Staged.On(t.Fit(t.KeyLabel(h.keys), 5))+" "+t.Clip(h.Text, max(1, w-6)), w))
		}
	}
	return out
}

package tui

// hintMemory keeps which hints a person needs no more.
type hintMemory interface {
	Knows(hint string) bool
	Learn(hint string)
}

// hints are the three things a new user needs; each goes when it was used.
var hints = []struct{ name, keys, text string }{
	{"more", "left right", "change the selected knob, enter applies it"},
	{"help", "?", "what every key does and every number means"},
	{"quit", "q", "leave: the run can go on without the screen"},
}

// replayHints are those of a person who watches a run of the past.
var replayHints = []struct{ name, keys, text string }{
	{"later", "< >", "back and forth; ( and ) change the speed, space stops it"},
	{"help", "?", "what every key does and every number means"},
	{"quit", "q", "leave"},
}

// hints are the things that a new user of this screen needs.
func (m *eventsPane) hints() []struct{ name, keys, text string } {
	switch {
	case m.about.Replay:
		return replayHints
	case m.ended():
		return hints[1:] // there is nothing to change
	}
	return hints
}

// used notes that a binding was used, for the hints.
func (m *eventsPane) used(name string) {
	switch name {
	case "less":
		name = "more"
	case "earlier":
		name = "later"
	}
	for _, h := range m.hints() {
		if h.name == name && !m.memory.Knows(name) {
			m.memory.Learn(name)
			m.touchPane(paneEvents)
		}
	}
}

// hintLines are the hints that are still needed, for the end of the events.
func (m *eventsPane) hintLines(w int) []string {
	t := m.theme
	var out []string
	for _, h := range m.hints() {
		if !m.memory.Knows(h.name) {
			out = append(out, t.fit(t.staged.on(t.fit(t.keyLabel(h.keys), 5))+" "+t.clip(h.text, max(1, w-6)), w))
		}
	}
	return out
}

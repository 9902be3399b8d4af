package tui

// hints are the three things a new user needs; each goes when it was used.
var hints = []struct{ name, keys, text string }{
	{"more", "left right", "change the selected knob, enter applies it"},
	{"help", "?", "what every key does and every number means"},
	{"quit", "q", "leave: the run can go on without the screen"},
}

// replayHints are those of somebody who watches a run of the past.
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
		if h.name == name && !contains(m.memory.Used, name) {
			m.memory.Used = append(m.memory.Used, name)
			m.touchPane(paneEvents)
			m.memory.keep()
		}
	}
}

// hintLines are the hints that are still needed, for the end of the events.
func (m *eventsPane) hintLines(w int) []string {
	t := m.theme
	var out []string
	for _, h := range m.hints() {
		if !contains(m.memory.Used, h.name) {
			out = append(out, t.fit(t.staged.on(t.fit(t.keyLabel(h.keys), 5))+" "+t.clip(h.text, max(1, w-6)), w))
		}
	}
	return out
}

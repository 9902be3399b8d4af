package tui

// say puts one line under the knobs.
func (m *Model) say(state changeState, text string) {
	m.message, m.messageState = text, state
	m.history.touch(paneKnobs, paneScores) // what is staged, and its preview, may have changed
	if text != "" && !m.layout.visible(paneKnobs) {
		m.told = text
	}
	m.changed()
}

// tell puts one line at the foot of the screen, until the next key.
func (m *Model) tell(text string) {
	m.told = text
	m.changed()
}

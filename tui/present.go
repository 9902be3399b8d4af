package tui

import (
	"fmt"
	"strings"
)

// text says in one sentence how the run is doing, for a person who sees the
// screen for the first time.
func (m *sentencePane) text() string {
	h, s := &m.history, m.snap
	var parts []string
	parts = append(parts, fmt.Sprintf("After %s environment steps", count(s.Step)))
	if n := len(h.evaluations); n > 0 {
		e := h.evaluations[n-1]
		parts = append(parts, fmt.Sprintf("the policy's return is %s, the mean of %d episodes", number(e.mean), e.episodes))
	} else {
		parts = append(parts, "the policy has not been evaluated yet")
	}
	if n := len(h.dormant); n > 0 {
		parts = append(parts, fmt.Sprintf("and %s of its hidden units are dormant", percent(h.dormant[n-1].sokar)))
	}
	text := strings.Join(parts, ", ") + "."
	if c := h.lastApplied(); c != nil {
		text += fmt.Sprintf(" Last change: %s from %s to %s, %s.", m.knobTitle(c.knob), readable(c.from), readable(c.to), m.since(c))
	}
	return text
}

// sentencePane is the run in one sentence.
type sentencePane struct {
	*runView
}

func newSentence(r *runView) *sentencePane { return &sentencePane{runView: r} }

// ID names the pane.
func (m *sentencePane) ID() paneID { return paneSentence }

// Tab is its name on the tab bar.
func (m *sentencePane) Tab() string { return string(paneSentence) }

// Title is what its border says.
func (m *sentencePane) Title(w int) (title, note string) { return "IN ONE SENTENCE", "" }

// Keys work while it is in focus.
func (m *sentencePane) Keys() []binding { return nil }

// DependsOn are the topics that it shows.
func (m *sentencePane) DependsOn() []topic { return []topic{topicSnapshot} }

func (m *sentencePane) Body(w, _ int) []string {
	var out []string
	for _, l := range wrap(m.spelled(m.text()), w) {
		out = append(out, m.theme.bold.on(l))
	}
	return out
}

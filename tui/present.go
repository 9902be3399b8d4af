package tui

import (
	"fmt"
	"strings"
)

// sentence says in one sentence how the run is doing, for somebody who sees the
// screen for the first time.
func (m *Model) sentence() string {
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

// lastApplied is the newest change that took place.
func (h *history) lastApplied() *change {
	for i := len(h.changes) - 1; i >= 0; i-- {
		if c := h.changes[i]; c.state == applied || c.state == inForce {
			return c
		}
	}
	return nil
}

// since says how long a change has been in force.
func (m *Model) since(c *change) string {
	if c.state != inForce {
		return "set at step " + count(c.appliedStep) + ", not in force yet"
	}
	return "in force since step " + count(c.forceStep)
}

func (m *Model) sentenceBody(w, _ int) []string {
	var out []string
	for _, l := range wrap(m.spelled(m.sentence()), w) {
		out = append(out, m.theme.bold.on(l))
	}
	return out
}

// exposure is what training has seen since a change came into force: how much of
// D_real is younger, whether D_syn is, and the updates made.
func (m *Model) exposure() string {
	c := m.history.lastApplied()
	if c == nil || c.state != inForce || m.snap == nil || m.snap.Real == 0 {
		return ""
	}
	s := m.snap
	young := min(s.Real, s.Step-c.forceStep+1)
	text := fmt.Sprintf("since #%d: %s of D_real", c.number, percent(float64(young)/float64(s.Real)))
	if s.Synthetic > 0 {
		renewed := "0%"
		if n := len(m.history.refits); n > 0 && m.history.refits[n-1].step >= c.appliedStep {
			renewed = "100%"
		}
		text += ", " + renewed + " of D_syn"
	}
	if s.Updates >= c.updates {
		text += ", " + count(int(s.Updates-c.updates)) + " updates"
	}
	return text
}

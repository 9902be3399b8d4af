// Package sentence describes the state of a run in one sentence.
package sentence

import (
	"fmt"
	"strings"

	"pgrlab/tui/format"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
	"pgrlab/tui/topic"
)

// Text says in one sentence how the run is doing, for a person who sees the screen for the first
// time.
func (p *Pane) Text() string {
	h, s := &p.History, p.Snap
	var parts []string
	parts = append(parts, fmt.Sprintf("After %s environment steps", format.Count(s.Step)))
	if n := len(h.Evaluations); n > 0 {
		e := h.Evaluations[n-1]
		parts = append(parts, fmt.Sprintf("the policy's return is %s, the mean of %s", format.Number(e.Mean), e.Of()))
	} else {
		parts = append(parts, "the policy has not been evaluated yet")
	}
	if n := len(h.Dormant); n > 0 {
		parts = append(parts, fmt.Sprintf("and %s of its hidden units are dormant", format.Percent(h.Dormant[n-1].Sokar)))
	}
	text := strings.Join(parts, ", ") + "."
	if c := h.LastApplied(); c != nil {
		text += fmt.Sprintf(" Last change: %s from %s to %s, %s.", p.KnobTitle(c.Knob), pane.Readable(c.From), pane.Readable(c.To), p.Since(c))
	}
	return text
}

// Pane is the sentence about the run.
type Pane struct {
	*pane.Run
}

// New makes the pane of a run.
func New(r *pane.Run) *Pane { return &Pane{Run: r} }

// ID names the pane.
func (p *Pane) ID() pane.ID { return pane.Sentence }

// Tab is the name of the pane on the tab bar.
func (p *Pane) Tab() string { return string(pane.Sentence) }

// Title is the text in the border of the pane.
func (p *Pane) Title(w int) (title, note string) { return "IN ONE SENTENCE", "" }

// Keys are those that work while the pane is in focus.
func (p *Pane) Keys() []pane.Binding { return nil }

// DependsOn are the topics that the pane shows.
func (p *Pane) DependsOn() []topic.Topic { return []topic.Topic{topic.Snapshot} }

// Body is the sentence, wrapped.
func (p *Pane) Body(w, _ int) []string {
	var out []string
	for _, l := range theme.Wrap(p.Spelled(p.Text()), w) {
		out = append(out, p.Theme.Bold.On(l))
	}
	return out
}

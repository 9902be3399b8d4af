package history

import (
	"fmt"
	"slices"
	"strings"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/format"
	"pgrlab/tui/topic"
)

// Synthesis is one D_syn: what it was made with, and what came out.
type Synthesis struct {
	Step      int
	Fitted    bool // the generator was fitted for it; else only prompted again
	Rows      int
	Seconds   float64
	F         *event.RefitF         // nil: without conditions
	Described *event.Generated      // nil: not examined
	Changed   map[string]knob.Value // knobs by name as they were then, as far as they had been changed
}

// changed are the knobs that were changed so far, as the D_syn that is complete in a step has them: those that
// came while it was fitted or generated are of the next one.
func (h *History) changed(step int) map[string]knob.Value {
	all := map[string]knob.Value{}
	for _, c := range h.Changes {
		if c.Number > 0 && (c.AppliedStep < step || !c.late()) {
			all[c.Knob] = c.To
		}
	}
	return all
}

// late says whether the refit or the generation of the change's step had begun without it.
func (c *Change) late() bool {
	at := knob.At(c.AppliedStep, knob.Generate, 0)
	switch {
	case c.Now: // then what had begun was given up
		return false
	case c.Knob == "relevance":
		at.Phase = knob.Score
	case c.Class == knob.ClassRefit:
		at.Phase = knob.Fit
	case c.Class != knob.ClassGeneration:
		return false
	}
	return at.Before(c.Position)
}

// takeRefit keeps a refit with its generation.
func (h *History) takeRefit(e event.Event, wall float64, b event.Refit) string {
	h.measure(CurveGenerator, max(0, e.Member), e.Step, wall, Optional(b.Loss))
	if b.Ensemble != nil {
		h.measure(CurveHeldOut, max(0, e.Member), e.Step, wall, b.Ensemble.Best())
	}
	h.Touch(topic.Losses, topic.Generations)
	if e.Member > 0 { // the first member's stand for all
		return ""
	}
	h.F = relevances(b.F)
	h.Refits = append(h.Refits, refit{Step: e.Step, Steps: b.Steps, generated: b.Generated, Loss: Optional(b.Loss), Seconds: float64(b.Obs.Seconds), Ensemble: b.Ensemble, Rollouts: b.Rollouts})
	h.Syntheses = append(h.Syntheses, Synthesis{Step: e.Step, Fitted: b.Steps > 0, Rows: b.Generated, Seconds: float64(b.Obs.Seconds), F: h.F, Changed: h.changed(e.Step)})
	text := fmt.Sprintf("%s rows generated", format.Count(b.Generated))
	if b.Rollouts != nil && b.Rollouts.Dropped > 0 {
		text += fmt.Sprintf(", %s dropped", format.Count(b.Rollouts.Dropped))
	}
	if s := float64(b.Obs.Seconds); s > 0 {
		text += ", " + format.Duration(format.Seconds(s))
	}
	if b.Steps == 0 {
		return text
	}
	fit := fmt.Sprintf("%s generator steps, loss %s", format.Count(b.Steps), format.Number(Optional(b.Loss)))
	if b.Ensemble != nil {
		fit += ", model error " + format.Number(b.Ensemble.Best())
	}
	return fit + "; " + text
}

// takeGenerated keeps the description of a new D_syn.
func (h *History) takeGenerated(e event.Event, wall float64, b event.Generated) string {
	h.measureGenerated(max(0, e.Member), e.Step, wall, &b)
	h.Touch(topic.Generations)
	if e.Member > 0 {
		return ""
	}
	h.Generations++
	h.Generated = &b
	if n := len(h.Syntheses); n > 0 {
		h.Syntheses[n-1].Described = &b
	}
	text := Worth(&b) // the most important part first: narrow panes cut after a clause
	switch {
	case text != "":
		text += ", "
	case b.Dynamics != nil:
		text = "dynamics error " + format.Number(float64(b.Dynamics.Relative)) + ", "
	}
	if b.RankCorrelation != nil {
		text += fmt.Sprintf("asked and achieved F correlate %.2f, ", float64(*b.RankCorrelation))
	}
	text += format.Percent(float64(b.OutsideStates)) + " of states outside the real range"
	if b.Furthest > 0 {
		text += fmt.Sprintf(", the furthest %.2gσ", float64(b.Furthest))
	}
	return text + ", by " + format.Count(b.Rows) + " rows"
}

// generatedBriefs are descriptions of a new D_syn for narrow panes: all its numbers in fewer words,
// then without the least important ones.
func generatedBriefs(b event.Generated) []string {
	verdict := Worth(&b)
	short := strings.TrimPrefix(verdict, "labels beat a constant: ") // the numbers show that
	if verdict == "" && b.Dynamics != nil {
		short = "dynamics error " + format.Number(float64(b.Dynamics.Relative))
	}
	correlate := ""
	if b.RankCorrelation != nil {
		correlate = fmt.Sprintf("correlate %.2f", float64(*b.RankCorrelation))
	}
	outside := format.Percent(float64(b.OutsideStates)) + " outside"
	list := func(parts ...string) string {
		return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
	}
	return []string{list(verdict, correlate, outside), list(short, correlate, outside), list(short, correlate), short}
}

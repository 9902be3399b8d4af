package tui

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
)

// take reduces one event of the lab.
func (h *history) take(e event.Event) {
	h.next = e.Index + 1
	if h.begin.IsZero() {
		h.begin = e.Wall
	}
	wall := e.Wall.Sub(h.begin).Seconds()
	h.clock.tick(e.Step, wall)
	h.highest = max(h.highest, e.Member)
	if h.takeChange(e) || h.takeMeasured(e, wall) {
		return
	}
	line := eventLine{wall: e.Wall, step: e.Step}
	line.kind, line.text, line.worry = h.tale(e, wall)
	if b, ok := e.Body.(event.Generated); ok {
		line.briefs = generatedBriefs(b)
	}
	if line.kind != "" {
		h.add(line)
	}
}

// takeChange takes what became of a change of a knob; such an event has the line of
// its change.
func (h *history) takeChange(e event.Event) bool {
	switch b := e.Body.(type) {
	case event.KnobChanged:
		h.takeKnob(e, b)
	case event.InForce:
		h.takeInForce(e.Step, b)
	case event.Refused:
		if b.Knob == "analyse" {
			return false // no knob
		}
		h.takeRefused(e, b)
	default:
		return false
	}
	return true
}

// takeMeasured takes numbers that curves show, and no line.
func (h *history) takeMeasured(e event.Event, wall float64) bool {
	member := max(0, e.Member)
	measure := func(name curveName, y float64) { h.measure(name, member, e.Step, wall, y) }
	switch b := e.Body.(type) {
	case event.Dormant:
		h.dormant = append(h.dormant, dormancy{e.Step, member, float64(b.Ratio), float64(b.RatioDrM), float64(b.Tau)})
		measure(curveSokar, float64(b.Ratio))
		measure(curveDrM, float64(b.RatioDrM))
	case event.Scores:
		h.scored(b.Relevance, member, e.Step, wall)
		for i, name := range []curveName{curveF10, curveF50, curveF90} {
			measure(name, quantile(b.Quantiles, i))
		}
		h.touch(topicGenerations)
	case event.Losses:
		for name, v := range map[curveName]*run.Float{curveCritic: b.Critic, curveActor: b.Actor, curveAlpha: b.Alpha, curveQMean: b.QMean, curveCuriosity: b.Curiosity} {
			measure(name, optional(v))
		}
		h.touch(topicLosses)
	case event.Perf:
		measure(curveSpeed, float64(b.StepsPerSec))
	case event.QBias:
		measure(curveQBias, float64(b.Bias))
	default:
		return false
	}
	return true
}

// tale takes an event that has a line of its own; kind is "" for one that has none.
func (h *history) tale(e event.Event, wall float64) (kind, text string, worry bool) {
	switch b := e.Body.(type) {
	case event.Evaluated:
		return "eval", h.takeEvaluated(e, wall, b), false
	case event.Generated:
		return "D_syn", h.takeGenerated(e.Step, wall, b), false
	case event.Refit:
		return "refit", h.takeRefit(e.Step, wall, b), false
	case event.Noted:
		h.notes = append(h.notes, note{e.Step, wall, b.Text})
		h.touch(topicChanges)
		return "note", b.Text, false
	case event.Refused:
		return "look", b.Reason, true
	case *event.Examined:
		return "look", examinedText(b), false
	case event.Checkpointed:
		if b.Obs.Error == "" {
			h.saved = b.Obs.Path
		}
	}
	return remark(e.Body)
}

// takeEvaluated keeps an evaluation.
func (h *history) takeEvaluated(e event.Event, wall float64, b event.Evaluated) string {
	v := evaluation{step: e.Step, member: max(0, e.Member), episodes: b.Episodes, wall: wall, mean: float64(b.ReturnMean), std: float64(b.ReturnStd)}
	h.evaluations = append(h.evaluations, v)
	h.measure(curveReturn, v.member, e.Step, wall, v.mean)
	mean, std := spreadOf(v.mean, v.std)
	return fmt.Sprintf("return %s ± %s over %d episodes", mean, std, v.episodes)
}

// remark is the line of an event without numbers to keep; "" for none.
func remark(body any) (kind, text string, worry bool) {
	switch b := body.(type) {
	case event.Start:
		return "start", fmt.Sprintf("%s %s %s, seed %d, %s", b.Task, b.Method, b.Scale, b.Seed, b.Device), false
	case event.Failed:
		return "failed", b.Error, true
	case event.Done:
		return "done", count(b.Steps) + " steps", false
	case event.Checkpointed:
		if b.Obs.Error != "" {
			return "ckpt", b.Obs.Error, true
		}
		return "ckpt", fmt.Sprintf("saved at %s: %s in %.1f s, training stood still %.2f s", b.Obs.Position,
			bytesText(float64(b.Obs.Bytes)), float64(b.Obs.Seconds), float64(b.Obs.StallS)), false
	case event.Diverged:
		return "diverged", b.Doing + ": " + b.Error, true
	case event.Paused:
		if b.Reason != "" {
			return "pause", b.Reason, true
		}
		return "pause", by(b.By), false
	case event.Resumed:
		return "resume", by(b.By), false
	default:
		return "", "", false
	}
}

func by(who string) string {
	if who == "" {
		return ""
	}
	return "by " + who
}

func (h *history) takeRefit(step int, wall float64, b event.Refit) string {
	h.refits = append(h.refits, refit{step: step, steps: b.Steps, generated: b.Generated, loss: optional(b.Loss), seconds: float64(b.Obs.Seconds)})
	h.measure(curveGenerator, 0, step, wall, optional(b.Loss))
	h.touch(topicLosses, topicGenerations)
	cost := ""
	if s := float64(b.Obs.Seconds); s > 0 {
		cost = ", " + duration(seconds(s))
	}
	if b.Steps == 0 {
		return fmt.Sprintf("%s rows generated%s", count(b.Generated), cost)
	}
	return fmt.Sprintf("%s generator steps, loss %s; %s rows generated%s", count(b.Steps), number(optional(b.Loss)), count(b.Generated), cost)
}

// takeGenerated keeps the description of a new D_syn.
func (h *history) takeGenerated(step int, wall float64, b event.Generated) string {
	h.generations++
	h.generated = &b
	h.touch(topicGenerations)
	h.measureGenerated(step, wall, &b)
	text := worth(&b) // what matters most first: narrow panes end behind a clause
	switch {
	case text != "":
		text += ", "
	case b.Dynamics != nil:
		text = "dynamics error " + number(float64(b.Dynamics.Relative)) + ", "
	}
	if b.Obeyed != nil {
		text += fmt.Sprintf("asked and achieved F correlate %.2f, ", float64(*b.Obeyed))
	}
	return text + percent(float64(b.OutsideStates)) + " of states outside the real range, by " + count(b.Rows) + " rows"
}

// generatedBriefs are the description of a new D_syn for narrow panes: all its numbers in
// fewer words, then without those that matter least.
func generatedBriefs(b event.Generated) []string {
	verdict := worth(&b)
	short := strings.TrimPrefix(verdict, "labels beat a constant: ") // the numbers say so
	if verdict == "" && b.Dynamics != nil {
		short = "dynamics error " + number(float64(b.Dynamics.Relative))
	}
	correlate := ""
	if b.Obeyed != nil {
		correlate = fmt.Sprintf("correlate %.2f", float64(*b.Obeyed))
	}
	outside := percent(float64(b.OutsideStates)) + " outside"
	list := func(parts ...string) string {
		return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
	}
	return []string{list(verdict, correlate, outside), list(short, correlate, outside), list(short, correlate), short}
}

// examinedText says the most of an analysis: pgrlab analyse has the rest, and pictures.
func examinedText(b *event.Examined) string {
	text := ""
	add := func(format string, args ...any) {
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf(format, args...)
	}
	if b.Real != nil && b.Synthetic != nil {
		add("%s, median %s real, %s D_syn", b.Relevance, number(b.Real.Median), number(b.Synthetic.Median))
	}
	if g := b.Generated; g != nil && g.Dynamics != nil {
		add("dynamics error %s", number(float64(g.Dynamics.Relative)))
		if b.Gaussian != nil {
			text += ", a Gaussian " + number(float64(b.Gaussian.Relative))
		}
	}
	if b.Projection != nil {
		add("guided and free overlap %s", percent(float64(b.Projection.Overlap)))
	}
	if text == "" {
		add("nothing is generated yet")
	}
	return text
}

// takeKnob confirms a change: one that this screen asked for, or another's.
func (h *history) takeKnob(e event.Event, b event.KnobChanged) {
	c := h.pending(b.Obs.Ref)
	if c == nil {
		c = &change{askedStep: -1}
		h.list(c, e)
	}
	c.number, c.knob, c.class = b.ID, b.Knob, b.Class
	c.from, c.to = b.From, b.To
	c.now, c.undoes, c.why = b.Now, b.Obs.Undoes, b.Why()
	c.state, c.appliedStep, c.wall = applied, b.Position.Step, e.Wall
	c.scheduled = b.Obs.By == "schedule"
	if c.knob == "utd" {
		h.clock.changes = append(h.clock.changes, utdChange{c.appliedStep, c.to.Number})
	}
	h.touch(topicChanges)
}

func (h *history) takeInForce(step int, b event.InForce) {
	for _, c := range h.changes {
		if c.number == b.ID {
			c.state, c.forceStep, c.why = inForce, step, ""
			c.updates = uint64(h.clock.updates(step - 1)) // in front of the first batch of that step
			if b.Obs != nil {
				c.updates = b.Obs.Updates
			}
		}
	}
	h.touch(topicChanges)
}

func (h *history) takeRefused(e event.Event, b event.Refused) {
	c := h.pending(b.Ref)
	if c == nil {
		c = &change{askedStep: -1, knob: b.Knob, to: knob.Choice(b.Value)}
		h.list(c, e)
	}
	c.state, c.why = refused, b.Reason
	h.touch(topicChanges)
}

// list lists a change and gives it its line.
func (h *history) list(c *change, e event.Event) {
	h.changes = append(h.changes, c)
	h.add(eventLine{wall: e.Wall, step: e.Step, kind: "knob", change: c})
}

// pending is the change that was asked for under ref and not answered yet.
func (h *history) pending(ref string) *change {
	if ref == "" {
		return nil
	}
	for i := len(h.changes) - 1; i >= 0; i-- {
		if c := h.changes[i]; c.ref == ref && c.state == asked {
			return c
		}
	}
	return nil
}

func optional(f *run.Float) float64 {
	if f == nil {
		return math.NaN()
	}
	return float64(*f)
}

func quantile(q []run.Float, i int) float64 {
	if i >= len(q) {
		return math.NaN()
	}
	return float64(q[i])
}

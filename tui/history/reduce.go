package history

import (
	"fmt"
	"math"
	"strings"

	"pgrlab/core/event"
	"pgrlab/core/ground"
	"pgrlab/core/run"
	"pgrlab/tui/format"
	"pgrlab/tui/topic"
)

// Take adds one event of the lab to the history.
func (h *History) Take(e event.Event) {
	h.Next = e.Index + 1
	if h.Begin.IsZero() {
		h.Begin = e.Wall
	}
	wall := e.Wall.Sub(h.Begin).Seconds()
	h.Clock.tick(e.Step, wall)
	h.highest, h.cohort = max(h.highest, e.Member), h.cohort || e.Member != event.NoMember
	if h.takeChange(e) || h.takeMeasured(e, wall) {
		return
	}
	line := EventLine{Wall: e.Wall, Step: e.Step}
	line.Kind, line.Text, line.Warning = h.eventText(e, wall)
	if b, ok := e.Body.(event.Generated); ok {
		line.Briefs = generatedBriefs(b)
	}
	switch last := len(h.Lines) - 1; {
	case line.Kind == "" || line.Text == "" && e.Member > 0:
	case e.Member > 0 && line.Kind == "eval" && last >= 0 && h.Lines[last].Kind == "eval" && h.Lines[last].Step == e.Step: // all seeds share one line
		h.Lines = h.Lines[:last]
		h.Add(line)
	default:
		h.Add(line)
	}
	if line.Kind == "eval" {
		h.addFall(e)
	}
}

// takeChange handles an event about a change of a knob; it shows in the line of the change.
func (h *History) takeChange(e event.Event) bool {
	switch b := e.Body.(type) {
	case event.KnobChanged:
		h.takeKnob(e, b)
	case event.InForce:
		h.takeInForce(e.Step, b)
	case event.Whole:
		h.takeWhole(e.Step, b)
	case event.Refused:
		if b.Knob == "analyse" || b.Knob == event.TypeGround {
			return false // not a knob
		}
		h.takeRefused(e, b)
	case event.Cancelled:
		h.takeCancelled(e, b)
	default:
		return false
	}
	return true
}

// takeMeasured takes numbers that curves show and that have no line.
func (h *History) takeMeasured(e event.Event, wall float64) bool {
	member := max(0, e.Member)
	measure := func(name CurveName, y float64) { h.measure(name, member, e.Step, wall, y) }
	switch b := e.Body.(type) {
	case event.Dormant:
		measure(CurveSokar, float64(b.Ratio))
		measure(CurveDrM, float64(b.RatioDrM))
		if member == 0 || len(h.Dormant) == 0 {
			h.Dormant = append(h.Dormant, dormancy{e.Step, float64(b.Ratio), float64(b.Tau)})
		}
		if d := &h.Dormant[len(h.Dormant)-1]; h.cohort {
			sokar, _ := h.Main(CurveSokar).Last()
			d.Sokar = sokar.Y
		}
	case event.OpenLoop:
		if member == 0 {
			h.OpenLoop = &b
			h.Touch(topic.Generations)
		}
		if last := len(b.Error) - 1; last >= 0 {
			measure(CurveForesightNear, float64(b.Error[0]))
			measure(CurveForesightFar, float64(b.Error[last]))
			measure(CurveForesightHeld, float64(b.Held[last]))
		}
	case event.Latents:
		measure(CurveDrift, float64(b.Drift))
		if b.Aligned != 0 { // 0 in a run without alignments, and directly after a refit
			measure(CurveAligned, float64(b.Aligned))
		}
		measure(CurveLatent, float64(b.Size))
	case event.Scores:
		h.scored(b.Relevance, e.Step, wall)
		h.Scores = &b
		for i, name := range []CurveName{CurveF10, CurveF50, CurveF90} {
			measure(name, quantile(b.Quantiles, i))
		}
		h.Touch(topic.Generations)
	case event.Losses:
		for name, v := range map[CurveName]*run.Float{CurveCritic: b.Critic, CurveActor: b.Actor, CurveAlpha: b.Alpha, CurveQMean: b.QMean, CurveCuriosity: b.Curiosity, CurveRND: b.RND, CurveBonus: b.Bonus, CurveEntropy: b.Entropy, CurveNoise: b.Noise} {
			measure(name, Optional(v))
		}
		if of := b.Explorer; of != nil {
			measure(CurveOtherCritic, Optional(of.Critic))
			measure(CurveOtherActor, Optional(of.Actor))
			measure(CurveOtherAlpha, float64(of.Alpha))
			measure(CurveOtherQ, Optional(of.QMean))
		}
		if v, is := b.Models["eco"]; is {
			measure(CurveReach, float64(v))
		}
		if of := b.World; of != nil {
			for name, v := range map[CurveName]*run.Float{CurveObservation: of.Observation, CurveEarned: of.Reward, CurveDivergence: of.Dynamics, CurveImagined: of.Imagined, CurveReplayed: of.Replayed} {
				measure(name, Optional(v))
			}
		}
		if of := b.Episodes; of != nil {
			measure(CurveAccuracy, Optional(of.Accuracy))
			measure(CurveP90, Optional(of.P90))
			measure(CurveEntries, Optional(of.Entries))
		}
		h.Touch(topic.Losses)
	case event.Episode:
		if of := b.Explored; of != nil {
			measure(CurveGoalsTrained, float64(of.Goals))
			measure(CurveCellsTrained, float64(of.Cells))
			measure(CurveMovedTrained, float64(of.Moved))
			measure(CurveSpotTrained, Optional(of.OnSpot))
		}
	case event.Perf:
		if b.StepS > 0 { // with updates: random steps are not counted
			measure(CurveSpeed, float64(b.StepsPerSec))
		}
	default:
		return false
	}
	return true
}

// eventText handles an event that has a line of its own; kind is "" if there is no line.
func (h *History) eventText(e event.Event, wall float64) (kind, text string, warning bool) {
	switch b := e.Body.(type) {
	case event.Evaluated:
		return "eval", h.takeEvaluated(e, wall, b), false
	case event.QBias:
		if text := h.takeQBias(e, wall, b); text != "" {
			return "Q", text, true
		}
		return "", "", false
	case event.Generated:
		return "D_syn", h.takeGenerated(e, wall, b), false
	case event.Refit:
		return "refit", h.takeRefit(e, wall, b), b.Rollouts != nil && b.Rollouts.Dropped > 0
	case event.Noted:
		h.Notes = append(h.Notes, note{e.Step, wall, b.Text})
		h.Touch(topic.Changes)
		return "note", b.Text, false
	case event.Refused:
		if b.Knob == event.TypeGround {
			return b.Knob, strings.TrimPrefix(b.Reason, "ground: "), b.Reason != event.LeftGround
		}
		return "look", b.Reason, true
	case event.Grounded:
		h.Grounds = append(h.Grounds, b)
		read := ground.Of(&b)
		return event.TypeGround, fmt.Sprintf("asked at %s: %s", format.Count(b.At), read.Says(format.Number)), read.Word == ground.Fall
	case *event.Examined:
		return "look", examinedText(b), false
	case event.Checkpointed:
		if b.Obs.Error == "" {
			h.Saved = b.Obs.Path
		}
	}
	return remark(e.Body)
}

// takeEvaluated keeps an evaluation.
func (h *History) takeEvaluated(e event.Event, wall float64, b event.Evaluated) string {
	v := Evaluation{Step: e.Step, Episodes: b.Episodes, wall: wall, Mean: float64(b.ReturnMean), Std: float64(b.ReturnStd)}
	h.measure(CurveReturn, max(0, e.Member), e.Step, wall, v.Mean)
	if of := b.Explored; of != nil {
		for name, y := range map[CurveName]run.Float{CurveGoals: of.Goals, CurveCells: of.Cells, CurveMoved: of.Moved} {
			h.measure(name, max(0, e.Member), e.Step, wall, float64(y))
		}
		h.measure(CurveSpot, max(0, e.Member), e.Step, wall, Optional(of.OnSpot))
	}
	return h.evaluated(v, h.cohort).text()
}

// remark is the line of an event without numbers to keep; "": no line.
func remark(body any) (kind, text string, warning bool) {
	switch b := body.(type) {
	case event.Start:
		seeds := fmt.Sprintf("seed %d", b.Seed)
		if b.Members > 1 {
			seeds = fmt.Sprintf("seeds %d-%d", b.Seed, b.Seed+uint64(b.Members)-1)
		}
		return "start", fmt.Sprintf("%s %s %s, %s, %s", b.Task, b.Method, b.Scale, seeds, b.Device), false
	case event.Data:
		return "data", b.Text(), false
	case event.Forked:
		return "fan", b.Text(), false
	case event.Looked:
		return "fan", fmt.Sprintf("look %d of %d: %s", b.Look, b.Looks, b.Verdict), false
	case event.Failed:
		return "failed", b.Error, true
	case event.Done:
		return "done", format.Count(b.Steps) + " steps", false
	case event.Checkpointed:
		if b.Obs.Error != "" {
			return "ckpt", b.Obs.Error, true
		}
		if b.Obs.Limited != "" {
			return "ckpt", b.Obs.Limited, true
		}
		return "ckpt", fmt.Sprintf("saved at %s: %s in %.1f s, training stood still %.2f s", positionText(b.Obs.Position),
			format.BytesText(float64(b.Obs.Bytes)), float64(b.Obs.Seconds), float64(b.Obs.StallS)), false
	case event.Diverged:
		return "diverged", b.Doing + ": " + b.Error, true
	case event.Device:
		return "device", b.Text, true
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

// examinedText is the summary of an analysis: pgrlab analyse has the rest, and pictures.
func examinedText(b *event.Examined) string {
	text := ""
	add := func(format string, args ...any) {
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf(format, args...)
	}
	if b.Real != nil && b.Synthetic != nil {
		add("%s, median %s real, %s D_syn", b.Relevance, format.Number(float64(b.Real.Median)), format.Number(float64(b.Synthetic.Median)))
	}
	if b.Mixed > 0 {
		add("D_syn mixed, %s of it new", format.Percent(b.Mixed))
	}
	if g := b.Generated; g != nil && g.Dynamics != nil {
		add("dynamics error %s", format.Number(float64(g.Dynamics.Relative)))
		if b.Gaussian != nil {
			text += ", a Gaussian " + format.Number(float64(b.Gaussian.Relative))
		}
	}
	if b.Projection != nil {
		add("guided and free overlap %s (80 to 90 if alike)", format.Percent(float64(b.Projection.Overlap)))
	}
	if text == "" {
		add("nothing is generated yet")
	}
	return text
}

// takeKnob confirms a change that this screen or another one requested.
func (h *History) takeKnob(e event.Event, b event.KnobChanged) {
	c := h.pending(b.Obs.Ref)
	if c == nil {
		c = &Change{AskedStep: -1}
		h.list(c, e)
	}
	for _, earlier := range h.Changes {
		if earlier.State == Applied && earlier.Knob == b.Knob && earlier.Overtaken == 0 {
			earlier.Overtaken = b.ID
		}
	}
	c.Number, c.Knob, c.Class = b.ID, b.Knob, b.Class
	c.From, c.To = b.From, b.To
	c.Now, c.Undoes, c.Why = b.Now, b.Obs.Undoes, b.Why()
	c.State, c.Position, c.AppliedStep, c.Wall = Applied, b.Position, b.Position.Step, e.Wall
	c.Scheduled, c.Refits = b.Obs.By == "schedule", len(h.Refits)
	if c.Knob == "utd" {
		h.Clock.ChangeUTD(c.AppliedStep, c.To.Number)
	}
	h.inOrder(c)
	h.Touch(topic.Changes)
}

func (h *History) takeInForce(step int, b event.InForce) {
	for _, c := range h.Changes {
		if c.Number == b.ID {
			for _, earlier := range h.Changes {
				earlier.Never = earlier.Never || earlier.Knob == c.Knob && earlier.Number < c.Number && earlier.Rolling()
			}
			c.State, c.ForceStep, c.Why, c.Overtaken, c.Share = InForce, step, "", 0, b.Share
			c.Updates = b.Obs.Updates
		}
	}
	h.Touch(topic.Changes)
}

func (h *History) takeWhole(step int, b event.Whole) {
	for _, c := range h.Changes {
		if c.Number == b.ID {
			c.WholeStep = step
		}
	}
	h.Touch(topic.Changes)
}

// Rolling says whether a part of D_syn was made with the change, and the rest is still to come.
func (c *Change) Rolling() bool {
	return c.State == InForce && c.Share > 0 && c.WholeStep == 0 && !c.Never
}

func (h *History) takeRefused(e event.Event, b event.Refused) {
	if c := h.pending(b.Ref); c != nil {
		c.State, c.Why = Refused, b.Reason
		h.Touch(topic.Changes)
		return
	}
	text := b.Reason // of what has no line of its own
	if what := strings.TrimSpace(b.Knob + " " + b.Value); what != "" && !strings.HasPrefix(text, b.Knob) {
		text = what + ": " + text
	}
	h.Add(EventLine{Wall: e.Wall, Step: e.Step, Kind: "refused", Text: text, Warning: true})
}

// takeCancelled says in the line of a planned change that it will not be made. Only the screen that
// planned it has one.
func (h *History) takeCancelled(e event.Event, b event.Cancelled) {
	c := h.pending(b.Ref)
	if b.OfConfiguration() {
		h.cancelled++
	}
	if c == nil {
		at := format.Count(b.At.Step)
		h.Add(EventLine{Wall: e.Wall, Step: e.Step, Kind: "knob", Text: strings.TrimSpace(fmt.Sprintf("%s %s for step %s: cancelled %s", b.Knob, b.Value, at, by(b.By)))})
		return
	}
	c.State, c.Why = Cancelled, by(b.By)
	h.Touch(topic.Changes)
}

// list adds a change to the list and gives it its line.
func (h *History) list(c *Change, e event.Event) {
	h.Changes = append(h.Changes, c)
	h.Add(EventLine{Wall: e.Wall, Step: e.Step, Kind: "knob", Change: c})
}

// pending is the change that was requested under ref and has no answer yet.
func (h *History) pending(ref string) *Change {
	if ref == "" {
		return nil
	}
	for i := len(h.Changes) - 1; i >= 0; i-- {
		if c := h.Changes[i]; c.Ref == ref && c.State == Asked {
			return c
		}
	}
	return nil
}

// Optional is a number of an event; NaN if it was not measured.
func Optional(f *run.Float) float64 {
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

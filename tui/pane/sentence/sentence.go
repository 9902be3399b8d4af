// Package sentence shows the loop that a run goes through, alive, and describes its state in a few
// sentences.
package sentence

import (
	"fmt"
	"math"
	"strings"

	"pgrlab/core/knob"
	"pgrlab/tui/format"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
	"pgrlab/tui/topic"
)

// Text says how the run is doing, for a person who sees the screen for the first time.
func (p *Pane) Text() string { return strings.Join(p.sentences(), " ") }

// sentences are what there is to say, the most important first: the return, what the method
// does, the last change, the policy's units.
func (p *Pane) sentences() []string {
	out := []string{p.result(), p.method()}
	if p.Dreams() {
		out = out[1:]
	}
	return append(out, p.changes()...)
}

// news are the sentences beside the loop, which says what the method does: the return, the last
// change, the policy's units.
func (p *Pane) news() []string {
	if p.Dreams() {
		return p.changes()
	}
	return append([]string{p.result()}, p.changes()...)
}

// changes are the last change and the policy's units.
func (p *Pane) changes() (out []string) {
	h := &p.History
	if c := h.LastApplied(); c != nil {
		out = append(out, fmt.Sprintf("Last change: %s from %s to %s, %s.", p.KnobTitle(c.Knob), pane.Readable(c.From), pane.Readable(c.To), p.Since(c)))
	}
	if n := len(h.Dormant); n > 0 {
		out = append(out, fmt.Sprintf("%s of the policy's hidden units are dormant.", format.Percent(h.Dormant[n-1].Sokar)))
	}
	return out
}

// result is the newest return, with its spread, and what became of it since the evaluation before.
func (p *Pane) result() string {
	h := &p.History
	after := fmt.Sprintf("After %s steps ", format.Count(p.Snap.Step))
	n := len(h.Evaluations)
	if n == 0 {
		return after + "the policy has not been evaluated yet."
	}
	e := h.Evaluations[n-1]
	mean, std := format.SpreadOf(e.Mean, e.Std)
	text := after + fmt.Sprintf("the return is %s ± %s over %s", mean, std, e.Of())
	if n == 1 {
		return text + "."
	}
	before := h.Evaluations[n-2]
	switch {
	case before.Mean > e.Mean:
		text += fmt.Sprintf(", down from %s at %s", format.Number(before.Mean), format.Count(before.Step))
	case before.Mean < e.Mean:
		text += fmt.Sprintf(", up from %s at %s", format.Number(before.Mean), format.Count(before.Step))
	default:
		text += ", as before"
	}
	return text + p.noise(n-1) + "."
}

// noise says whether the i-th evaluation is within what the run's evaluations vary by themselves.
func (p *Pane) noise(i int) string {
	h := &p.History
	if h.Members() > 1 {
		return ""
	}
	switch below := h.Below(i); {
	case math.IsNaN(below):
		return fmt.Sprintf(" (whether that is noise is unknown before %d evaluations)", history.NoiseFrom)
	case below >= history.FallMarked:
		return ": a fall that this run's noise does not explain"
	case below <= -history.FallMarked:
		return ": more than this run's noise explains"
	}
	return ": within this run's noise"
}

// first is what a phase of the first refit does.
var first = map[knob.Phase]string{
	knob.Score: "the real rows are being scored for the first time", knob.Fit: "the generator is being fitted for the first time",
	knob.Generate: "the first rows are being generated",
}

// methodName is the kind of method, by its name in the literature.
func (p *Pane) methodName() string {
	c := &p.About.Config
	switch {
	case !p.Generates():
		return c.Method
	case c.Explores():
		return "An explorer that acts, and an exploiter that is evaluated (MAX)"
	case c.Has()&knob.UseRollouts != 0:
		return "Rollouts in a learned model of the task (MBPO)"
	case c.Repeats():
		return "Repeated real rows"
	case c.Prompted() && p.Effective("relevance").Text != "none":
		return "Prioritized generative replay (PGR)"
	}
	return "Generative replay"
}

// method says what the run's method does with its data, in words of the screen.
func (p *Pane) method() string {
	c, s := &p.About.Config, p.Snap
	if !p.Generates() {
		return c.Method + " learns from real rows only: nothing is generated."
	}
	name, scores := p.methodName(), ""
	f := p.Effective("relevance").Text
	prompted := f != "none" && c.Prompted()
	if prompted {
		scores = fmt.Sprintf("F (%s) scores the real rows, ", f)
	}
	rolls := c.Has()&knob.UseRollouts != 0
	if c.Explores() {
		scores = fmt.Sprintf("the explorer learns F (%s) of generated rows, ", f)
		prompted = prompted && p.Effective("top_fraction").Number < 1
	}
	if s.Synthetic == 0 {
		text := name + ": " + scores + "nothing is generated yet"
		if p.Remaking() && !p.Ended() {
			text += ", " + first[p.Phase()]
		} else if next := p.NextRefit(); next > 0 {
			text += fmt.Sprintf(", the generator is fitted in %s steps", format.Count(next))
		}
		return text + "."
	}
	made := "the generator made " + format.Count(s.Synthetic) + " rows"
	switch {
	case rolls && prompted:
		made = fmt.Sprintf("%s rows are rollouts of the policy from states of high F", format.Count(s.Synthetic))
	case rolls && c.Explores():
		made = fmt.Sprintf("%s rows are rollouts of it from real states", format.Count(s.Synthetic))
	case rolls:
		made = fmt.Sprintf("%s rows are rollouts of the policy from real states", format.Count(s.Synthetic))
	case prompted:
		made += " of high F"
	}
	text := fmt.Sprintf("%s: %s%s%s", name, scores, made, p.relabelled())
	if all := s.MixReal + s.MixSynthetic; all > 0 {
		text += fmt.Sprintf(", and they are %s of what %s learns from", format.Percent(float64(s.MixSynthetic)/float64(all)), map[bool]string{false: "the agent", true: "the exploiter"}[c.Explores()])
	}
	return text + "."
}

// Pane is the loop of the run, and sentences about it.
type Pane struct {
	*pane.Run
	Pointed func() string // what the charts' cursor stands on; "": there is none
}

// New makes the pane of a run.
func New(r *pane.Run) *Pane { return &Pane{Run: r} }

// ID names the pane.
func (p *Pane) ID() pane.ID { return pane.Sentence }

// Tab is the name of the pane on the tab bar.
func (p *Pane) Tab() string { return string(pane.Sentence) }

// Title is the text in the border of the pane.
func (p *Pane) Title(w int) (title, note string) {
	title = "THE LOOP"
	return theme.Longest([]string{title, title + " of " + p.methodName()}, w-8), ""
}

// Keys are those that work while the pane is in focus.
func (p *Pane) Keys() []pane.Binding { return nil }

// DependsOn are the topics that the pane shows.
func (p *Pane) DependsOn() []topic.Topic {
	return []topic.Topic{topic.Snapshot, topic.Generations, topic.Charts}
}

// Poll asks the run for its newest transition, and for its twin, while the pane is shown.
func (p *Pane) Poll(visible bool) {
	if visible && !p.Dreams() {
		p.AskMoment()
	}
}

// Body is the loop, and below it the sentences that fit whole, wrapped.
func (p *Pane) Body(w, h int) []string {
	rows := p.loopRows(w, h)
	return append(p.loop(w, rows), p.words(w, h-rows)...)
}

// words are what the run does now, and then what there is to say about it.
func (p *Pane) words(w, h int) []string {
	all := append([]string{p.now()}, p.news()...)
	if p.Pointed != nil {
		if text := p.Pointed(); text != "" { // what is pointed at is spoken of
			all = []string{text}
		}
	}
	lines := theme.Wrap(p.Spelled(all[0]), w)
	for n := 2; n <= len(all); n++ {
		if more := theme.Wrap(p.Spelled(strings.Join(all[:n], " ")), w); len(more) <= h {
			lines = more
		}
	}
	var out []string
	for _, l := range lines {
		out = append(out, p.Theme.Bold.On(l))
	}
	return out
}

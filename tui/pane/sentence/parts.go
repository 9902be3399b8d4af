package sentence

import (
	"pgrlab/core/knob"
	"pgrlab/tui/format"
)

// Part is one part of the loop that a run goes through, and what it does.
type Part struct{ Name, Does string }

// The names of parts.
const (
	partReal      = "real"
	partF         = "F"
	partGenerator = "generator"
	partSynthetic = "synthetic"
	partBatch     = "batch"
)

// Parts are what the run's method consists of, in the order of its data.
func (p *Pane) Parts() []Part {
	c := &p.About.Config
	has := c.Has()
	real := Part{partReal, "each step of the agent is kept: state, action, reward, next"}
	if p.Dreams() {
		real.Does = "rows from a file: state, action, reward, next"
	}
	if !p.Generates() {
		return []Part{real, {partBatch, "what the agent learns from: real rows, nothing is generated"}}
	}
	made, asked := Part{partGenerator, "learns to make rows like these"}, []Part{}
	makes := "the rows it makes: they look real, and were never met"
	f := p.Effective("relevance").Text
	explores := c.Explores()
	switch {
	case explores:
		asked = []Part{{partF, f + " of a generated row, the reward of the agent that explores and acts"}}
	case f != "none" && c.Prompted():
		asked = []Part{{partF, "scores each row by " + f + ": is it worth learning from?"}}
	}
	switch {
	case c.Repeats():
		made.Does, makes = "repeats real rows: the control of a generator", "the rows it repeats"
	case has&knob.UseRollouts != 0:
		made.Does, makes = "learns what the task answers to an action", "what the policy would meet, by that model, from real states"
		if f != "none" && p.Effective("top_fraction").Number < 1 {
			makes += " of high F"
		}
	case has&knob.UsePrompts != 0 && f != "none":
		made.Does = "learns to make such rows, and is asked for a high F (ω)"
	}
	all := append(append([]Part{real}, asked...), made, Part{partSynthetic, makes + p.relabelled()})
	if p.Dreams() {
		return all
	}
	mix := p.Effective("ratio").Number
	learns := "what the agent learns from: "
	if explores {
		learns = "what the agent learns from that is evaluated: "
	}
	return append(all, Part{partBatch, learns + format.Percent(mix) + " synthetic, the rest real"})
}

// relabelled says whose actions and outcomes generated rows have, where those are not the generator's.
func (p *Pane) relabelled() (says string) {
	c := &p.About.Config
	if c.RollsOutPolicy() && c.Has()&knob.UseRollouts == 0 {
		says = ", with actions of the present policy"
	}
	switch {
	case c.TrueOutcomes():
		says += ", and with what the task itself answers"
	case c.Repeats() && c.Generator.Head.Enabled():
		says += ", and with what a regression predicts"
	}
	return says
}

package sentence

import (
	"fmt"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/format"
)

// asks is what a relevance function asks of a row, in words of everyday life.
var asks = map[string]string{
	"curiosity":    "how much it surprises a model that predicts what follows",
	"rnd":          "how new it is to a network that learns to recognise rows",
	"td":           "how wrong the critic still is about it",
	"reward":       "how much it was rewarded",
	"return":       "how much reward the critic expects from it on",
	"count":        "how seldom its place was visited",
	"disagreement": "how much several models of the task disagree about it",
	"ensemble":     "how much several models of the task disagree about it",
	"eco":          "how far it is from all that its episode remembers",
}

// now says what the run is doing, in words of a person who does not know its method.
func (p *Pane) now() string {
	s := p.Snap
	switch {
	case p.Ended():
		return "The run is over."
	case p.Paused() && !p.About.Replay:
		return "Paused. " + p.doing()
	case s.State == event.Ready:
		return "The run waits for a change, which makes the next generation."
	}
	return p.doing()
}

// doing says what a phase does.
func (p *Pane) doing() string {
	s, c := p.Snap, &p.About.Config
	switch p.Phase() {
	case knob.Model:
		return "F learns: it must know what is ordinary to tell what is not."
	case knob.Reach:
		return "F learns from whole episodes which places are near each other."
	case knob.Encode:
		return "What the agent's eye has learned since the last time is applied to all frames once more, so that a generator can learn from them."
	case knob.Rollout:
		return "The agent acts in a world that it imagines, or for a while without learning: what comes of it is learned from next."
	case knob.Learn:
		return "The agent learns from what it has just lived through, in many small updates."
	case knob.Score:
		return p.scoring()
	case knob.Fit:
		return p.fitting()
	case knob.Generate:
		return p.generating()
	case knob.Evaluate:
		return fmt.Sprintf("The agent is examined: %s without learning. Their mean is the next point of the curve.", format.Counted(c.Evaluation.Episodes, "episode", "episodes"))
	case knob.Analyse:
		return "The run looks at itself: how true are the rows that were dreamt, and how relevant?"
	}
	return p.collecting(s)
}

// collecting is what the run does most of the time.
func (p *Pane) collecting(s *event.Snapshot) string {
	c := &p.About.Config
	switch all := s.MixReal + s.MixSynthetic; {
	case p.Dreams():
		return "The run begins with the rows of its data."
	case s.Real <= c.StartSteps && s.Updates == 0:
		return "The agent tries actions at random. Each step is kept as a real row: where it was, what it did, what that brought, and where it came to."
	case s.MixSynthetic > 0 && c.Repeats():
		return fmt.Sprintf("The agent acts and learns: of the %s rows of a batch it lived through %s, and %s are real rows once more%s.", format.Count(all), format.Count(s.MixReal), format.Count(s.MixSynthetic), p.relabelled())
	case s.Synthetic > 0 && s.MixSynthetic > 0:
		return fmt.Sprintf("The agent acts and learns: of the %s rows of a batch it lived through %s, and a generator dreamt %s.", format.Count(all), format.Count(s.MixReal), format.Count(s.MixSynthetic))
	case s.Synthetic > 0:
		return "The agent acts and learns, from rows that it lived through and from rows that a generator dreamt."
	case p.Generates() && p.NextRefit() > 0:
		return fmt.Sprintf("The agent acts, keeps each step as a real row, and learns from these rows again and again. In %s steps a generator learns to dream more of them.", format.Count(p.NextRefit()))
	}
	return "The agent acts, keeps each step as a real row, and learns from these rows again and again."
}

// scoring is what F does before a fit.
func (p *Pane) scoring() string {
	f := p.Effective("relevance").Text
	if p.Snap.Warming {
		return "F learns from the real rows, before it is asked about them."
	}
	text := fmt.Sprintf("F looks at each of the %s real rows", format.Count(p.Snap.Real))
	if question, known := asks[f]; known {
		text += " and asks " + question
	}
	if k := p.Effective("top_fraction").Number; p.About.Config.Prompted() && k < 1 {
		return text + fmt.Sprintf(". What scores among the highest %s is what the generator is asked for.", format.Percent(k))
	}
	return text + "."
}

// fitting is what the generator does in a fit.
func (p *Pane) fitting() string {
	if p.About.Config.Has()&knob.UseRollouts != 0 {
		return "Several networks learn from the real rows what the task answers to an action, so that actions can be tried without the task."
	}
	if p.About.Config.Repeats() {
		return "A regression learns from the real rows what the task answers to an action."
	}
	text := "The generator learns what real rows look like: rows are buried in noise, and it learns to find them again."
	if !p.Dreams() {
		text += " The agent waits."
	}
	return text
}

// generating is what the generator does after a fit.
func (p *Pane) generating() string {
	n := format.Count(int(p.Effective("samples").Number))
	c := &p.About.Config
	switch {
	case c.Repeats() && p.relabelled() != "":
		return fmt.Sprintf("%s real rows are copied into the place of dreamt ones%s.", n, p.relabelled())
	case c.Repeats():
		return fmt.Sprintf("%s real rows are copied into the place of dreamt ones: what helps as much as dreams without dreaming?", n)
	case c.Has()&knob.UseRollouts != 0:
		return fmt.Sprintf("The policy acts in the learned model: %s rows of what would come of it.", n)
	case c.Prompted() && p.Effective("relevance").Text != "none":
		return fmt.Sprintf("The generator begins with pure noise and ends with %s rows that never happened, each drawn with strength ω = %s towards a high F.", n, p.Effective("guidance"))
	}
	return fmt.Sprintf("The generator begins with pure noise and ends with %s rows that never happened.", n)
}

package replica

import (
	"pgrlab/core/agent"
	"pgrlab/core/experience"
	"pgrlab/core/rng"
)

// Observed is what a replica has observed, if its learner reads that or sees frames.
type Observed struct {
	of  *Replica
	log *experience.Log // nil: nothing reads it
}

// frames are those that batches are drawn from, with random numbers below s.
func (o *Observed) frames(s rng.Stream) experience.Frames {
	return experience.Frames{Log: o.log, Looks: o.of.Config.FrameCapacity(o.of.Task), Stream: s.Sub("frames")}
}

// begin makes the log, if something reads it.
func (o *Observed) begin() {
	keep := o.of.Config.Keeps(o.of.Task)
	if keep == (experience.Keep{}) {
		return
	}
	env := o.of.envs[0].env
	s := experience.Shape{Numbers: env.ObsSize(), Act: env.ActSize(), Copies: len(o.of.envs)}
	if p := o.of.Config.Pixels; o.of.Config.Sees() {
		s.Numbers, s.Bytes = 0, p.Side*p.Side*agent.Colours
	}
	o.log = experience.NewLog(s, keep)
}

// look is what copy i shows: its part of obs, or its frame after the env step.
func (o *Observed) look(obs []float32, i int) experience.Look {
	if o.of.sight != nil {
		return experience.Look{Frame: o.of.sight.nextOf(i)}
	}
	return experience.Look{Numbers: o.of.row(obs, i)}
}

// keep adds the env step to the log.
func (o *Observed) keep() {
	if o.log == nil {
		return
	}
	for i, end := range o.of.ends {
		o.log.Add(i, experience.Step{
			Action: o.of.row(o.of.Action, i), Reward: o.of.rewards[i], Next: o.look(o.of.next, i), End: end, Respawned: o.of.respawned[i], F: o.of.Rounds.judged[i],
		})
	}
}

// read says whether the learner takes the rewards of each env step, from the log or as it is made.
func (o *Observed) read() bool {
	_, observes := o.of.Agent.(agent.Observer)
	return observes || o.log != nil && o.log.Kept().Steps > 0
}

// sections lists the parts of the log. What is loaded after them refers to it.
func (o *Observed) sections() []Section {
	if o.log == nil {
		return nil
	}
	parts := []Section{{SectionLooks, o.log}}
	if o.of.sight != nil {
		parts[0].Name = SectionFrames
	}
	if o.log.Kept().Steps > 0 {
		parts = append(parts, Section{SectionPinned, experience.Pinned{Log: o.log}})
	}
	return parts
}

// Loaded says that all sections were loaded. It is an error if they contradict each other.
func (o *Observed) Loaded() error {
	if o.log == nil {
		return nil
	}
	return o.log.Loaded()
}

// Unfilled is about how many bytes of observed numbers a checkpoint at the end of the run has in
// addition to those of now. Frames are in a log of their own.
func (o *Observed) Unfilled() int64 {
	if o.log == nil || o.of.sight != nil {
		return 0
	}
	looks := min(o.log.Kept().Looks, o.of.Config.FramesSeen(o.of.Task)) - o.log.Len()
	return max(0, int64(looks)) * int64(o.log.RowBytes())
}

package replica

import (
	"slices"

	"pgrlab/core/experience"
	"pgrlab/core/rng"
)

// Observed is what a replica has observed, if its learner reads that or sees frames.
type Observed struct {
	of     *Replica
	log    *experience.Log // nil: nothing reads it
	course course
}

// frames are those that batches are drawn from, with random numbers below s.
func (o *Observed) frames(s rng.Stream) experience.Frames {
	return experience.Frames{Log: o.log, Looks: o.of.Config.FrameCapacity(o.of.Task), Stream: s.Sub("frames")}
}

// begin makes the log, if something reads it.
func (o *Observed) begin() {
	keep := o.of.Parts.Keep
	if keep == (experience.Keep{}) {
		return
	}
	from := o.of.World
	s := experience.Shape{Numbers: from.ObsSize(), Act: from.ActSize(), Copies: from.Copies}
	if o.of.Config.Sees() {
		s.Numbers, s.Bytes = 0, from.FrameSize()
	}
	o.log = experience.NewLog(s, keep)
}

// hold makes the log hold what a relevance function of that name reads.
func (o *Observed) hold(name string) {
	if o.log != nil {
		o.log.Keep(o.of.Config.Keeps(o.of.Task, name))
	}
}

// add adds the env step to the log.
func (o *Observed) add() {
	if o.log == nil {
		return
	}
	from := o.of.World
	for i, end := range from.Ends {
		o.log.Add(i, experience.Step{
			Action: from.Row(from.Action, i), Reward: from.Rewards[i], Next: from.Look(from.Next, i), End: end, Respawned: from.Respawned[i], F: o.of.Rounds.judged[i],
		})
	}
}

// read says whether the learner takes the rewards of each env step from the log.
func (o *Observed) read() bool { return o.of.Parts.Keep.Steps > 0 }

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

// Pinned returns what is only pinned in the log; false: there is no such section.
func (o *Observed) Pinned() (looks experience.PinnedLooks, has bool) {
	if o.log == nil || o.log.Kept().Steps == 0 {
		return looks, false
	}
	return experience.Pinned{Log: o.log}.Now(), true
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

// Looks returns copies of the frames for which the first copy chooses its next action, the
// newest last, and their side. There are none if the learner sees no frames, or before it has
// acted.
func (o *Observed) Looks() (stack [][]byte, side int) {
	r := o.of
	if r.sight == nil || r.Stepped == 0 {
		return nil, 0
	}
	stack = make([][]byte, r.sight.stack)
	o.log.Newest(0, stack)
	for i := range stack {
		stack[i] = slices.Clone(stack[i])
	}
	return stack, r.sight.side
}

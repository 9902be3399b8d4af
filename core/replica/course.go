package replica

import (
	"pgrlab/core/event"
	"pgrlab/core/experience"
)

// courseSteps is the most env steps that a course covers.
const courseSteps = 256

// course holds the bonus, or the F, of the first copy's newest env steps, for display. It is not
// saved: it begins again when a run goes on.
type course struct {
	values [courseSteps]float32
	ended  [courseSteps]bool // whether the episode ended with that step
	n      int               // env steps so far
}

// add takes an env step.
func (c *course) add(value float32, end experience.End) {
	c.values[c.n%courseSteps], c.ended[c.n%courseSteps] = value, end != experience.Continues
	c.n++
}

// follow adds the first copy's env step: the bonus in the reward that the learner observes, or F
// if relevance is given every env step.
func (o *Observed) follow(observed []float32) {
	c, r := &o.course, o.of
	switch {
	case r.Config.Bonus.Given():
		c.add(observed[0]-r.World.Rewards[0], r.World.Ends[0])
	case r.Rounds.f != nil:
		c.add(r.Rounds.f[0], r.World.Ends[0])
	}
}

// Course returns the bonus, or the F, of the first copy's newest env steps; nil if there is
// none, or none yet since the run began or went on.
func (o *Observed) Course() *event.Course {
	c, r := &o.course, o.of
	if c.n == 0 {
		return nil
	}
	out := &event.Course{Of: event.CourseOfF, Step: r.Stepped, Every: r.World.Copies}
	if r.Config.Bonus.Given() {
		out.Of = event.CourseOfBonus
	}
	for i := max(0, c.n-courseSteps); i < c.n; i++ {
		out.Values = append(out.Values, float64(c.values[i%courseSteps]))
		out.Ended = append(out.Ended, c.ended[i%courseSteps])
	}
	return out
}

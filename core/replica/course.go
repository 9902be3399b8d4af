package replica

import (
	"pgrlab/core/agent"
	"pgrlab/core/event"
)

// courseSteps is of how many env steps a course is, the most.
const courseSteps = 256

// course is what the first copy was told with its newest env steps, a bonus or an F, for whoever
// looks. It is not saved: it begins anew where a run goes on.
type course struct {
	values [courseSteps]float32
	ended  [courseSteps]bool // the episode, with that step
	n      int               // env steps
}

// add takes those of an env step.
func (c *course) add(told float32, end agent.End) {
	c.values[c.n%courseSteps], c.ended[c.n%courseSteps] = told, end != agent.Continues
	c.n++
}

// follow adds what the env step told its first copy: the bonus on the rewards that the learner
// observes, or F where relevance is told of every env step.
func (c *course) follow(r *Replica, observed []float32) {
	switch {
	case r.Config.Bonus.Given():
		c.add(observed[0]-r.rewards[0], r.ends[0])
	case r.Rounds.f != nil:
		c.add(r.Rounds.f[0], r.ends[0])
	}
}

// Course is what the first copy was told with its newest env steps; nil where it is told nothing,
// or was not since the run began or went on.
func Course(r *Replica) *event.Course {
	c := &r.course
	if c.n == 0 {
		return nil
	}
	out := &event.Course{Of: event.CourseOfF, Step: r.Stepped}
	if r.Config.Bonus.Given() {
		out.Of = event.CourseOfBonus
	}
	for i := max(0, c.n-courseSteps); i < c.n; i++ {
		out.Told = append(out.Told, float64(c.values[i%courseSteps]))
		out.Ended = append(out.Ended, c.ended[i%courseSteps])
	}
	return out
}

package history

import "sort"

// Clock converts env steps into critic updates and seconds. Updates follow from the learner's pace,
// the UTD and its changes, seconds from the times of the events.
type Clock struct {
	Before  int     // updates before the first env step
	From    int     // number of first env steps, which have no updates
	UTD     float64 // updates of each env step that has some, at the start
	Every   int     // only multiples of it have updates; 0: as 1
	changes []utdChange
	Walls   Curve // seconds at steps
}

// utdChange is a UTD that applies to the env steps after step.
type utdChange struct {
	step int
	utd  float64
}

// Updates is the number of critic updates after an env step.
func (c *Clock) Updates(step int) float64 {
	at, utd, sum, every := c.From, c.UTD, float64(c.Before), max(1, c.Every)
	if step <= 0 {
		return 0
	}
	for _, u := range c.changes {
		if to := min(u.step, step); to > at {
			sum += utd * float64(to/every-at/every)
			at = to
		}
		utd = u.utd
	}
	return sum + utd*float64(max(at, step)/every-at/every)
}

// Seconds is approximately when a step was made.
func (c *Clock) Seconds(step int) float64 {
	before, ok := c.Walls.At(step)
	if !ok {
		return 0
	}
	i := sort.Search(len(c.Walls.Samples), func(i int) bool { return c.Walls.Samples[i].Step > step })
	if i == len(c.Walls.Samples) {
		return before.Wall
	}
	after := c.Walls.Samples[i]
	part := float64(step-before.Step) / float64(max(1, after.Step-before.Step))
	return before.Wall + part*(after.Wall-before.Wall)
}

// tick notes that a step had been made by a time.
func (c *Clock) tick(step int, wall float64) {
	if last, ok := c.Walls.Last(); ok && last.Step >= step {
		return
	}
	c.Walls.Add(Sample{Step: step, Wall: wall, Y: wall})
}

// ChangeUTD sets the number of critic updates per step for the env steps after step.
func (c *Clock) ChangeUTD(step int, utd float64) {
	c.changes = append(c.changes, utdChange{step, utd})
}

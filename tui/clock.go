package tui

// clock turns env steps into critic updates and seconds. Updates follow from the
// UTD and its changes, seconds from the events' times.
type clock struct {
	from    int     // env steps without updates
	utd     float64 // at the start
	changes []utdChange
	walls   curve // seconds at steps
}

// utdChange is a UTD that counts from the env step behind step on.
type utdChange struct {
	step int
	utd  float64
}

// updates is the number of critic updates after an env step.
func (c *clock) updates(step int) float64 {
	at, utd, sum := c.from, c.utd, 0.0
	for _, u := range c.changes {
		if to := min(u.step, step); to > at {
			sum += utd * float64(to-at)
			at = to
		}
		utd = u.utd
	}
	return sum + utd*float64(max(0, step-at))
}

// seconds is about when a step was made.
func (c *clock) seconds(step int) float64 {
	before, ok := c.walls.at(step)
	if !ok {
		return 0
	}
	i := 0
	for i < len(c.walls.samples) && c.walls.samples[i].step <= step {
		i++
	}
	if i == len(c.walls.samples) {
		return before.wall
	}
	after := c.walls.samples[i]
	part := float64(step-before.step) / float64(max(1, after.step-before.step))
	return before.wall + part*(after.wall-before.wall)
}

// tick notes that a step was made by a time.
func (c *clock) tick(step int, wall float64) {
	if last, ok := c.walls.last(); ok && last.step >= step {
		return
	}
	c.walls.add(sample{step: step, wall: wall, y: wall})
}

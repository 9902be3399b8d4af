package picker

import (
	"fmt"

	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/tui/format"
)

// work says how many steps a run makes, and what it learns from in them.
func work(c *config.Config) string {
	text := format.Count(c.Steps) + " env steps"
	if copies := c.Environment.InLockstep(); copies > 1 { // the steps are those of all copies
		text = fmt.Sprintf("%s steps, %s in each of %d copies", format.Count(c.Steps), format.Count(c.EnvSteps(c.Steps)), copies)
	}
	switch repeat := c.Frames(1); {
	case c.Sees() && repeat > 1:
		text += fmt.Sprintf(" of %d frames, %s in all, at %d×%d", repeat, format.Count(c.Frames(c.Steps)), c.Pixels.Side, c.Pixels.Side)
	case c.Sees():
		text += fmt.Sprintf(", frames of %d×%d", c.Pixels.Side, c.Pixels.Side)
	default:
		text += ", " + pace(c)
	}
	if k, err := knob.Find("batch"); err == nil && c.Uses(k) == nil {
		text += ", batch " + format.Count(c.Knobs.Batch)
	}
	return text
}

// pace says how often a run makes updates.
func pace(c *config.Config) string {
	p := c.Pace()
	updates := format.Count(p.Updates) + " updates"
	if p.Updates == 1 {
		updates = "1 update"
	}
	if every := p.Every * c.Environment.InLockstep(); every > 1 {
		return updates + " every " + format.Count(every) + " steps"
	}
	return updates + " a step"
}

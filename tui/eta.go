package tui

import (
	"fmt"
	"math"
	"time"

	"pgrlab/tui/format"
)

// countdown is the time at which the run will end, from estimates that jump: a refit or an
// evaluation shifts the mean costs after them. The time shown follows the estimates slowly, so
// that it counts down.
type countdown struct {
	end, at time.Time // at: time of the newest estimate
	began   time.Time // time of the first estimate
	waits   bool      // the run waited at the newest estimate
}

// etaLag is the time in which the end shown follows about two thirds of a lasting change of the
// estimates. At first, when the estimates rest on a few env steps, the first of them slow, the lag
// is half of the time since the first estimate.
const etaLag = 45 * time.Second

// take takes an estimate of the remaining time, 0: unknown, of a run that waits, or goes on. As long as it
// waits, the end moves away.
func (c *countdown) take(now time.Time, left time.Duration, waits bool) {
	if left <= 0 {
		*c = countdown{}
		return
	}
	end := now.Add(left)
	if c.at.IsZero() {
		c.end, c.at, c.began, c.waits = end, now, now, waits
		return
	}
	passed := now.Sub(c.at)
	if passed <= 0 {
		return
	}
	waited := c.waits
	c.at, c.waits = now, waits
	if waited {
		c.end, c.began = c.end.Add(passed), c.began.Add(passed)
		return
	}
	lag := max(passed, min(etaLag, now.Sub(c.began)/2)).Seconds()
	c.end = c.end.Add(time.Duration((1 - math.Exp(-passed.Seconds()/lag)) * float64(end.Sub(c.end))))
}

// text is the remaining time, with as many digits as an estimate deserves; "": unknown.
func (c *countdown) text() string {
	if c.at.IsZero() {
		return ""
	}
	left := max(time.Second, c.end.Sub(c.at))
	switch {
	case left >= 10*time.Hour:
		return fmt.Sprintf("%.0fh", left.Hours())
	case left >= time.Hour:
		return format.Duration(left.Round(5 * time.Minute))
	case left >= 10*time.Minute:
		return fmt.Sprintf("%.0fm", left.Minutes())
	case left >= time.Minute:
		return format.Duration(left.Round(10 * time.Second))
	default:
		return format.Duration(left)
	}
}

package runs

import (
	"fmt"
	"time"

	"pgrlab/core/event"
	"pgrlab/tui/format"
	"pgrlab/tui/pane"
)

// forkCost is what env steps of the run have taken so far, with their refits and evaluations.
type forkCost struct{ seconds, steps float64 }

// take adds what a perf line measured.
func (c *forkCost) take(p event.Perf) {
	s := p.Spent
	all := float64(s.Act + s.Agent + s.Models + s.Score + s.Fit + s.Generate + s.Evaluate + s.Analyse)
	if steps := all * float64(p.StepsPerSec); all > 0 && steps > 0 {
		c.seconds, c.steps = c.seconds+all, c.steps+steps
	}
}

// childStart is about how long the process of a child takes to begin training.
const childStart = time.Second

// childTime is about how long a child of so many env steps takes on a core of its own; all says whether
// that includes evaluations.
func (p *Pane) childTime(steps, threads int) (d time.Duration, all bool) {
	if c := p.cost; c.steps > 0 {
		d, all = time.Duration(float64(steps)*c.seconds/c.steps*float64(time.Second)), true
	} else {
		d = time.Duration(steps) * p.Snap.StepTime
		if every := p.Effective("refit_every").Number; every >= 1 {
			d += time.Duration(float64(steps)/every) * p.Snap.CostRefit
		}
	}
	return childStart + d*time.Duration(threads+1)/2, all // two threads are one and a half times as quick as one
}

// pace is how quickly children train.
func (p *Pane) pace() pane.ForkPace {
	if p.About.Pace == nil {
		return pane.ForkPace{AtATime: 1, Paused: 1, Beside: 1, Threads: 1}
	}
	return p.About.Pace()
}

// costOf says what children cost.
func (p *Pane) costOf(plan pane.ForkPlan) string {
	pace := p.pace()
	turns := "one child after another"
	if pace.AtATime > 1 {
		turns = fmt.Sprintf("%d at a time", pace.AtATime)
	}
	text := fmt.Sprintf("%s env steps a child, %s, with low priority beside this run", format.Count(plan.Steps), turns)
	one, all := p.childTime(plan.Steps, pace.Threads)
	switch {
	case p.cost.steps == 0 && p.Snap.StepTime == 0:
		return text + "."
	case pace.OnGPU:
		one, all = p.childTime(plan.Steps, 1)
		text += fmt.Sprintf(", whose GPU they share: 4 and 4 take %s or more", format.Duration(8*one))
	default:
		four := func(cores float64) string {
			return format.Duration(time.Duration(float64(8*one) / max(cores, 0.01)))
		}
		text += fmt.Sprintf(": 4 and 4 take about %s", four(pace.Beside))
		if !p.Ended() && pace.Beside < pace.Paused {
			text += fmt.Sprintf(", or %s while it is paused (space)", four(pace.Paused))
		}
	}
	if !all {
		text += ", evaluations not counted"
	}
	return text + "."
}

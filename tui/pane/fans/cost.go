package fans

import (
	"fmt"
	"slices"
	"time"

	"pgrlab/core/cost"
	"pgrlab/tui/format"
	"pgrlab/tui/pane"
)

// childTime is about how long a child of a plan takes on a core of its own, by what units of this run
// have taken; 0: unknown. sure says whether it is known how much of that is work of one core.
func (p *Pane) childTime(plan pane.ForkPlan, pace pane.ForkPace) (one time.Duration, sure bool) {
	c, from := p.About.Config, 0
	if !plan.Confirm {
		from = p.Snap.Step
	}
	if plan.At > 0 {
		from = plan.At
	}
	c.Steps, c.Evaluation.Every = from+plan.Steps, plan.Every
	for name, v := range p.Snap.Knobs {
		_ = c.Knobs.Set(name, v.String()) // the value comes from the same table
	}
	m := p.measured.Model(&c)
	one, sure = m.Rest(&c, &c.Knobs, from), pace.OnGPU || pace.Threads == 1
	if m.Step == 0 && p.Snap.Step < p.Snap.Steps { // before the first line perf
		one = time.Duration(float64(p.Snap.ETA) * float64(plan.Steps) / float64(p.Snap.Steps-p.Snap.Step))
	}
	if m.Cores > 0 && !pace.OnGPU {
		one, sure = time.Duration(float64(one)*m.Cores), true
	}
	if one > 0 {
		one += pace.Start
	}
	return one, sure
}

// pace is how quickly children train.
func (p *Pane) pace() pane.ForkPace {
	if p.About.Pace == nil {
		return pane.ForkPace{AtATime: 1, Paused: 1, Beside: 1, Threads: 1}
	}
	return p.About.Pace()
}

// timeOf is about how long that many forks of a plan take; 0: unknown.
func (p *Pane) timeOf(plan pane.ForkPlan, forks int) time.Duration {
	pace := p.pace()
	one, _ := p.childTime(plan, pace)
	cores := pace.Beside
	switch {
	case one == 0:
		return 0
	case pace.OnGPU:
		cores = 1
	case plan.Hold || p.Ended() || p.Paused():
		cores = pace.Paused
	}
	return cost.Together(cores, slices.Repeat([]time.Duration{one}, forks)...)
}

// costOf says what forks cost.
func (p *Pane) costOf(plan pane.ForkPlan) string {
	pace := p.pace()
	turns := "one after another"
	if pace.AtATime > 1 {
		turns = fmt.Sprintf("%d at a time in turns", pace.AtATime)
	}
	text := fmt.Sprintf("%s env steps a fork with an evaluation every %s, %s.", format.Count(plan.Steps), format.Count(plan.Every), turns)
	other := plan
	other.Hold = !plan.Hold
	switch twelve := p.timeOf(other, 12); {
	case !p.waits(plan):
	case pace.OnGPU:
		text += " They share this run's GPU, and may take longer than these numbers."
	case plan.Hold && twelve > 0:
		text += fmt.Sprintf(" This run waits for them; beside it 6 and 6 would take %s.", format.Duration(twelve))
	case plan.Hold:
		text += " This run waits for them."
	case twelve > 0 && pace.Beside < pace.Paused:
		text += fmt.Sprintf(" They give way to this run; if it waits 6 and 6 take %s.", format.Duration(twelve))
	default:
		text += " They give way to this run."
	}
	if one, sure := p.childTime(plan, pace); one > 0 && !sure {
		text += " It may take more if one thread is slower than this run's."
	}
	return text
}

package runs

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
	c.Steps = from + plan.Steps
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

// costOf says what children cost.
func (p *Pane) costOf(plan pane.ForkPlan) string {
	pace := p.pace()
	turns := "one child after another"
	if pace.AtATime > 1 {
		turns = fmt.Sprintf("%d at a time", pace.AtATime)
	}
	text := fmt.Sprintf("%s env steps a child, %s, with low priority beside this run", format.Count(plan.Steps), turns)
	one, sure := p.childTime(plan, pace)
	eight := func(cores float64) string {
		return format.Duration(cost.Together(cores, slices.Repeat([]time.Duration{one}, 8)...))
	}
	switch {
	case one == 0:
		return text + "."
	case pace.OnGPU:
		return text + fmt.Sprintf(", whose GPU they share: 4 and 4 take %s or more.", eight(1))
	}
	text += fmt.Sprintf(": 4 and 4 take about %s", eight(pace.Beside))
	if !p.Ended() && pace.Beside < pace.Paused {
		text += fmt.Sprintf(", or %s while it is paused (space)", eight(pace.Paused))
	}
	if !sure {
		text += "; more if one thread is slower than this run's"
	}
	return text + "."
}

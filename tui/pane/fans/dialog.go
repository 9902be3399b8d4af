package fans

import (
	"fmt"
	"math"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/fan"
	"pgrlab/tui/format"
	"pgrlab/tui/pane"
)

// fanSizes are the numbers of forks of either kind that the dialog offers, by key. One of each gives
// two curves to look at.
var fanSizes = []struct {
	key  string
	each int
}{{"4", fan.LeastForks}, {"6", 6}, {"8", 8}, {"t", 12}, {"1", 1}}

// askFan asks how many forks to make, and says what they cost and see.
func (p *Pane) askFan(title string, plan pane.ForkPlan, about string) tea.Cmd {
	if err := p.possible(); err != nil {
		p.Tell(err.Error())
		return nil
	}
	plan = p.completed(plan)
	if _, err := p.About.Config.Longer(p.About.Config.Steps + 1); err != nil && !plan.Confirm {
		about += " What follows the length of a run here (replay's β, PPO's rates) follows the fork's own, so no fork goes on as this run would."
	}
	d := &pane.Dialog{Title: title, Lines: []string{about, p.costOf(plan), p.seesOf(plan)}}
	for _, n := range fanSizes {
		d.Choices = append(d.Choices, pane.Choice{Key: n.key, Label: p.choiceOf(plan, n.each), Action: func() tea.Cmd {
			plan.Each = n.each
			return p.fork(forkGroup{ForkPlan: plan})
		}})
	}
	if p.waits(plan) {
		label := "hold this run until they are done: they then have all cores"
		if plan.Hold {
			label = "let this run train on beside them"
		}
		d.Choices = append(d.Choices, pane.Choice{Key: "h", Label: label, Action: func() tea.Cmd {
			next := plan
			next.Hold = !plan.Hold
			return p.askFan(title, next, about)
		}})
	}
	if !plan.Confirm {
		d.Choices = append(d.Choices, pane.Choice{Key: "s", Label: "another number of steps", Action: func() tea.Cmd { return p.askForkSteps(title, plan, about) }})
	}
	d.Choices = append(d.Choices, pane.Choice{Key: "esc", Label: "do not fork", Action: nil})
	p.Question(d)
	return nil
}

// possible says why no forks can be made at this screen; nil: they can.
func (p *Pane) possible() error {
	if err := p.fixed(); err != nil {
		return err
	}
	switch {
	case p.Watching():
		return p.ErrNotDriving()
	case p.About.Fork == nil:
		return fmt.Errorf("forks are made where the run trains: %s", p.command())
	case p.Snap == nil || p.Lab == nil:
		return fmt.Errorf("fork: the run has not begun: wait for its first steps")
	}
	return nil
}

// forkEvaluations is how many evaluations a fork makes unless the person says otherwise.
const forkEvaluations = 10

// completed fills in what a plan does not say: the cadence of evaluations, the number of steps, and
// whether this run waits.
func (p *Pane) completed(plan pane.ForkPlan) pane.ForkPlan {
	every := max(1, p.About.Config.Evaluation.Every)
	if plan.Confirm {
		plan.Every, plan.Steps = every, p.Snap.Steps
		return plan
	}
	if plan.Every == 0 {
		plan.Every = max(1, every/p.denser())
		pace := p.pace()
		plan.Hold = p.waits(plan) && 2*pace.Beside < pace.Paused
	}
	if plan.Steps == 0 {
		plan.Steps = forkEvaluations * plan.Every
	}
	return plan
}

// denser is how many evaluations a fork makes for one of its run: fewer where they would take more
// than a fifth of the time.
func (p *Pane) denser() int {
	m := p.measured.Model(&p.About.Config)
	if m.Step == 0 || m.Evaluation == 0 {
		return fan.Denser
	}
	every := float64(max(1, p.About.Config.Evaluation.Every))
	n := fan.Denser
	for n > 1 && 4*m.Evaluation*float64(n) > every*m.Step {
		n /= 2
	}
	return n
}

// waits says whether this run could wait for forks.
func (p *Pane) waits(plan pane.ForkPlan) bool { return !p.Ended() && !p.Paused() && !plan.Confirm }

// choiceOf is a number of forks in words, with what they take and see.
func (p *Pane) choiceOf(plan pane.ForkPlan, each int) string {
	text := fmt.Sprintf("%d with, %d without", each, each)
	if d := p.timeOf(plan, 2*each); d > 0 {
		text += ", about " + format.Duration(d)
	}
	switch sees := p.expects(plan, each); {
	case each < fan.LeastForks:
		text += ": two curves to look at, no verdict"
	case !math.IsNaN(sees):
		text += fmt.Sprintf(": sees %s or more", format.Signed(sees))
	}
	return text
}

// expects is the difference that four fans of five of that size would see, by this run's own noise; NaN
// if that is unknown. Evaluations of one fork are about as much apart as those of this run; half of
// that is what forks differ by over their whole length. Both halves are a guess, until a fan is done.
func (p *Pane) expects(plan pane.ForkPlan, each int) float64 {
	n, ok := p.History.Noise(p.Snap.Step)
	if !ok || plan.Confirm {
		return math.NaN()
	}
	evaluations := float64(max(1, plan.Steps/max(1, plan.Every)))
	return fan.Sees(2*each, n.Flicker*math.Sqrt(1/evaluations+0.25))
}

// seesOf says where the numbers of the choices come from.
func (p *Pane) seesOf(plan pane.ForkPlan) string {
	if math.IsNaN(p.expects(plan, fan.LeastForks)) {
		return "A verdict takes 4 forks of either kind. Four times in five those see a difference of 3 of their standard deviations, 6 of either kind one of 2.1, 8 one of 1.7."
	}
	return "A verdict takes 4 forks of either kind. What they see, four times in five, is a guess by the noise of this run's own evaluations."
}

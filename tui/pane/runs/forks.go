package runs

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/format"
	"pgrlab/tui/pane"
)

// forkGroup are the children of one plan.
type forkGroup struct {
	pane.ForkPlan
	title    string
	asked    int // the env step at which the fork was requested
	Children []ChildRun
}

// Forked delivers the children of a plan, or the reason why there are none.
type Forked struct {
	group forkGroup
	err   error
}

// forkEvaluations is how many evaluations a child lives to see.
const forkEvaluations = 5

// OpenFork asks for the number of pairs with and without the staged changes.
func (p *Pane) OpenFork() tea.Cmd {
	if err := p.fixed(); err != nil {
		p.Tell(err.Error())
		return nil
	}
	if len(p.Staged) == 0 && p.Ended() {
		how := p.command() + " forks it"
		if p.About.Fork != nil {
			how = "F forks it as it is; " + p.command()
		}
		p.Tell("the run has ended: " + how)
		return nil
	}
	if len(p.Staged) == 0 {
		p.Refuse("nothing is staged: f forks with what is staged and without, F with nothing changed")
		return nil
	}
	plan := pane.ForkPlan{}
	for _, k := range p.KnobList {
		if v, ok := p.Staged[k.Name]; ok {
			text := k.Name + "=" + v.String()
			if k.Class != knob.ClassBatch && p.Generated() {
				text += "!" // in force from the fork on
			}
			plan.Set = append(plan.Set, text)
		}
	}
	return p.askPairs("fork: "+p.StagedText(), plan,
		"Each pair has new random streams of its own, the same for both: one child gets the change, one does not. This run stays as it is.")
}

// command is how a run is forked without a screen.
func (p *Pane) command() string { return "pgrlab fork " + p.FolderWord() + " --set KNOB=VALUE" }

// fixed is Fixed for forks, which can be made of a run that is over.
func (p *Pane) fixed() error {
	if p.About.Replay {
		return fmt.Errorf("%w; %s forks the run", pane.ErrReplay, p.command())
	}
	return p.Fixed()
}

// OpenPlacebo asks for pairs that differ only in their random streams.
func (p *Pane) OpenPlacebo() tea.Cmd {
	return p.askPairs("placebo forks", pane.ForkPlan{},
		"Nothing is changed but the random streams: how far the children of a pair come apart is what happens by itself. A difference inside that band says nothing.")
}

// commandConfirm is ":confirm": the schedule of a run that was changed against none.
func (p *Pane) commandConfirm(string) error {
	if p.History.Touched() == 0 {
		return fmt.Errorf("confirm: no knob was touched in this run: there is no schedule to confirm")
	}
	p.askPairs("confirm: "+p.changedText(), pane.ForkPlan{Confirm: true},
		"The changes of this run become a preset. Runs with it and runs without, on fresh seeds and without live knobs, tell what they do.")
	return nil
}

// changedText names the changes made by hand during the run, or counts them if there are many.
func (p *Pane) changedText() string {
	var all []string
	for _, c := range p.History.Changes {
		if !c.Scheduled && c.Number > 0 {
			all = append(all, fmt.Sprintf("%s %s %s at %s", p.KnobTitle(c.Knob), pane.Readable(c.From), p.Theme.Glyphs.Arrow+" "+pane.Readable(c.To), format.Count(c.AppliedStep)))
		}
	}
	if len(all) > 2 {
		return fmt.Sprintf("%d changes", len(all))
	}
	return strings.Join(all, ", ")
}

// childTime is about how long a child of so many env steps takes at this run's speed.
func (p *Pane) childTime(steps int) time.Duration {
	d := time.Duration(steps) * p.Snap.StepTime
	if every := p.Effective("refit_every").Number; every >= 1 {
		d += time.Duration(float64(steps)/every) * p.Snap.CostRefit
	}
	return d
}

// askPairs asks how many pairs to make, and says what they cost.
func (p *Pane) askPairs(title string, plan pane.ForkPlan, about string) tea.Cmd {
	if err := p.fixed(); err != nil {
		p.Tell(err.Error())
		return nil
	}
	switch {
	case p.Watching():
		p.Tell(p.ErrNotDriving().Error())
		return nil
	case p.About.Fork == nil:
		p.Tell("forks are made where the run trains: " + p.command())
		return nil
	case p.Snap == nil || p.Lab == nil:
		return nil
	}
	switch {
	case plan.Confirm:
		plan.Steps = p.Snap.Steps
	case plan.Steps == 0:
		plan.Steps = forkEvaluations * max(1, p.About.Config.Evaluation.Every)
	}
	beside := p.beside()
	turns := "one child after another"
	if beside > 1 {
		turns = fmt.Sprintf("%d at a time", beside)
	}
	cost := fmt.Sprintf("%s env steps a child, %s, with low priority beside this run", format.Count(plan.Steps), turns)
	if p.Snap.StepTime > 0 {
		cost += fmt.Sprintf(": %s a pair, or more, at this run's speed", format.Duration(p.childTime(2*plan.Steps/min(2, beside))))
	}
	if _, err := p.About.Config.Longer(p.About.Config.Steps + 1); err != nil && !plan.Confirm {
		about += " What follows the length of a run here (replay's β, PPO's rates) follows the child's own, so no child goes on as this run would."
	}
	name := title
	d := &pane.Dialog{Title: title, Lines: []string{about, cost + "."}}
	for _, n := range []int{1, 2, 4, 8} {
		label := fmt.Sprintf("%d pairs", n)
		if n == 1 {
			label = "one pair: it shows two runs, and says nothing about " + (&forkGroup{ForkPlan: plan}).about()
		}
		if len(plan.Set) == 0 && !plan.Confirm && n == 1 {
			label = "one pair"
		}
		d.Choices = append(d.Choices, pane.Choice{Key: strconv.Itoa(n), Label: label, Action: func() tea.Cmd {
			plan.Pairs = n
			return p.fork(forkGroup{ForkPlan: plan, title: strings.TrimPrefix(name, "fork: ")})
		}})
	}
	if !plan.Confirm {
		d.Choices = append(d.Choices, pane.Choice{Key: "s", Label: "another number of steps a child", Action: func() tea.Cmd { return p.askForkSteps(title, plan, about) }})
	}
	d.Choices = append(d.Choices, pane.Choice{Key: "esc", Label: "do not fork", Action: nil})
	p.Question(d)
	return nil
}

// askForkSteps asks how many env steps a child makes, and then for the number of pairs.
func (p *Pane) askForkSteps(title string, plan pane.ForkPlan, about string) tea.Cmd {
	e := pane.NewEntry("env steps a child: ", "typing replaces it  enter take  esc cancel", func(string) tea.Cmd {
		return p.askPairs(title, plan, about)
	})
	e.Check = func(text string) error {
		steps, err := knob.ParseCount(text)
		if every := max(1, p.About.Config.Evaluation.Every); err == nil && steps < every {
			err = fmt.Errorf("%s steps are too few: a child is evaluated every %s", format.Count(steps), format.Count(every))
		}
		if err == nil {
			plan.Steps = steps
		}
		return err
	}
	e.Propose(strconv.Itoa(plan.Steps))
	p.Open(e)
	return nil
}

// beside is how many children train at the same time.
func (p *Pane) beside() int {
	if p.About.Beside == nil {
		return 1
	}
	return max(1, p.About.Beside())
}

// Forker is the sender of a fork's request for a checkpoint.
const Forker = "fork"

// fork saves the run and then makes the children. A run that is over, or a plan whose children
// start from scratch, needs no new checkpoint.
func (p *Pane) fork(b forkGroup) tea.Cmd {
	saved := p.Ended() || b.Confirm
	if p.saving != nil && !saved {
		p.Tell("a fork is being made: make another when it is")
		return nil
	}
	clear(p.Staged)
	p.Say("")
	if saved {
		return p.makeChildren(b)
	}
	if err := p.Lab.Send(event.Checkpoint{By: Forker}); err != nil {
		p.Refuse(err.Error())
		return nil
	}
	b.asked = p.Snap.Step
	p.saving = &b
	p.Tell("saving at the end of this slice, then forking: :pane runs shows the children")
	return nil
}

// Event starts the fork whose checkpoint was made, or gives it up if it was refused.
func (p *Pane) Event(e event.Event) {
	b := p.saving
	if why := event.Refusal(e, "checkpoint"); b != nil && why != "" {
		p.saving = nil
		p.Report(fmt.Errorf("fork: %s", why))
		return
	}
	c, ok := e.Body.(event.Checkpointed)
	if !ok || b == nil || c.Obs.Position.Step < b.asked {
		return // an older checkpoint
	}
	p.saving = nil
	if c.Obs.Error != "" {
		p.Report(fmt.Errorf("fork: %s", c.Obs.Error))
		return
	}
	p.StartLater(p.makeChildren(*b))
}

// makeChildren makes the children outside the event loop.
func (p *Pane) makeChildren(b forkGroup) tea.Cmd {
	fork := p.About.Fork
	return func() tea.Msg {
		children, err := fork(b.ForkPlan)
		for _, c := range children {
			b.Children = append(b.Children, ChildRun{Child: c, step: c.From})
		}
		return Forked{b, err}
	}
}

// TakeForks lists the children that were made.
func (p *Pane) TakeForks(msg Forked) {
	if msg.err != nil {
		p.Report(msg.err)
	}
	if len(msg.group.Children) == 0 {
		return
	}
	turn := fmt.Sprintf("train, %d at a time", min(len(msg.group.Children), p.beside()))
	for i := range p.Groups {
		if !p.Groups[i].over() {
			turn = "wait behind those that train"
		}
	}
	p.Groups = append(p.Groups, msg.group)
	p.NextAt = time.Time{}
	if msg.err == nil {
		p.Tell(fmt.Sprintf("%d children %s: :pane runs", len(msg.group.Children), turn))
	}
	p.TouchPane(pane.Runs)
	p.Changed()
}

// IsSaving says whether a fork waits for its checkpoint.
func (p *Pane) IsSaving() bool { return p.saving != nil }

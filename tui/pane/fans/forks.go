package fans

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/core/fan"
	"pgrlab/core/knob"
	"pgrlab/tui/format"
	"pgrlab/tui/pane"
)

// forkGroup are the children of one plan.
type forkGroup struct {
	pane.ForkPlan
	forked   event.Forked // what the journal says of them
	asked    string       // the Ref of the request for its checkpoint
	Children []ChildRun

	result fan.Result // of these children and of those of earlier groups that ask the same
	before int        // number of the latter
	judged int        // what was known when the result was found
	began  time.Time  // when this screen made the children; zero: another one did
	noted  int        // looks that are in the journal
	hidden bool       // the person wants to see them no more
}

// Forked delivers the children of a plan, or the reason why there are none.
type Forked struct {
	group forkGroup
	err   error
}

// aboutChange says what forks with a change are.
const aboutChange = "Half of the forks get the change, half do not, as chance decides; each has random numbers of its own. What the change makes again is made again in all of them. This run stays as it is."

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
		p.Refuse("nothing is staged: f compares forks with what is staged and without, F with nothing changed")
		return nil
	}
	plan := pane.ForkPlan{}
	for _, k := range p.KnobList {
		if v, ok := p.Staged[k.Name]; ok {
			plan.Set = append(plan.Set, p.setting(k, v.String()))
		}
	}
	title, about := p.here(&plan, "fan: "+p.StagedText(), aboutChange)
	return p.askFan(title, plan, about)
}

// here makes a plan begin where the cursor of the charts stands, if it is on and not at the newest
// evaluation, and says so.
func (p *Pane) here(plan *pane.ForkPlan, title, about string) (string, string) {
	step, on := p.cursor()
	n := len(p.History.Evaluations)
	if !on || n == 0 || step >= p.History.Evaluations[n-1].Step {
		return title, about
	}
	plan.At = step
	at := format.Count(step)
	return title + " at " + at, about + " They begin at the last checkpoint that was kept at or before " + at + ", where the cursor stands."
}

// setting is a knob with its value for a fork: in force from the fork on.
func (p *Pane) setting(k knob.Knob, value string) string {
	text := k.Name + "=" + value
	if k.Class != knob.ClassBatch && p.Generated() {
		text += "!"
	}
	return text
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

// OpenPlacebo asks for children that differ only in their random streams.
func (p *Pane) OpenPlacebo() tea.Cmd {
	plan := pane.ForkPlan{}
	title, about := p.here(&plan, "placebo forks",
		"Nothing is changed but the random numbers; half of the forks are called changed. How far they come apart happens by itself, and the test must not see a difference: it does in 3 of 100 such cases.")
	return p.askFan(title, plan, about)
}

// commandConfirm is ":confirm": the schedule of a run that was changed against none.
func (p *Pane) commandConfirm(string) error {
	if p.History.Touched() == 0 {
		return fmt.Errorf("confirm: no knob was touched in this run: there is no schedule to confirm")
	}
	p.askFan("confirm: "+p.changedText(), pane.ForkPlan{Confirm: true},
		"The changes of this run become a preset. Runs with it and runs without, on fresh seeds and without live knobs, show what they do.")
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

// askForkSteps asks how many env steps a child makes, and then for their number.
func (p *Pane) askForkSteps(title string, plan pane.ForkPlan, about string) tea.Cmd {
	e := pane.NewEntry("env steps a fork: ", "typing replaces it  enter take  esc cancel", func(string) tea.Cmd {
		return p.askFan(title, plan, about)
	})
	e.Check = func(text string) error {
		steps, err := knob.ParseCount(text)
		if err == nil && steps < plan.Every {
			err = fmt.Errorf("%s steps are too few: a fork is evaluated every %s", format.Count(steps), format.Count(plan.Every))
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

// Forker is the sender of a fork's request for a checkpoint.
const Forker = "fork"

// fork saves the run and then makes the children. A run that is over, or a plan whose children
// start from scratch, needs no new checkpoint.
func (p *Pane) fork(b forkGroup) tea.Cmd {
	saved := p.Ended() || b.Confirm || b.At > 0
	if p.saving != nil && !saved {
		p.Tell("a fork is being made: make another when it is")
		return nil
	}
	for _, text := range b.Set {
		name, _, _ := strings.Cut(text, "=")
		delete(p.Staged, name)
	}
	p.Say("")
	if saved {
		return p.makeChildren(b)
	}
	b.asked = fmt.Sprintf("%s %d", Forker, p.Now().UnixNano())
	if err := p.Lab.Send(event.Checkpoint{Ref: b.asked, By: Forker}); err != nil {
		p.Refuse(err.Error())
		return nil
	}
	p.saving = &b
	p.Tell("saving at the end of this slice, then forking")
	return nil
}

// Event starts the fork whose checkpoint was made, or gives it up if it was refused, and takes note of the
// forks that the journal names.
func (p *Pane) Event(e event.Event) {
	p.measured.Take(e)
	switch body := e.Body.(type) {
	case event.Start:
		p.forget() // of a replay that was wound back
	case event.Noted:
		if body.Obs.At == nil && strings.HasPrefix(body.Text, event.ForkedAt) {
			p.forget() // of the run that this one was forked off
		}
	case event.Forked:
		p.recall(body)
	}
	b := p.saving
	if why := event.Refusal(e, "checkpoint"); b != nil && why != "" {
		p.saving = nil
		p.Report(fmt.Errorf("fork: %s", why))
		return
	}
	c, ok := e.Body.(event.Checkpointed)
	if !ok || b == nil || !slices.Contains(c.Obs.Refs, b.asked) {
		return // an older checkpoint: it may lack a change that was made before the fork
	}
	p.saving = nil
	if c.Obs.Error != "" {
		p.Report(fmt.Errorf("fork: %s", c.Obs.Error))
		return
	}
	p.StartLater(p.makeChildren(*b))
}

// forget takes all forks off the screen.
func (p *Pane) forget() {
	p.Groups = nil
	p.draw()
}

// makeChildren makes the children outside the event loop.
func (p *Pane) makeChildren(b forkGroup) tea.Cmd {
	fork := p.About.Fork
	return func() tea.Msg {
		forked, children, err := fork(b.ForkPlan)
		b.forked = forked
		for _, c := range children {
			b.Children = append(b.Children, ChildRun{Child: c, step: c.From})
		}
		b.began = p.Now()
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
	turn := fmt.Sprintf("train, %d at a time", min(len(msg.group.Children), p.pace().AtATime))
	known := -1
	for i := range p.Groups {
		if b := &p.Groups[i]; b.Children[0].Dir == msg.group.Children[0].Dir {
			known = i
		} else if b.live() && !b.over() {
			turn = "wait for those before"
		}
	}
	if known < 0 {
		p.Groups = append(p.Groups, msg.group)
	} else { // an event was quicker
		p.Groups[known] = msg.group
	}
	p.judge()
	p.NextAt = time.Time{}
	if msg.err == nil {
		p.Tell(fmt.Sprintf("%d forks %s", len(msg.group.Children), turn))
	}
	p.shown = true
	p.draw()
}

// IsSaving says whether a fork waits for its checkpoint.
func (p *Pane) IsSaving() bool { return p.saving != nil }

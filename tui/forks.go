package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/core/knob"
)

// forkGroup are the children of one plan.
type forkGroup struct {
	ForkPlan
	title    string
	asked    int // the env step at which it was asked for
	children []childRun
}

// childRun is a child as far as its journal tells.
type childRun struct {
	Child
	step    int
	done    bool
	failed  error
	returns map[int]float64 // mean returns of evaluations behind the fork, by step
}

// forked delivers the children of a plan, or why there are none.
type forked struct {
	group forkGroup
	err   error
}

// childrenRead delivers what journals of children hold now.
type childrenRead struct {
	group    int // its index
	children []childRun
}

// forkEvery is the time between two looks at the children's journals.
const forkEvery = 3 * time.Second

// forkEvaluations are how many evaluations a child lives to see.
const forkEvaluations = 5

// openFork asks for the number of pairs with what is staged and without.
func (m *runsPane) openFork() tea.Cmd {
	if len(m.staged) == 0 {
		m.refuse("nothing is staged: f forks with what is staged and without, F with nothing changed")
		return nil
	}
	plan := ForkPlan{}
	for _, k := range m.knobList {
		if v, ok := m.staged[k.Name]; ok {
			text := k.Name + "=" + v.String()
			if k.Class != knob.ClassBatch && m.generated() {
				text += "!" // in force from the fork on
			}
			plan.Set = append(plan.Set, text)
		}
	}
	return m.askPairs("fork: "+m.stagedText(), plan,
		"Each pair has new random streams of its own, the same for both: one child gets the change, one does not. This run stays as it is.")
}

// openPlacebo asks for pairs that differ in nothing but their random streams.
func (m *runsPane) openPlacebo() tea.Cmd {
	return m.askPairs("placebo forks", ForkPlan{},
		"Nothing is changed but the random streams: how far the children of a pair come apart is what happens by itself. A difference inside that band says nothing.")
}

// commandConfirm is ":confirm": the schedule of a touched run against none.
func (m *runsPane) commandConfirm(string) error {
	if m.history.touched() == 0 {
		return fmt.Errorf("confirm: no knob was touched in this run: there is no schedule to confirm")
	}
	m.askPairs("confirm: "+m.changedText(), ForkPlan{Confirm: true},
		"The changes of this run become a preset. Runs with it and runs without, on fresh seeds and without live knobs, tell what they do.")
	return nil
}

// changedText names the changes that somebody made while the run went on, or counts
// them where they are many.
func (m *runsPane) changedText() string {
	var all []string
	for _, c := range m.history.changes {
		if !c.scheduled && c.number > 0 {
			all = append(all, fmt.Sprintf("%s %s %s at %s", m.knobTitle(c.knob), readable(c.from), m.theme.glyphs.arrow+" "+readable(c.to), count(c.appliedStep)))
		}
	}
	if len(all) > 2 {
		return fmt.Sprintf("%d changes", len(all))
	}
	return strings.Join(all, ", ")
}

// childTime is about how long a child of so many env steps takes at this run's speed.
func (m *runsPane) childTime(steps int) time.Duration {
	d := time.Duration(steps) * m.snap.StepTime
	if every := m.effective("refit_every").Number; every >= 1 {
		d += time.Duration(float64(steps)/every) * m.snap.CostRefit
	}
	return d
}

// askPairs asks how many pairs a plan gets, and what that costs.
func (m *runsPane) askPairs(title string, plan ForkPlan, about string) tea.Cmd {
	switch {
	case m.about.Replay:
		m.tell(ErrReplay.Error())
		return nil
	case m.watching():
		m.tell(m.driver + " drives: D takes over")
		return nil
	case m.about.Fork == nil:
		m.tell("forks are made where the run trains: pgrlab fork DIR --set KNOB=VALUE")
		return nil
	case m.snap == nil || m.lab == nil:
		return nil
	}
	switch {
	case plan.Confirm:
		plan.Steps = m.snap.Steps
	case plan.Steps == 0:
		plan.Steps = forkEvaluations * max(1, m.about.Config.Evaluation.Every)
	}
	beside := m.beside()
	turns := "one child after another"
	if beside > 1 {
		turns = fmt.Sprintf("%d at a time", beside)
	}
	cost := fmt.Sprintf("%s env steps a child, %s, with low priority beside this run", count(plan.Steps), turns)
	if m.snap.StepTime > 0 {
		cost += fmt.Sprintf(": %s a pair, or more, at this run's speed", duration(m.childTime(2*plan.Steps/min(2, beside))))
	}
	name := title
	d := &dialog{title: title, lines: []string{about, cost + "."}}
	for _, n := range []int{1, 2, 4, 8} {
		label := fmt.Sprintf("%d pairs", n)
		if n == 1 {
			label = "one pair: it shows two runs, and says nothing about " + (&forkGroup{ForkPlan: plan}).about()
		}
		if len(plan.Set) == 0 && !plan.Confirm && n == 1 {
			label = "one pair"
		}
		d.choices = append(d.choices, choice{strconv.Itoa(n), label, func() tea.Cmd {
			plan.Pairs = n
			return m.fork(forkGroup{ForkPlan: plan, title: strings.TrimPrefix(name, "fork: ")})
		}})
	}
	if !plan.Confirm {
		d.choices = append(d.choices, choice{"s", "another number of steps a child", func() tea.Cmd { return m.askForkSteps(title, plan, about) }})
	}
	d.choices = append(d.choices, choice{"esc", "do not fork", nil})
	m.question(d)
	return nil
}

// askForkSteps asks how many env steps a child makes, and then how many pairs.
func (m *runsPane) askForkSteps(title string, plan ForkPlan, about string) tea.Cmd {
	e := newEntry("env steps a child: ", "typing replaces it  enter take  esc cancel", func(text string) tea.Cmd {
		steps, err := knob.ParseCount(text)
		if every := max(1, m.about.Config.Evaluation.Every); err == nil && steps < every {
			err = fmt.Errorf("%s steps are too few: a child is evaluated every %s", count(steps), count(every))
		}
		if err != nil {
			return m.report(fmt.Errorf("fork: %w", err))
		}
		plan.Steps = steps
		return m.askPairs(title, plan, about)
	})
	e.propose(strconv.Itoa(plan.Steps))
	m.open(e)
	return nil
}

// beside is how many children train at a time.
func (m *runsPane) beside() int {
	if m.about.Beside == nil {
		return 1
	}
	return max(1, m.about.Beside())
}

// forker is who asks for the checkpoint of a fork.
const forker = "fork"

// fork saves the run and then makes the children. A run that is over, or a plan that
// begins anew, needs no checkpoint of now.
func (m *runsPane) fork(b forkGroup) tea.Cmd {
	clear(m.staged)
	m.say("")
	if m.ended() || b.Confirm {
		return m.makeChildren(b)
	}
	if err := m.lab.Send(event.Checkpoint{By: forker}); err != nil {
		m.refuse(err.Error())
		return nil
	}
	b.asked = m.snap.Step
	m.saving = &b
	m.tell("saving at the end of this slice, then forking: :pane runs shows the children")
	return nil
}

// Event begins the fork that a checkpoint was made for.
func (m *runsPane) Event(e event.Event) {
	c, ok := e.Body.(event.Checkpointed)
	b := m.saving
	if !ok || b == nil || c.Obs.Position.Step < b.asked {
		return // of before
	}
	m.saving = nil
	if c.Obs.Error != "" {
		m.report(fmt.Errorf("fork: %s", c.Obs.Error))
		return
	}
	m.startLater(m.makeChildren(*b))
}

// makeChildren makes the children outside the event loop.
func (m *runsPane) makeChildren(b forkGroup) tea.Cmd {
	fork := m.about.Fork
	return func() tea.Msg {
		children, err := fork(b.ForkPlan)
		for _, c := range children {
			b.children = append(b.children, childRun{Child: c, step: c.From})
		}
		return forked{b, err}
	}
}

// takeForks lists children that were made.
func (m *runsPane) takeForks(msg forked) {
	if msg.err != nil {
		m.report(msg.err)
	}
	if len(msg.group.children) == 0 {
		return
	}
	turn := fmt.Sprintf("train, %d at a time", min(len(msg.group.children), m.beside()))
	for i := range m.groups {
		if !m.groups[i].over() {
			turn = "wait behind those that train"
		}
	}
	m.groups = append(m.groups, msg.group)
	m.nextAt = time.Time{}
	if msg.err == nil {
		m.tell(fmt.Sprintf("%d children %s: :pane runs", len(msg.group.children), turn))
	}
	m.touchPane(paneRuns)
	m.changed()
}

// readJournals reads the journals of the children that are not done, now and then.
func (m *runsPane) readJournals() tea.Cmd {
	now := m.now()
	if m.nextAt.After(now) {
		return nil
	}
	var all []tea.Cmd
	for i := range m.groups {
		if b := &m.groups[i]; !b.over() {
			children := append([]childRun(nil), b.children...)
			load := m.about.LoadRun
			all = append(all, func() tea.Msg {
				for i := range children {
					children[i] = children[i].look(load)
				}
				return childrenRead{group: i, children: children}
			})
		}
	}
	m.nextAt = now.Add(forkEvery)
	if len(all) == 0 {
		return nil
	}
	return tea.Batch(all...)
}

// look reads a child's journal, unless it is done.
func (o childRun) look(load func(string) ([]event.Event, error)) childRun {
	if o.done || o.failed != nil {
		return o
	}
	if o.Failed != nil {
		o.failed = o.Failed() // before the journal, whose end may come with it
	}
	events, err := load(o.Dir)
	if err != nil {
		return o // not begun yet
	}
	o.returns = map[int]float64{}
	for _, e := range events {
		if e.Step <= o.From && o.From > 0 {
			continue // its parent's
		}
		o.step = max(o.step, e.Step)
		switch b := e.Body.(type) {
		case event.Evaluated:
			o.returns[e.Step] = float64(b.ReturnMean)
		case event.Done:
			o.done = e.Step >= o.To
		}
	}
	return o
}

// takeChildren takes what the journals hold.
func (m *runsPane) takeChildren(msg childrenRead) {
	b := &m.groups[msg.group]
	was := b.over()
	b.children = msg.children
	if d := b.differences(); b.over() && !was && len(d) > 0 {
		band, pairs := m.band(b.Steps)
		verdict, _, _ := strings.Cut(m.verdictOf(b, d, band, pairs), ";")
		m.tell(b.title + ": " + verdict + "; :pane runs")
	}
	m.touchPane(paneRuns)
	if m.visible(paneRuns) {
		m.changed()
	}
}

// over says whether nothing more is to come of a forkGroup.
func (b *forkGroup) over() bool {
	for _, c := range b.children {
		if !c.done && c.failed == nil {
			return false
		}
	}
	return true
}

// placebo says whether nothing was changed but the random streams.
func (b *forkGroup) placebo() bool { return len(b.Set) == 0 && !b.Confirm }

// differences are what came of each pair that is done: the mean, over the
// evaluations behind the fork that both have, of the changed child's return less the
// other's.
func (b *forkGroup) differences() (out []float64) {
	for p := range b.Pairs {
		var pair [2]*childRun
		for i := range b.children {
			c := &b.children[i]
			if c.Pair != p || !c.done {
				continue
			}
			if c.Changed {
				pair[1] = c
			} else {
				pair[0] = c
			}
		}
		if pair[0] == nil || pair[1] == nil {
			continue
		}
		sum, n := 0.0, 0
		for step, r := range pair[1].returns {
			if control, ok := pair[0].returns[step]; ok {
				sum += r - control
				n++
			}
		}
		if n > 0 {
			out = append(out, sum/float64(n))
		}
	}
	return out
}

// unfinished counts the children that are still to be trained.
func (m *runsPane) unfinished() (n int) {
	for _, b := range m.groups {
		for _, c := range b.children {
			if !c.done && c.failed == nil {
				n++
			}
		}
	}
	return n
}

// isSaving says whether a fork waits for its checkpoint.
func (m *runsPane) isSaving() bool { return m.saving != nil }

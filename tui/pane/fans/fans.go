// Package fans makes forks of the run, half of them with a change, and shows how they grow apart and
// what that says.
package fans

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/cost"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/format"
	"pgrlab/tui/pane"
	"pgrlab/tui/steer"
	"pgrlab/tui/topic"
)

// Pane is the forks of the run.
type Pane struct {
	*steer.Steering
	cursor   func() (step int, on bool)
	saving   *forkGroup // waits for its checkpoint
	Groups   []forkGroup
	NextAt   time.Time // when to read the forks' journals next; zero: at once
	reading  int       // groups whose journals are being read
	measured cost.Journal
	shown    bool // they are on the charts and the layout
}

// New makes the pane of the run that s steers.
//
// cursor is where the person has put the cursor of the charts, and whether it is on.
func New(s *steer.Steering, cursor func() (step int, on bool)) *Pane {
	return &Pane{Steering: s, cursor: cursor}
}

// ID names the pane.
func (p *Pane) ID() pane.ID { return pane.Fan }

// Tab is the name of the pane on the tab bar.
func (p *Pane) Tab() string { return string(pane.Fan) }

// Title says what the newest forks are to find out.
func (p *Pane) Title(w int) (title, note string) {
	b := p.newest()
	if b == nil {
		return "FAN", ""
	}
	title = "FAN"
	if len(p.Groups) > 1 {
		title += fmt.Sprintf(" %d", len(p.Groups))
	}
	if !b.Confirm {
		return p.Spelled(fmt.Sprintf("%s  %s at %s", title, p.titleOf(b.forked), format.Count(b.Children[0].From))), fmt.Sprintf("%d forks", len(b.Children))
	}
	return p.Spelled(title + "  " + p.titleOf(b.forked)), fmt.Sprintf("%d runs", len(b.Children))
}

// newest are the newest forks; nil: there are none.
func (p *Pane) newest() *forkGroup {
	if len(p.Groups) == 0 {
		return nil
	}
	return &p.Groups[len(p.Groups)-1]
}

// Keys are those that work while the pane is in focus.
func (p *Pane) Keys() []pane.Binding {
	of := []pane.ID{pane.Fan}
	return []pane.Binding{
		{Name: "fan-take", Keys: []string{"enter"}, Panes: of, Does: "take", Help: "stage the change of the newest forks in this run: enter in KNOBS makes it", Action: p.take},
		{Name: "fan-more", Keys: []string{"m"}, Panes: of, Does: "more", Help: "as many forks again with the same change; from the same value it is one question, and the verdict then rests on all of them", Action: p.more},
		{Name: "fan-hold", Keys: []string{"h"}, Panes: of, Does: "hold", Help: "hold this run until the forks are done, or let it train on beside them", Action: p.hold},
		{Name: "fan-resume", Keys: []string{"r"}, Panes: of, Does: "resume", Help: "train forks on that stopped before their end, such as those of a run that was killed", Action: p.goOn},
		{Name: "fan-hide", Keys: []string{"d"}, Panes: of, Does: "hide", Help: "take the forks off the charts and the layout; they train on", Action: p.dismiss},
	}
}

// Verbs are the commands of the pane.
func (p *Pane) Verbs() []pane.Verb {
	return []pane.Verb{
		{Name: "fan", About: "forks with and without a change: fan 12 2500 hold guidance=3, or fan at 10000 ratio=0.25 from an earlier checkpoint", Arguments: nil, Run: p.commandFan},
		{Name: "confirm", About: "make the changes of this run a preset, and run it beside untouched runs on fresh seeds", Arguments: nil, Run: p.commandConfirm},
	}
}

// DependsOn are the topics that the pane shows.
func (p *Pane) DependsOn() []topic.Topic { return []topic.Topic{topic.Snapshot} }

// Shown says whether the forks belong on the layout.
func (p *Pane) Shown() bool { return len(p.Groups) > 0 && p.shown }

// draw makes the pane and the charts show the forks as they are now.
func (p *Pane) draw() {
	p.Fan, p.Newest = nil, nil
	if b := p.newest(); b != nil && !b.Confirm {
		p.Newest = &pane.FanCurves{From: b.Children[0].From, To: b.Children[0].To}
		for i := range b.Children {
			switch c := &b.Children[i]; {
			case c.failed != nil: // its curve ends early
			case c.Changed:
				p.Newest.With = append(p.Newest.With, &c.history)
			default:
				p.Newest.Without = append(p.Newest.Without, &c.history)
			}
		}
	}
	if p.shown {
		p.Fan = p.Newest
	}
	p.TouchPane(pane.Fan)
	p.Touch(topic.Charts)
	p.Relayout()
	p.Changed()
}

// hold makes the run wait until the forks are done, or ends that.
func (p *Pane) hold() tea.Cmd {
	b := p.newest()
	switch {
	case b == nil || b.over() || !b.live() || p.About.Hold == nil:
		p.Tell(pane.ErrNoForks.Error())
	case p.Watching():
		p.Tell(p.ErrNotDriving().Error())
	case p.Paused():
		return p.Report(p.Lab.Send(event.Resume{By: steer.Sender}))
	default:
		return p.Report(p.About.Hold())
	}
	return nil
}

// goOn trains the newest forks on that stopped before their end.
func (p *Pane) goOn() tea.Cmd {
	b := p.newest()
	if b == nil {
		p.Tell("there are no forks yet")
		return nil
	}
	if err := p.possible(); err != nil {
		p.Tell(err.Error())
		return nil
	}
	var rest []pane.Child
	for i := range b.Children {
		if c := &b.Children[i]; !c.settled() && (c.stopped != nil || c.Failed == nil) {
			rest = append(rest, c.Child)
		}
	}
	if len(rest) == 0 {
		p.Tell("no fork has stopped before its end")
		return nil
	}
	goOn := p.About.GoOn
	return func() tea.Msg {
		on, err := goOn(slices.Clone(rest))
		return Resumed{on, len(rest) - len(on), err}
	}
}

// Resumed delivers forks that train on.
type Resumed struct {
	children []pane.Child
	others   int // that train already, or wait for their turn
	err      error
}

// TakeResumed takes note of forks that train on.
func (p *Pane) TakeResumed(msg Resumed) {
	p.Report(msg.err)
	for _, c := range msg.children {
		for i := range p.Groups {
			for j := range p.Groups[i].Children {
				if o := &p.Groups[i].Children[j]; o.Dir == c.Dir {
					o.Child, o.stopped = c, nil
				}
			}
		}
	}
	p.NextAt = time.Time{}
	if said := msg.said(); said != "" && msg.err == nil {
		p.Tell(said)
	}
	p.draw()
}

// said says what became of the forks.
func (m Resumed) said() string {
	var all []string
	if n := len(m.children); n > 0 {
		all = append(all, format.Counted(n, "fork trains", "forks train")+" on: in turns, as before")
	}
	if m.others > 0 {
		all = append(all, format.Counted(m.others, "fork is", "forks are")+" being trained already")
	}
	return strings.Join(all, "; ")
}

// dismiss takes the forks off the screen.
func (p *Pane) dismiss() tea.Cmd {
	if b := p.newest(); b != nil {
		b.hidden = true
	}
	p.shown = false
	p.draw()
	return p.GoTo(pane.Knobs)
}

// take stages the change of the newest forks.
func (p *Pane) take() tea.Cmd {
	b := p.newest()
	switch {
	case b == nil || b.placebo() || b.Confirm:
		p.Tell("there is no change to take: f makes forks with what is staged")
		return nil
	case p.Ended():
		p.Tell("the run has ended: " + p.command() + " forks it with the change")
		return nil
	}
	if err := p.Fixed(); err != nil {
		p.Tell(err.Error())
		return nil
	}
	for _, text := range b.Set {
		name, value, _ := strings.Cut(strings.TrimSuffix(text, "!"), "=")
		_, v, err := p.About.Config.ParseChange(name, value)
		if err != nil {
			return p.Report(err)
		}
		p.Staged[name] = v
	}
	p.Touch(topic.Staged)
	p.Tell("staged: enter makes the change, esc takes it back")
	return p.GoTo(pane.Knobs)
}

// more makes as many forks again.
func (p *Pane) more() tea.Cmd {
	b := p.newest()
	if b == nil {
		p.Tell("there are no forks yet: f makes some of what is staged, F with nothing changed")
		return nil
	}
	if !b.over() {
		p.Tell("the forks are still being trained: more can be made when they are done")
		return nil
	}
	if err := p.possible(); err != nil {
		p.Tell(err.Error())
		return nil
	}
	plan := b.ForkPlan
	if plan.Hold = plan.Hold && p.waits(plan); plan.Each == 0 {
		plan.Each = len(b.Children) / 2
	}
	return p.fork(forkGroup{ForkPlan: plan})
}

// commandFan is ":fan": forks as the words say.
func (p *Pane) commandFan(text string) error {
	if err := p.possible(); err != nil {
		return err
	}
	plan, err := p.planOf(strings.Fields(text))
	if err != nil {
		return fmt.Errorf("fan: %w", err)
	}
	if plan.Each == 0 {
		p.askFan("fan: "+p.titleOfSet(plan.Set), plan, aboutChange)
		return nil
	}
	p.StartLater(p.fork(forkGroup{ForkPlan: p.completed(plan)}))
	return nil
}

// planOf reads the words of ":fan".
func (p *Pane) planOf(words []string) (plan pane.ForkPlan, err error) {
	hold := slices.Contains(words, "hold")
	at := false
	for _, word := range words {
		name, value, is := strings.Cut(word, "=")
		n, count := knob.ParseCount(word)
		switch {
		case word == "hold", word == "beside":
		case word == "at":
			at = true
		case is:
			k, v, err := p.About.Config.ParseChange(name, strings.TrimSuffix(value, "!"))
			if err != nil {
				return plan, err
			}
			plan.Set = append(plan.Set, p.setting(k, k.Format(v)))
		case count != nil:
			return plan, fmt.Errorf("%s is neither a number nor KNOB=VALUE: for example fan 12 2500 hold guidance=3", word)
		case at:
			plan.At, at = n, false
		case plan.Each == 0 && plan.Steps == 0:
			if n < 2 || n%2 > 0 || n > 64 {
				return plan, fmt.Errorf("%s forks: want an even number from 2 to 64, half of them with the change", word)
			}
			plan.Each = n / 2
		case plan.Steps == 0:
			plan.Steps = n
		default:
			return plan, fmt.Errorf("%s is a third number: the first is of forks, the second of env steps", word)
		}
	}
	plan = p.completed(plan)
	if plan.Hold = plan.Hold && !slices.Contains(words, "beside") || hold; plan.Hold && !p.waits(plan) {
		plan.Hold = false
	}
	if plan.Steps < plan.Every {
		return plan, fmt.Errorf("%s steps are too few: a fork is evaluated every %s", strconv.Itoa(plan.Steps), format.Count(plan.Every))
	}
	return plan, nil
}

// titleOfSet names the changes of a plan by what the knobs are now.
func (p *Pane) titleOfSet(set []string) string {
	if len(set) == 0 {
		return "placebo forks"
	}
	var all []string
	for _, text := range set {
		name, value, _ := strings.Cut(strings.TrimSuffix(text, "!"), "=")
		was := ""
		if v, ok := p.Snap.Knobs[name]; ok {
			was = v.String()
		}
		if k, err := knob.Find(name); err == nil {
			name = pane.Symbol(k)
		}
		all = append(all, fmt.Sprintf("%s %s %s %s", name, was, p.Theme.Glyphs.Arrow, value))
	}
	return strings.Join(all, ", ")
}

// Package whatif shows what would become of a run's agent if it learned from other rows, as
// computed from a checkpoint beside the run.
package whatif

import (
	"errors"
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/tui/format"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
	"pgrlab/tui/topic"
)

// sender is the sender, in the journal, of the request for the checkpoint.
const sender = "what-if"

// Pane is the what-if of a run: what it would take, its progress, and its table.
type Pane struct {
	*pane.Run
	asked  string            // the Ref of the request for a checkpoint to begin with; "": none waits
	failed error             // the error of the last attempt
	seen   *pane.WhatIfState // the state as last drawn
	top    int               // lines scrolled away at the top
	rows   int               // lines of the whole text
	from   mark              // since when the work has gone at one pace
}

// mark is how far the work was at some time.
type mark struct {
	at     time.Time
	done   int
	paused bool // the run was, which leaves the work more of the machine
}

// New makes the pane of a run.
func New(r *pane.Run) *Pane { return &Pane{Run: r, seen: &pane.WhatIfState{}} }

// ID names the pane.
func (p *Pane) ID() pane.ID { return pane.WhatIfs }

// Tab is the name of the pane on the tab bar.
func (p *Pane) Tab() string { return string(pane.WhatIfs) }

// Title is the text in the border of the pane.
func (p *Pane) Title(w int) (title, note string) {
	switch {
	case p.seen.Under:
		note = format.Percent(p.share())
	case p.seen.Table != nil:
		note = "step " + format.Count(p.seen.Of)
	}
	return "WHAT IF", theme.Longest([]string{p.Theme.Dim.On(note)}, w-16)
}

// Keys are those that work while the pane is in focus.
func (p *Pane) Keys() []pane.Binding {
	return []pane.Binding{
		{Name: "what-if-begin", Of: pane.LiveRun, Keys: []string{"enter"}, Does: "begin", Help: "save the run, and train its agent on beside it with other rows", Action: p.begin},
		{Name: "what-if-stop", Of: pane.LiveRun, Keys: []string{"s"}, Does: "stop", Help: "end the one that is under way", Action: p.stop},
		{Name: "what-if-hold", Of: pane.LiveRun, Keys: []string{"h"}, Does: "hold the run", Help: "pause the run until the what-if is over, which takes less time then; the run goes on by itself", Action: p.hold},
		{Name: "what-if-down", Keys: []string{"down", "j"}, Label: "down j", Hint: "up down", Does: "scroll", Help: "further down", Action: func() tea.Cmd { return p.Scroll(1) }},
		{Name: "what-if-up", Keys: []string{"up", "k"}, Label: "up k", Help: "back up", Action: func() tea.Cmd { return p.Scroll(-1) }},
	}
}

// DependsOn are the topics that the pane shows: the estimate of the work follows the run's speed.
func (p *Pane) DependsOn() []topic.Topic { return []topic.Topic{topic.Snapshot} }

// Definitions explain the pane's numbers.
func (p *Pane) Definitions() []pane.Definition {
	return []pane.Definition{{
		Name: "WHAT IF", Shown: []string{"return", "scatter", "error", "updates", "repeats", "constant", "unprioritized", "made", "work", "lines", "differences", "intervals"},
		Text: "From a checkpoint the agent is trained on with each kind of rows: real ones only, unprioritized D_syn (SynthER's), and D_syn as the run asks for it; D_syn as the generator makes it, and the same s and a with the simulator's s', r and end. Scatter: the standard deviation of Q − G over episodes that the checkpoint's policy played afterwards, G their soft Monte-Carlo returns, the critics trained alone: how ill values tell states apart. Return: of the policy's mean action, critics and policy trained together. ± is the standard deviation over repeats. A verdict takes a 90% interval (Student's t over repeats) of scatter or return without 0. Error of s': in units of the variance of real s' − s, of r: of real r; after it what the best constant has on the same rows. The time that it takes is that of as many critic updates at the run's speed.",
	}}
}

// Scroll moves by a line.
func (p *Pane) Scroll(by int) tea.Cmd {
	p.top = max(0, p.top+by)
	p.TouchPane(p.ID())
	p.Changed()
	return nil
}

// refused says why no what-if can begin now.
func (p *Pane) refused() error {
	switch {
	case p.About.Replay:
		return errors.New("a what-if of a run that is over: pgrlab analyse " + p.FolderWord() + " --what-if")
	case p.About.WhatIf == nil:
		return errors.New("a what-if is made where the run trains: pgrlab analyse " + p.FolderWord() + " --what-if")
	case p.Lab == nil || p.Snap == nil:
		return errors.New("what-if: the run has not begun: wait for its first steps")
	}
	if err := p.About.WhatIf.Check(); err != nil {
		return fmt.Errorf("there is no what-if of this run: %w", err)
	}
	switch {
	case p.Snap.Updates == 0:
		return errors.New("what-if: the agent has not learned yet: wait for its first updates")
	case p.Watching():
		return p.ErrNotDriving()
	}
	return nil
}

// hold pauses the run until the what-if is over.
func (p *Pane) hold() tea.Cmd {
	switch {
	case p.Watching():
		p.Tell(p.ErrNotDriving().Error())
	case p.About.WhatIf == nil || !p.About.WhatIf.State().Under:
		p.Tell("no what-if is under way: enter begins one")
	case p.Ended():
		p.Tell("the run has ended: it takes nothing from the what-if")
	case p.Paused():
		p.Tell("the run is paused already: space resumes it")
	default:
		return p.Report(p.About.WhatIf.Hold())
	}
	return nil
}

// begin saves the run and starts the what-if from that checkpoint; a run that is over is saved
// already.
func (p *Pane) begin() tea.Cmd {
	if err := p.refused(); err != nil {
		p.Tell(err.Error())
		return nil
	}
	if p.asked != "" || p.About.WhatIf.State().Under {
		p.Tell("a what-if is under way: s stops it")
		return nil
	}
	p.failed, p.top = nil, 0
	defer p.redraw()
	if p.Ended() {
		return p.compute
	}
	ref := fmt.Sprintf("%s %d", sender, p.Now().UnixNano())
	if err := p.Lab.Send(event.Checkpoint{Ref: ref, By: sender}); err != nil {
		p.failed = err
		return nil
	}
	p.asked = ref
	return nil
}

// compute starts the what-if outside the event loop.
func (p *Pane) compute() tea.Msg {
	p.About.WhatIf.Begin()
	return nil
}

// Event starts the what-if from the checkpoint that was requested, or gives it up if that was refused.
func (p *Pane) Event(e event.Event) {
	if why := event.Refusal(e, "checkpoint"); p.asked != "" && why != "" {
		p.asked, p.failed = "", errors.New(why)
		p.redraw()
		return
	}
	c, ok := e.Body.(event.Checkpointed)
	if !ok || p.asked == "" || !slices.Contains(c.Obs.Refs, p.asked) {
		return // an older checkpoint
	}
	p.asked = ""
	if c.Obs.Error != "" {
		p.failed = errors.New(c.Obs.Error)
	} else {
		p.StartLater(p.compute)
	}
	p.redraw()
}

// stop ends the current what-if.
func (p *Pane) stop() tea.Cmd {
	switch {
	case p.Watching():
		p.Tell(p.ErrNotDriving().Error())
	case p.asked != "":
		p.asked = ""
		p.redraw()
	case p.About.WhatIf == nil || !p.About.WhatIf.State().Under:
		p.Tell("no what-if is under way: enter begins one")
	default:
		p.About.WhatIf.Stop()
		p.Tell("the what-if is stopped: enter begins another")
	}
	return nil
}

// Poll follows the state of the what-if, and reports its end.
func (p *Pane) Poll(visible bool) {
	if p.About.WhatIf == nil {
		return
	}
	now := p.About.WhatIf.State()
	switch paused := p.Paused(); {
	case p.from.at.Before(now.Begun):
		p.from = mark{at: now.Begun, paused: paused}
	case p.from.paused != paused:
		p.from = mark{at: p.Now(), done: now.Progress.Done, paused: paused}
		p.TouchPane(p.ID())
	}
	if now == p.seen {
		return
	}
	before := p.seen
	p.seen = now
	p.redraw()
	switch {
	case now.Under:
	case now.Err != nil && now.Err != before.Err:
		p.Tell(now.Err.Error())
	case now.Table != before.Table:
		text := fmt.Sprintf("the what-if of step %s is made", format.Count(now.Of))
		if !visible {
			text += ": w shows it"
		}
		p.Tell(text)
	}
}

func (p *Pane) redraw() {
	p.TouchPane(p.ID())
	p.Changed()
}

// Under says whether a what-if is under way, and how far it has come.
func (p *Pane) Under() (share float64, under bool) { return p.share(), p.seen.Under }

// share is the share of the work that is done.
func (p *Pane) share() float64 {
	at := p.seen.Progress
	return float64(at.Done) / float64(max(1, at.Total))
}

// toGo is how long the current what-if will still take at its pace, which changes with each pause of
// the run; 0: not known yet.
func (p *Pane) toGo() time.Duration {
	spent, at, made := p.Now().Sub(p.from.at), p.seen.Progress, p.seen.Progress.Done-p.from.done
	if p.seen.Begun.IsZero() || made <= 0 || spent < 2*time.Second {
		return 0
	}
	return time.Duration(float64(spent) * float64(at.Total-at.Done) / float64(made))
}

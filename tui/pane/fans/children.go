package fans

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/core/fan"
	"pgrlab/core/run"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
)

// ChildRun is a child as known from its journal.
type ChildRun struct {
	pane.Child
	step    int
	done    bool
	failed  error           // it trains no longer, and counts as failed
	stopped error           // it trains no longer, and can go on
	history history.History // of what came after the fork
	played  []event.Event   // its journal, in a replay of the parent
	read    int64           // bytes that its journal had when it was read; 0: none was
}

// evaluations are the mean returns after the fork, over all seeds.
func (o ChildRun) evaluations() (all []float64) {
	for _, e := range o.history.Evaluations {
		all = append(all, e.Mean)
	}
	return all
}

// ChildrenRead delivers the current contents of the children's journals.
type ChildrenRead struct {
	Group    int // index of the group
	Children []ChildRun
}

// ForkEvery is the time between two reads of the children's journals.
const ForkEvery = 3 * time.Second

// replayedEvery is the time between two looks at them in a replay, which has read them already.
const replayedEvery = ForkEvery / 10

// ReadJournals reads, every ForkEvery, the journals of the children that are not done; in a replay it
// shows them as they were at the time that it has come to.
func (p *Pane) ReadJournals() tea.Cmd {
	now, until, every := p.Now(), time.Time{}, ForkEvery
	if r, plays := p.Lab.(interface{ Time() time.Time }); plays && p.About.Replay {
		until, every = r.Time(), replayedEvery
	}
	if p.NextAt.After(now) || p.reading > 0 && !p.NextAt.IsZero() {
		return nil
	}
	var all []tea.Cmd
	for i := range p.Groups {
		if b := &p.Groups[i]; !b.over() || !until.IsZero() {
			children := append([]ChildRun(nil), b.Children...)
			load := p.About.LoadFork
			all = append(all, func() tea.Msg {
				for i := range children {
					children[i] = children[i].Look(load, until)
				}
				return ChildrenRead{Group: i, Children: children}
			})
		}
	}
	p.NextAt, p.reading = now.Add(every), len(all)
	if len(all) == 0 {
		return nil
	}
	return tea.Batch(all...)
}

// Look reads a child's journal, unless it is done; only what is in it until then, if that is not zero.
func (o ChildRun) Look(load func(string) ([]event.Event, error), until time.Time) ChildRun {
	switch replayed := !until.IsZero(); {
	case replayed:
		o.step, o.done, o.failed = o.From, false, nil
	case o.done || o.failed != nil:
		return o
	}
	if o.Failed != nil {
		err := o.Failed() // before the journal is read, whose end may come with the failure
		if o.stopped = err; !errors.Is(err, pane.ErrStopped) {
			o.failed, o.stopped = err, nil
		}
	}
	events := o.played
	if events == nil {
		size := journalSize(o.Dir)
		if size > 0 && size == o.read && until.IsZero() {
			return o // it has nothing new
		}
		o.read = size
		var err error
		if events, err = load(o.Dir); err != nil {
			return o // not started yet
		}
		if !until.IsZero() {
			o.played = events
		}
	}
	h := history.New(0, 0)
	for _, e := range events {
		if !until.IsZero() && e.Wall.After(until) {
			break
		}
		if e.Step <= o.From && o.From > 0 {
			continue // belongs to the parent
		}
		o.step = max(o.step, e.Step)
		h.Take(e)
		switch body := e.Body.(type) {
		case event.Done:
			o.done = e.Step >= o.To
		case event.Failed:
			if o.failed == nil {
				o.failed = errors.New(body.Error)
			}
		}
	}
	o.history = h
	return o
}

// journalSize is how many bytes the journal of a run has; 0 if that is unknown.
func journalSize(dir string) int64 {
	info, err := os.Lstat(filepath.Join(dir, run.JournalName))
	if err != nil {
		return 0
	}
	return info.Size()
}

// TakeChildren takes over what was read from the journals.
func (p *Pane) TakeChildren(msg ChildrenRead) {
	p.reading = max(0, p.reading-1)
	if msg.Group >= len(p.Groups) || len(msg.Children) == 0 || p.Groups[msg.Group].Children[0].Dir != msg.Children[0].Dir {
		return // a replay was wound back meanwhile
	}
	b := &p.Groups[msg.Group]
	was := b.over()
	b.Children = msg.Children
	p.judge()
	p.noteLook(b)
	if b == p.newest() && !b.over() && !b.hidden { // they train: also those that another screen made
		p.shown = true
	}
	if b.live() && b.over() && !was {
		p.Tell(p.titleOf(b.forked) + ": " + firstPart(p.verdictOf(b)) + "; 0 shows it")
	}
	p.draw()
}

// settled says whether a child trains no longer and counts.
func (o ChildRun) settled() bool { return o.done || o.failed != nil }

// over says whether all children of a forkGroup are done or given up.
func (b *forkGroup) over() bool {
	for _, c := range b.Children {
		if !c.settled() && c.stopped == nil {
			return false
		}
	}
	return true
}

// live says whether the children are, or were, trained by the process of this screen.
func (b *forkGroup) live() bool {
	return slices.ContainsFunc(b.Children, func(c ChildRun) bool { return c.Failed != nil })
}

// placebo says whether nothing was changed but the random streams.
func (b *forkGroup) placebo() bool { return len(b.Set) == 0 && !b.Confirm }

// Over is how many groups of children are over.
func (p *Pane) Over() (n int) {
	for i := range p.Groups {
		if b := &p.Groups[i]; b.live() && b.over() {
			n++
		}
	}
	return n
}

// Under counts the children of the groups that are not over: how many are done, and of how many.
func (p *Pane) Under() (done, of int) {
	for i := range p.Groups {
		if b := &p.Groups[i]; b.live() && !b.over() {
			for _, c := range b.Children {
				if of++; c.settled() || c.stopped != nil {
					done++
				}
			}
		}
	}
	return done, of
}

// Returns are the scores of changed and control children in the newest group that is over, and
// whether they are seen to differ: 1 if changed ones return more, -1 if they return less.
func (p *Pane) Returns() (changed, control []float64, seen int) {
	for i := len(p.Groups) - 1; i >= 0; i-- {
		b := &p.Groups[i]
		if !b.live() || !b.over() {
			continue
		}
		batch := p.batch(b, p.least(b))
		for k, v := range batch.Scores {
			switch {
			case math.IsNaN(v):
			case batch.Changed[k]:
				changed = append(changed, v)
			default:
				control = append(control, v)
			}
		}
		return changed, control, map[fan.Verdict]int{fan.Better: 1, fan.Worse: -1}[b.result.Verdict]
	}
	return nil, nil, 0
}

// Unfinished counts the children that are still to be trained by the process of this screen.
func (p *Pane) Unfinished() (n int) {
	for i := range p.Groups {
		for _, c := range p.Groups[i].Children {
			if p.Groups[i].live() && !c.settled() && c.stopped == nil {
				n++
			}
		}
	}
	return n
}

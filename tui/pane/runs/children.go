package runs

import (
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
)

// ChildRun is a child as known from its journal.
type ChildRun struct {
	pane.Child
	step    int
	done    bool
	failed  error
	returns map[int]float64 // mean returns of evaluations after the fork, over all seeds, by step
}

// ChildrenRead delivers the current contents of the children's journals.
type ChildrenRead struct {
	Group    int // index of the group
	Children []ChildRun
}

// ForkEvery is the time between two reads of the children's journals.
const ForkEvery = 3 * time.Second

// ReadJournals reads, every ForkEvery, the journals of the children that are not done.
func (p *Pane) ReadJournals() tea.Cmd {
	now := p.Now()
	if p.NextAt.After(now) {
		return nil
	}
	var all []tea.Cmd
	for i := range p.Groups {
		if b := &p.Groups[i]; !b.over() {
			children := append([]ChildRun(nil), b.Children...)
			load := p.About.LoadRun
			all = append(all, func() tea.Msg {
				for i := range children {
					children[i] = children[i].Look(load)
				}
				return ChildrenRead{Group: i, Children: children}
			})
		}
	}
	p.NextAt = now.Add(ForkEvery)
	if len(all) == 0 {
		return nil
	}
	return tea.Batch(all...)
}

// Look reads a child's journal, unless it is done.
func (o ChildRun) Look(load func(string) ([]event.Event, error)) ChildRun {
	if o.done || o.failed != nil {
		return o
	}
	if o.Failed != nil {
		o.failed = o.Failed() // before the journal is read, whose end may come with the failure
	}
	events, err := load(o.Dir)
	if err != nil {
		return o // not started yet
	}
	h := history.New(0, 0)
	for _, e := range events {
		if e.Step <= o.From && o.From > 0 {
			continue // belongs to the parent
		}
		o.step = max(o.step, e.Step)
		switch e.Body.(type) {
		case event.Evaluated:
			h.Take(e)
		case event.Done:
			o.done = e.Step >= o.To
		}
	}
	o.returns = map[int]float64{}
	for _, v := range h.Evaluations {
		o.returns[v.Step] = v.Mean
	}
	return o
}

// TakeChildren takes over what was read from the journals.
func (p *Pane) TakeChildren(msg ChildrenRead) {
	b := &p.Groups[msg.Group]
	was := b.over()
	b.Children = msg.Children
	if d := b.Differences(); b.over() && !was && len(d) > 0 {
		band, pairs := p.Band(b.Steps)
		verdict, _, _ := strings.Cut(p.verdictOf(b, d, band, pairs), ";")
		p.Tell(b.title + ": " + verdict + "; :pane runs")
	}
	p.TouchPane(pane.Runs)
	if p.Visible(pane.Runs) {
		p.Changed()
	}
}

// over says whether all children of a forkGroup are done or given up.
func (b *forkGroup) over() bool {
	for _, c := range b.Children {
		if !c.done && c.failed == nil {
			return false
		}
	}
	return true
}

// placebo says whether nothing was changed but the random streams.
func (b *forkGroup) placebo() bool { return len(b.Set) == 0 && !b.Confirm }

// Differences are the results of the pairs that are done: the changed child's return minus the
// other's.
func (b *forkGroup) Differences() (out []float64) {
	for _, r := range b.returns() {
		out = append(out, r[1]-r[0])
	}
	return out
}

// returns are the mean returns of both children of each pair that is done, over the evaluations
// after the fork that both have; the changed child comes second.
func (b *forkGroup) returns() (out [][2]float64) {
	for p := range b.Pairs {
		var pair [2]*ChildRun
		for i := range b.Children {
			c := &b.Children[i]
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
		sum, n := [2]float64{}, 0.0
		for step, r := range pair[1].returns {
			if control, ok := pair[0].returns[step]; ok {
				sum[0], sum[1], n = sum[0]+control, sum[1]+r, n+1
			}
		}
		if n > 0 {
			out = append(out, [2]float64{sum[0] / n, sum[1] / n})
		}
	}
	return out
}

// Over is how many groups of children are over.
func (p *Pane) Over() (n int) {
	for i := range p.Groups {
		if p.Groups[i].over() {
			n++
		}
	}
	return n
}

// Under counts the children of the groups that are not over: how many are done, and of how many.
func (p *Pane) Under() (done, of int) {
	for i := range p.Groups {
		if b := &p.Groups[i]; !b.over() {
			for _, c := range b.Children {
				if of++; c.done || c.failed != nil {
					done++
				}
			}
		}
	}
	return done, of
}

// Returns are the mean returns after the fork of changed and control children, by pairs, in the
// newest group that is over.
func (p *Pane) Returns() (changed, control []float64) {
	for i := len(p.Groups) - 1; i >= 0; i-- {
		if b := &p.Groups[i]; b.over() {
			for _, r := range b.returns() {
				control, changed = append(control, r[0]), append(changed, r[1])
			}
			return changed, control
		}
	}
	return nil, nil
}

// Unfinished counts the children that are still to be trained.
func (p *Pane) Unfinished() (n int) {
	for _, b := range p.Groups {
		for _, c := range b.Children {
			if !c.done && c.failed == nil {
				n++
			}
		}
	}
	return n
}

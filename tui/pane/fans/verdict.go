package fans

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/fan"
	"pgrlab/core/run"
	"pgrlab/tui/format"
	"pgrlab/tui/theme"
)

// question are the groups up to b that ask the same, the oldest first: those made later are added to
// those before. What a knob was changed from is part of what is asked.
func (p *Pane) question(b *forkGroup) (all []*forkGroup) {
	for i := range p.Groups {
		if g := &p.Groups[i]; slices.Equal(g.forked.Changes, b.forked.Changes) && slices.Equal(g.forked.Schedule, b.forked.Schedule) && g.forked.Steps == b.forked.Steps {
			all = append(all, g)
		}
		if &p.Groups[i] == b {
			break
		}
	}
	return all
}

// least is the least return that is known of the task.
func (p *Pane) least(b *forkGroup) float64 {
	var all [][]float64
	for _, g := range p.question(b) {
		for _, c := range g.Children {
			all = append(all, c.evaluations())
		}
	}
	return fan.Least(all...)
}

// batch are the scores of a group.
func (p *Pane) batch(b *forkGroup, least float64) fan.Batch {
	return b.scores(b.due(p.About.Config), least)
}

// scores are those of a group over as many evaluations.
func (b *forkGroup) scores(evaluations int, least float64) fan.Batch {
	var all []fan.Fork
	for _, c := range b.Children {
		all = append(all, fan.Fork{Changed: c.Changed, Returns: c.evaluations(), Failed: c.failed != nil})
	}
	return fan.NewBatch(all, evaluations, least)
}

// due is the number of evaluations that each child makes.
func (b *forkGroup) due(c config.Config) int {
	c.Steps, c.Evaluation.Every = b.Children[0].To, b.Every
	return c.Evaluations(b.Children[0].From)
}

// made is the number of evaluations that all children have made that count.
func (b *forkGroup) made() int {
	least := -1
	for _, c := range b.Children {
		if n := len(c.history.Evaluations); c.failed == nil && (least < 0 || n < least) {
			least = n
		}
	}
	return max(0, least)
}

// judge finds the results of the groups whose children have made more evaluations than before.
func (p *Pane) judge() {
	for i := range p.Groups {
		b := &p.Groups[i]
		known, before := 1, 0 // so that 0 is never judged
		var batches []fan.Batch
		for _, g := range p.question(b) {
			batches = append(batches, p.batch(g, p.least(b)))
			for _, c := range g.Children {
				if known += len(c.history.Evaluations); c.failed != nil {
					known++
				}
			}
			if g != b {
				before += len(g.Children)
			}
		}
		if b.judged != known {
			b.result, b.before, b.judged = fan.Judge(batches), before, known
		}
	}
}

// noteLook has the newest look at the forks that this process made written into the journal.
func (p *Pane) noteLook(b *forkGroup) {
	r := b.result
	if !b.live() || r.Look <= b.noted || p.About.Look == nil || r.Verdict == fan.TooFew {
		return
	}
	b.noted = r.Look
	early := r.Look == 1 && r.Looks > 1
	batch := p.batch(b, p.least(b))
	scores := batch.Scores
	if early {
		scores = batch.Early
	}
	l := event.Looked{
		Dir: filepath.Base(b.Children[0].Dir), Look: r.Look, Looks: r.Looks, Scores: run.Floats(scores),
		Difference: run.Float(r.Difference), Low: run.Float(r.Low), High: run.Float(r.High), AsMuch: r.AsMuch, Dealings: r.Dealings,
		Verdict: p.verdictOf(b),
	}
	look := p.About.Look
	p.StartLater(func() tea.Msg {
		if err := look(l); err != nil {
			return Forked{err: fmt.Errorf("the look is not in the journal: %w", err)}
		}
		return nil
	})
}

// verdictOf says what the children show.
func (p *Pane) verdictOf(b *forkGroup) string {
	r := b.result
	text := r.Words(b.Each, format.Signed)
	switch {
	case r.Verdict == fan.Waiting:
		text = "the first look comes " + p.lookAt(b)
	case b.placebo() && r.Verdict == fan.NotSeen:
		text = "nothing was changed, and nothing is seen; " + text
	case b.placebo() && r.Verdict != fan.TooFew:
		text = fmt.Sprintf("a false verdict, as up to %.3g of 100 placebos give: nothing was changed; ", 100*r.Spend) + text
	}
	if r.Look > 0 && r.Next != fan.Nowhere && r.Verdict == fan.NotSeen {
		text += "; the next one comes " + p.lookAt(b)
	}
	if b.before > 0 {
		text += fmt.Sprintf("; with the %d forks before", b.before)
	}
	if n := b.stopped(); n > 0 {
		text += fmt.Sprintf("; %d of %d stopped before their end", n, len(b.Children))
	}
	return text
}

// lookAt says where the next look is.
func (p *Pane) lookAt(b *forkGroup) string {
	due := b.due(p.About.Config)
	if b.result.Next == fan.Early {
		return fmt.Sprintf("at evaluation %d of %d", fan.EarlyOf(due), due)
	}
	return fmt.Sprintf("at evaluation %d of %d, the last", due, due)
}

// stopped counts the children that stopped before their end.
func (b *forkGroup) stopped() (n int) {
	for _, c := range b.Children {
		if c.stopped != nil && !c.settled() {
			n++
		}
	}
	return n
}

// holds says for what a verdict holds.
func (p *Pane) holds(b *forkGroup) string {
	switch {
	case b.placebo() || b.result.Verdict != fan.Better && b.result.Verdict != fan.Worse:
		return ""
	case b.Confirm:
		return fmt.Sprintf("It holds over seeds, for runs of %s steps.", format.Count(b.Steps))
	}
	return fmt.Sprintf("It holds from step %s of this run, over %s steps; :confirm asks other seeds.", format.Count(b.Children[0].From), format.Count(b.Steps))
}

// several warns of many verdicts: each may be false by chance.
func (p *Pane) several() string {
	questions := map[*forkGroup]bool{} // by their first group
	for i := range p.Groups {
		if b := &p.Groups[i]; !b.placebo() && b.result.Verdict != fan.TooFew {
			questions[p.question(b)[0]] = true
		}
	}
	n := len(questions)
	if n < 2 {
		return ""
	}
	return fmt.Sprintf("%d questions were asked of this run: where none of the changes does anything, up to %s of such runs have a verdict.", n, format.Percent(fan.AnyFalse(n)))
}

// firstPart is what a verdict says first.
func firstPart(text string) string {
	first, _, _ := strings.Cut(text, ";")
	return first
}

// VerdictInk colours only a verdict.
func (p *Pane) VerdictInk(b *forkGroup) theme.Ink {
	switch {
	case b.placebo():
		return p.Theme.Text
	case b.result.Verdict == fan.Better:
		return p.Theme.Good
	case b.result.Verdict == fan.Worse:
		return p.Theme.Bad
	}
	return p.Theme.Text
}

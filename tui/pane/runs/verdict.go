package runs

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pgrlab/core/fan"
	"pgrlab/tui/format"
	"pgrlab/tui/theme"
)

// question are the groups up to b that ask the same, the oldest first: those made later are added to
// those before.
func (p *Pane) question(b *forkGroup) (all []*forkGroup) {
	for i := range p.Groups {
		if g := &p.Groups[i]; slices.Equal(g.Set, b.Set) && g.Steps == b.Steps && g.Confirm == b.Confirm {
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

// evaluations are the mean returns after the fork.
func (o ChildRun) evaluations() (all []float64) {
	for _, r := range o.returns {
		all = append(all, r)
	}
	slices.Sort(all) // a map has no order, and a sum depends on it
	return all
}

// batch are the scores of a group.
func (p *Pane) batch(b *forkGroup, least float64) (batch fan.Batch) {
	due := 0
	for _, c := range b.Children {
		due = max(due, len(c.returns))
	}
	for _, c := range b.Children {
		score := math.NaN()
		if c.settled() {
			score = fan.Score(c.evaluations(), max(due, 1), c.failed != nil, least)
		}
		batch.Changed, batch.Scores = append(batch.Changed, c.Changed), append(batch.Scores, score)
	}
	return batch
}

// judge finds the results of the groups of which more children are done than before.
func (p *Pane) judge() {
	for i := range p.Groups {
		b := &p.Groups[i]
		groups, least := p.question(b), p.least(b)
		settled, before := 1, 0 // so that 0 is never judged
		var batches []fan.Batch
		for _, g := range groups {
			batches = append(batches, p.batch(g, least))
			for _, c := range g.Children {
				if c.settled() {
					settled++
				}
			}
			if g != b {
				before += len(g.Children)
			}
		}
		if b.judged != settled {
			b.result, b.before, b.judged = fan.Judge(batches), before, settled
		}
	}
}

// verdictOf says what the children show.
func (p *Pane) verdictOf(b *forkGroup) string {
	r := b.result
	text := r.Words(b.Each, format.Signed)
	switch {
	case r.Verdict == fan.Waiting:
		text = fmt.Sprintf("the first look comes when %d of %d are done", r.Next, len(b.Children))
	case b.placebo() && r.Verdict == fan.NotSeen:
		text = "nothing was changed, and nothing is seen; " + text
	case b.placebo() && r.Verdict != fan.TooFew:
		text = "a false verdict, as 3 of 100 placebos give: nothing was changed; " + text
	}
	if r.Look > 0 && r.Next > 0 && r.Verdict == fan.NotSeen {
		text += fmt.Sprintf("; the next look comes when %d of %d are done", r.Next-b.before, len(b.Children))
	}
	if b.before > 0 {
		text += fmt.Sprintf("; with the %d children before", b.before)
	}
	if n := b.stopped(); n > 0 {
		text += fmt.Sprintf("; %d of %d stopped before their end", n, len(b.Children))
	}
	return text
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
	questions := map[string]bool{}
	for i := range p.Groups {
		if b := &p.Groups[i]; !b.placebo() && b.result.Verdict != fan.TooFew {
			questions[fmt.Sprint(b.Set, b.Steps, b.Confirm)] = true
		}
	}
	n := len(questions)
	if n < 2 {
		return ""
	}
	return fmt.Sprintf("%d questions were asked of this run: where none of the changes does anything, up to %s of such runs have a verdict.", n, format.Percent(1-math.Pow(0.95, float64(n))))
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

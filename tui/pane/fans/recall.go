package fans

import (
	"fmt"
	"slices"
	"strings"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/format"
	"pgrlab/tui/pane"
)

// recall lists the forks that a line of the journal names, unless they are listed already.
func (p *Pane) recall(made event.Forked) {
	b := forkGroup{ForkPlan: pane.ForkPlan{Steps: made.Steps, Every: made.Every, Confirm: len(made.Schedule) > 0}, forked: made}
	for _, c := range made.Changes {
		text := c.Knob + "=" + c.To
		if c.Now {
			text += "!"
		}
		b.Set = append(b.Set, text)
	}
	for _, f := range made.Forks {
		dir := pane.ForkFolder(p.About.Folder, f.Dir)
		if dir == "" {
			return
		}
		c := pane.Child{Dir: dir, Changed: f.Changed, From: made.From.Step, To: made.From.Step + made.Steps}
		if f.Changed {
			b.Each++
		}
		b.Children = append(b.Children, ChildRun{Child: c, step: c.From})
	}
	listed := func(g forkGroup) bool { return g.Children[0].Dir == b.Children[0].Dir }
	if len(b.Children) == 0 || slices.ContainsFunc(p.Groups, listed) {
		return
	}
	p.Groups = append(p.Groups, b)
	p.shown = p.shown || p.About.Replay
	p.judge()
	p.draw()
}

// titleOf names what forks were made to find out.
func (p *Pane) titleOf(made event.Forked) string {
	var all []string
	for _, text := range made.Schedule {
		if c, err := knob.ParseScheduled(text); err == nil { // else it is a note
			text = fmt.Sprintf("%s %s %s at %s", p.KnobTitle(c.Knob), p.Theme.Glyphs.Arrow, c.Value, format.Count(c.At.Step))
		}
		all = append(all, text)
	}
	switch {
	case len(all) > 2:
		return fmt.Sprintf("confirm: %d changes", len(all))
	case len(all) > 0:
		return "confirm: " + strings.Join(all, ", ")
	case len(made.Changes) == 0:
		return "placebo forks"
	}
	for _, c := range made.Changes {
		name := c.Knob
		if k, err := knob.Find(c.Knob); err == nil {
			name = pane.Symbol(k)
		}
		all = append(all, fmt.Sprintf("%s %s %s %s", name, c.From, p.Theme.Glyphs.Arrow, c.To))
	}
	return strings.Join(all, ", ")
}

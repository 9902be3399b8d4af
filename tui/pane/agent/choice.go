package agent

import (
	"math"
	"slices"
	"strconv"

	"pgrlab/core/event"
	"pgrlab/tui/format"
	"pgrlab/tui/theme"
)

// percentColumns is the width of a chance.
const percentColumns = 4

// choiceFacts are the numbers of an agent that chooses one of a few actions: V(s) and the
// probability of each action, with the chosen one marked. If h lines do not suffice for all actions
// it shows the chosen one alone.
func (p *Pane) choiceFacts(now *event.Moment, h int) (out []string) {
	t := p.Theme
	label := func(name string) string { return t.Dim.On(t.Fit(name, labelColumns)) }
	if now.Chances != nil && !math.IsNaN(now.V) {
		out = append(out, label("V")+format.Number(now.V)+t.Dim.On(" of s"))
	}
	chosen := slices.Index(now.Action, 1)
	if now.Chances == nil || chosen < 0 {
		return append(out, label("action")+p.choice(chosen))
	}
	if h < len(out)+1+len(now.Chances) {
		return append(out, label("action")+t.Fit(p.choice(chosen), agentColumns-labelColumns-percentColumns)+p.chance(now, chosen))
	}
	out = append(out, label("action")+t.Dim.On("and chances by π(s)"))
	for i := range now.Chances {
		mark, ink := " ", t.Dim
		if i == chosen {
			mark, ink = t.Glyphs.Cursor, t.Bold
		}
		out = append(out, ink.On(t.Fit(mark+p.choice(i), agentColumns-percentColumns))+p.chance(now, i))
	}
	return out
}

// chance is the probability of an action, in percentColumns columns.
func (p *Pane) chance(now *event.Moment, i int) string {
	share := format.Percent(float64(now.Chances[i]))
	return p.Theme.Fit("", percentColumns-theme.Width(share)) + p.Theme.Accent.On(share)
}

// choice is the name of an action, or its number; "-": no action.
func (p *Pane) choice(i int) string {
	switch {
	case i < 0:
		return "-"
	case i < len(p.About.Choices):
		return p.About.Choices[i]
	}
	return strconv.Itoa(i + 1)
}

// Package generations shows every D_syn of a run beside the others: what it was prompted with, and what
// came out.
package generations

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/tui/format"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
	"pgrlab/tui/topic"
)

// Pane is the table of generations.
type Pane struct {
	*pane.Run
}

// New makes the pane of a run.
func New(r *pane.Run) *Pane { return &Pane{r} }

// ID names the pane.
func (p *Pane) ID() pane.ID { return pane.Generations }

// Tab is the name of the pane on the tab bar.
func (p *Pane) Tab() string { return string(pane.Generations) }

// Title is the text in the border of the pane.
func (p *Pane) Title(w int) (title, note string) {
	if n := len(p.History.Syntheses); n > 1 {
		note = theme.Longest([]string{p.Theme.Dim.On("newest first")}, w-20)
	}
	return "GENERATIONS", note
}

// Keys are those that work while the pane is in focus.
func (p *Pane) Keys() []pane.Binding { return nil }

// DependsOn are the topics that the pane shows.
func (p *Pane) DependsOn() []topic.Topic {
	return []topic.Topic{topic.Snapshot, topic.Generations, topic.Changes}
}

// Body is the newest generation against the one before it in words, and a row for each.
func (p *Pane) Body(w, h int) []string {
	all := p.History.Syntheses
	switch {
	case !p.Generates():
		return p.Waiting(p.About.Config.Method+" has no generator", w, h)
	case len(all) == 0:
		return p.Waiting("no generation yet", w, h)
	}
	table := p.table(all, w)
	words := theme.Wrap(p.Spelled(p.against(all)), w)
	if len(all) == 1 && p.Dreams() {
		words = theme.Wrap("change ω, F, k or the fit: each change makes a generation, which stands here beside the ones before", w)
	}
	if h < len(words)+4 { // the numbers matter more
		words = nil
	}
	room := h - len(words)
	if len(words) > 0 {
		room--
	}
	out := table[:min(len(table), max(2, room))]
	if len(words) > 0 {
		out = append(out, "")
		for _, l := range words {
			out = append(out, p.Theme.Dim.On(l))
		}
	}
	return out
}

// column is a quantity of a generation.
type column struct {
	name  string
	width int
	value func(p *Pane, i int) string
}

// columns are in the order in which they stand; rank says which of them go first where there is no room.
var columns = []column{
	{"", 6, (*Pane).number},
	{"F", 10, func(p *Pane, i int) string { return p.knob(i, "relevance") }},
	{"ω", 5, func(p *Pane, i int) string { return p.knob(i, "guidance") }},
	{"k", 5, func(p *Pane, i int) string { return p.knob(i, "top_fraction") }},
	{"N", 4, func(p *Pane, i int) string { return p.knob(i, "sampler_steps") }},
	{"F asked", 9, func(p *Pane, i int) string { return median(p.f(i).Asked) }},
	{"got", 9, func(p *Pane, i int) string { return median(p.f(i).Achieved) }},
	{"obeyed", 7, func(p *Pane, i int) string { return number(history.Optional(p.described(i).RankCorrelation)) }},
	{"s'-s err", 9, func(p *Pane, i int) string { return number(float64(p.dynamics(i).Change)) }},
	{"r error", 8, func(p *Pane, i int) string { return number(float64(p.dynamics(i).RewardRelative)) }},
	{"outside s", 10, func(p *Pane, i int) string { return share(p.described(i).OutsideStates) }},
	{"covered", 8, func(p *Pane, i int) string { return share(p.described(i).Coverage) }},
	{"copies", 7, func(p *Pane, i int) string { return share(p.described(i).Copies) }},
	{"took", 6, func(p *Pane, i int) string {
		if p.History.Syntheses[i].Seconds == 0 {
			return ""
		}
		return format.Duration(format.Seconds(p.History.Syntheses[i].Seconds))
	}},
}

// dropped are the columns that go first where there is no room, in this order.
var dropped = []string{"took", "copies", "N", "outside s", "r error", "k", "F asked", "covered", "obeyed", "F", "got"}

// fitting are the columns for which there is room. A column without any value is left out.
func (p *Pane) fitting(all []history.Synthesis, w int) []column {
	fit := slices.DeleteFunc(slices.Clone(columns), func(c column) bool {
		for i := range all {
			if c.value(p, i) != "" {
				return false
			}
		}
		return true
	})
	for _, name := range dropped {
		sum := 0
		for _, c := range fit {
			sum += c.width
		}
		if sum <= w {
			break
		}
		fit = slices.DeleteFunc(fit, func(c column) bool { return c.name == name })
	}
	return fit
}

// table is a heading and a row for each generation, the newest first.
func (p *Pane) table(all []history.Synthesis, w int) []string {
	t := p.Theme
	fit := p.fitting(all, w)
	var head strings.Builder
	for _, c := range fit {
		head.WriteString(right(t.Spelled(c.name), c.width))
	}
	out := []string{t.Dim.On(t.Clip(head.String(), w))}
	for i := len(all) - 1; i >= 0; i-- {
		var line strings.Builder
		for _, c := range fit {
			line.WriteString(right(c.value(p, i), c.width))
		}
		text := t.Clip(line.String(), w)
		if i == len(all)-1 {
			text = t.Bold.On(text)
		}
		out = append(out, text)
	}
	return out
}

// number is the generation's own: the step that it was made in, which in a run without an agent counts them.
func (p *Pane) number(i int) string {
	s := p.History.Syntheses[i]
	if p.Dreams() && s.Fitted {
		return format.Count(s.Step) + " fit"
	}
	return format.Count(s.Step)
}

// knob is a knob's value when the generation was made.
func (p *Pane) knob(i int, name string) string {
	k, err := knob.Find(name)
	if err != nil || p.KnobUse(k) != nil {
		return ""
	}
	v := p.value(i, k)
	if f := p.History.Syntheses[i].F; name == "relevance" && f != nil {
		v.Text = f.Of
	}
	return k.Format(v)
}

func (p *Pane) value(i int, k knob.Knob) knob.Value {
	if v, is := p.History.Syntheses[i].Changed[k.Name]; is {
		return v
	}
	return k.Get(&p.About.Config.Knobs)
}

func (p *Pane) f(i int) event.RefitF {
	return or(p.History.Syntheses[i].F, event.RefitF{})
}

var unknown = run.Float(math.NaN())

func (p *Pane) described(i int) event.Generated {
	return or(p.History.Syntheses[i].Described, event.Generated{OutsideStates: unknown, Coverage: unknown, Copies: unknown})
}

func (p *Pane) dynamics(i int) event.Dynamics {
	return or(p.described(i).Dynamics, event.Dynamics{Change: unknown, RewardRelative: unknown})
}

// against says how the newest generation differs from the one before it.
func (p *Pane) against(all []history.Synthesis) string {
	n := len(all) - 1
	if n < 1 {
		return ""
	}
	var parts []string
	for _, k := range knob.All() {
		if from, to := p.value(n-1, k), p.value(n, k); from != to && k.Class != knob.ClassBatch {
			parts = append(parts, fmt.Sprintf("%s %s → %s", k.Title(), k.Format(from), k.Format(to)))
		}
	}
	text := cmp.Or(strings.Join(parts, ", "), "the same again") + ":"
	var found []string
	if a, b := p.f(n-1), p.f(n); a.Achieved != nil && b.Achieved != nil && a.Of == b.Of && a.At == b.At && a.Achieved.Median > 0 {
		found = append(found, fmt.Sprintf("F that came out ×%s", format.Number(float64(b.Achieved.Median/a.Achieved.Median))))
	}
	for _, c := range columns {
		switch c.name {
		case "s'-s err", "r error", "covered", "outside s":
			if from, to := c.value(p, n-1), c.value(p, n); from != "" && to != "" && from != to {
				found = append(found, fmt.Sprintf("%s %s → %s", c.name, from, to))
			}
		}
	}
	if len(found) == 0 {
		return text + " no number differs"
	}
	return text + " " + strings.Join(found, ", ")
}

func or[T any](v *T, otherwise T) T {
	if v == nil {
		return otherwise
	}
	return *v
}

func median(h *event.Histogram) string {
	if h == nil {
		return ""
	}
	return format.Number(float64(h.Median))
}

func number(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return format.Number(v)
}

func share(v run.Float) string {
	if math.IsNaN(float64(v)) {
		return ""
	}
	return format.Percent(float64(v))
}

// right puts a text at the right end of w columns, with a space before it.
func right(s string, w int) string {
	if n := theme.Width(s); n < w {
		return strings.Repeat(" ", w-n) + s
	}
	return " " + s
}

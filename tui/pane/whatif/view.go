package whatif

import (
	"fmt"
	"math"
	"strings"

	"pgrlab/core/run"
	"pgrlab/core/whatif"
	"pgrlab/tui/format"
	"pgrlab/tui/theme"
)

// Body is the state of the what-if and its table, or a proposal for one.
func (p *Pane) Body(w, h int) []string {
	out := p.status(w)
	if t := p.seen.Table; t != nil {
		out = append(out, p.table(t, w)...)
		out = append(out, "")
		out = append(out, p.verdicts(t, w)...)
		out = append(out, p.quality(t, w)...)
	}
	p.rows = len(out)
	p.top = max(0, min(p.top, len(out)-h))
	out = out[p.top:]
	if len(out) > h && h > 1 {
		out = append(out[:h-1:h-1], p.Theme.Dim.On(p.Theme.Clip(fmt.Sprintf("lines below: %d (down)", p.rows-p.top-h+1), w)))
	}
	return out
}

// status describes the what-if that is under way, or would be.
func (p *Pane) status(w int) (out []string) {
	t, s := p.Theme, p.seen
	say := func(ink theme.Ink, text string) {
		for _, l := range theme.Wrap(p.Spelled(text), w) {
			out = append(out, ink.On(l))
		}
	}
	switch {
	case p.asked != "":
		say(t.Warn, "saving the run at the end of this slice")
	case s.Under && s.Begun.IsZero():
		say(t.Warn, "reading the checkpoint of step "+format.Count(s.Step))
		p.room(say)
	case s.Under:
		text := " " + format.Percent(p.share())
		if left := p.toGo(); left > 0 {
			text += t.Dim.On("  ") + format.Duration(left) + t.Dim.On(" to go")
		}
		out = append(out, t.Bar(p.share(), max(4, min(30, w-theme.Width(text))))+text)
		say(t.Dim, fmt.Sprintf("step %s: %s; s stops it, and it ends with %s", format.Count(s.Step), s.Progress.Doing, p.owner()))
		p.room(say)
	case s.Table == nil:
		p.propose(say)
	}
	for _, err := range []error{p.failed, s.Err} {
		if err != nil && !s.Under {
			say(t.Bad, t.Glyphs.Cross+" "+err.Error())
		}
	}
	if len(out) > 0 {
		out = append(out, "")
	}
	return out
}

// starved is the share of a core below which a what-if is clearly slower than it could be.
const starved = 0.7

// room says that the what-if gets less than a core, and what can be done about it.
func (p *Pane) room(say func(theme.Ink, string)) {
	held := p.seen.Held && p.Paused()
	if held {
		say(p.Theme.Dim, "the run waits for it and goes on by itself; space resumes it before")
	}
	if core := p.seen.Core; core >= 0 && core < starved {
		text := "it gets " + format.Percent(core) + " of a core"
		switch {
		case p.Ended() || p.Paused():
			text += ": other programs have the rest"
		default:
			text += ", as the run comes first: h holds the run until it is over"
		}
		say(p.Theme.Warn, text)
	}
}

// owner is what a what-if ends with: the run's process, which goes on when a screen of another
// process is closed.
func (p *Pane) owner() string {
	if p.About.Remote {
		return "the run"
	}
	return "this screen"
}

// propose says what a what-if would compare and what it would take.
func (p *Pane) propose(say func(theme.Ink, string)) {
	t := p.Theme
	if err := p.refused(); err != nil {
		say(t.Dim, err.Error())
		return
	}
	plan, updates, usual := p.About.WhatIf.Plan()
	say(t.Text, "What if the agent had other rows to learn from? The run is saved, and beside it the agent is trained on from there: with real rows only, with unprioritized D_syn, and with D_syn as this run asks for it; D_syn as the generator makes it, and with the simulator's s' and r for the same s and a. A table separates which rows are asked for from how well they are made.")
	cost := fmt.Sprintf("%d updates, %d repeats, %d episodes: about %s critic updates of work", plan.Updates, plan.Repeats, plan.Episodes, format.Count(updates))
	speed := p.Snap.TrainingSpeed()
	if speed > 0 {
		cost += fmt.Sprintf(", %s or more at this run's speed", format.Duration(format.Seconds(float64(updates)/speed)))
	}
	cost += ", on one thread that gives way to the run. It ends with " + p.owner() + "."
	if usual > updates && speed > 0 {
		cost += fmt.Sprintf(" It is smaller than usual, which would take %s or more.", format.Duration(format.Seconds(float64(usual)/speed)))
	}
	say(t.Text, "")
	say(t.Text, cost)
	say(t.Key, "enter begins")
}

// columns says how a table is divided: the names, and a cell for each number.
type columns struct {
	name, cell int
	value      bool // the scatter of values beside returns
	spread     bool // deviations beside means
	stacked    bool // names above the numbers
}

func columnsOf(w int) columns {
	const name, wide, narrow = 22, 14, 9
	switch {
	case w >= name+4*wide:
		return columns{name: name, cell: wide, value: true, spread: true}
	case w >= name+4*narrow:
		return columns{name: name, cell: narrow, value: true}
	}
	return columns{name: name, cell: narrow, stacked: w < name+2*narrow}
}

// table has a line for each kind of requested rows and, side by side, columns for who made the
// rows.
func (p *Pane) table(found *whatif.Table, w int) []string {
	t, c := p.Theme, columnsOf(w)
	group := c.cell
	if c.value {
		group = 2 * c.cell
	}
	numbers := func(a *whatif.Arm) string {
		if a == nil {
			return t.Fit("", group)
		}
		text := t.Fit(p.cell(a.Return, c), c.cell)
		if c.value {
			text = t.Fit(p.cell(a.Scatter, c), c.cell) + text
		}
		return text
	}
	line := func(name string, first, second *whatif.Arm) string {
		return t.Fit(t.Fit(p.Spelled(name), c.name)+numbers(first)+numbers(second), w)
	}
	if c.stacked {
		c.name = 2
		line = func(name string, first, second *whatif.Arm) string {
			return t.Fit(p.Spelled(name), w) + "\n" + t.Fit("  "+numbers(first)+numbers(second), w)
		}
	}
	made, simulated := "by the generator", "by the simulator"
	if !c.value {
		made, simulated = "made", "simulated"
	}
	head := t.Fit("", c.name)
	if c.value {
		head += t.Fit("scatter", c.cell)
	}
	out := []string{t.Dim.On(t.Fit(head+"return", w)), line("agent as saved", &found.Saved, nil)}
	for i := range found.Arms {
		a := &found.Arms[i]
		if a.MadeBy == whatif.MadeBySimulator {
			continue // shown beside its twin
		}
		if i == 1 {
			out = append(out, t.Dim.On(t.Fit(t.Fit("", c.name)+t.Fit(made, group)+simulated, w)))
		}
		var twin *whatif.Arm
		for k := range found.Arms {
			if b := &found.Arms[k]; b.Rows == a.Rows && b.MadeBy == whatif.MadeBySimulator {
				twin = b
			}
		}
		out = append(out, line(a.Rows.String(), a, twin))
	}
	return strings.Split(strings.Join(out, "\n"), "\n")
}

// cell is the mean of the repeats and, if there is room, their deviation.
func (p *Pane) cell(v []run.Float, c columns) string {
	mean, deviation := whatif.Spread(v)
	if !c.spread || len(v) < 2 {
		return format.Number(mean)
	}
	return format.Number(mean) + p.Spelled(" ±"+format.Number(deviation))
}

// questions are what the findings compare, in plain words.
var questions = map[string]struct{ first, second string }{
	whatif.QuestionAsked:    {"prioritized rows", "unprioritized ones, both by the simulator"},
	whatif.QuestionMade:     {"prioritized rows as generated", "the same by the simulator"},
	whatif.QuestionSum:      {"prioritized rows", "unprioritized ones, both as generated"},
	whatif.QuestionReal:     {"prioritized rows as generated", "real rows only"},
	whatif.QuestionMadeFree: {"unprioritized rows as generated", "the same by the simulator"},
	whatif.QuestionFreeReal: {"unprioritized rows as generated", "real rows only"},
}

// verdict is a finding as a sentence, with its sign and its ink.
func (p *Pane) verdict(f whatif.Finding) (mark, text string, ink theme.Ink) {
	t := p.Theme
	q, known := questions[f.Question]
	if !known {
		q.first, q.second = f.Cells[0], f.Cells[1]
	}
	by := ""
	if f.Why != "" {
		by = ": " + f.Why
	}
	switch f.Verdict {
	case whatif.Help:
		return t.Glyphs.Check, q.first + " help more than " + q.second + by, t.Good
	case whatif.Hurt:
		return t.Glyphs.Cross, q.first + " help less than " + q.second + by, t.Bad
	case whatif.NoDifference:
		return "~", q.first + " and " + q.second + ": no difference seen", t.Text
	case whatif.Mixed:
		return "?", q.first + " against " + q.second + ": better by one measure, worse by the other", t.Warn
	}
	return "?", q.first + " against " + q.second + ": not known" + by, t.Dim
}

// verdicts are the findings in words, each with its numbers.
func (p *Pane) verdicts(found *whatif.Table, w int) (out []string) {
	t := p.Theme
	for _, f := range found.Findings {
		mark, text, ink := p.verdict(f)
		for i, l := range theme.Wrap(p.Spelled(text), w-2) {
			if i == 0 {
				l = mark + " " + l
			} else {
				l = "  " + l
			}
			out = append(out, ink.On(l))
		}
		if f.Scatter == nil || f.Return == nil {
			continue
		}
		numbers := "return " + interval(f.Return) + ", scatter " + interval(f.Scatter)
		if line := out[len(out)-1]; theme.Width(line)+3+theme.Width(numbers) <= w {
			out[len(out)-1] = t.Spread(line, t.Dim.On(numbers), w)
			continue
		}
		for _, l := range theme.Wrap(numbers, w-2) {
			out = append(out, "  "+t.Dim.On(l))
		}
	}
	about := fmt.Sprintf("Differences with 90%% intervals over %d repeats of %s updates, by one fit of each generator. Where there is no difference one verdict in five is chance, and of six at least one in two tables of three.", found.Plan.Repeats, format.Count(found.Plan.Updates))
	for _, l := range theme.Wrap(about, w) {
		out = append(out, t.Dim.On(l))
	}
	return out
}

// interval is a difference with its interval.
func interval(d *whatif.Difference) string {
	by, half := float64(d.Mean), float64(d.Half)
	if math.IsInf(half, 0) || math.IsNaN(half) {
		return format.Signed(by)
	}
	return fmt.Sprintf("%s (%s to %s)", format.Signed(by), format.Signed(by-half), format.Signed(by+half))
}

// quality says how well the generator made its rows.
func (p *Pane) quality(found *whatif.Table, w int) (out []string) {
	t := p.Theme
	for i := range found.Arms {
		a := &found.Arms[i]
		if len(a.Change) == 0 {
			continue
		}
		mean := func(v []run.Float) string {
			mean, _ := whatif.Spread(v)
			return format.Number(mean)
		}
		text := fmt.Sprintf("%s as generated: error of s' %s (a constant %s), of r %s (a constant %s)", a.Rows, mean(a.Change), mean(a.ConstantChange), mean(a.Reward), mean(a.ConstantReward))
		for _, l := range theme.Wrap(p.Spelled(text), w) {
			out = append(out, t.Dim.On(l))
		}
	}
	return out
}

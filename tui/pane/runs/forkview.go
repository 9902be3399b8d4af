package runs

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/stat"

	"pgrlab/tui/format"
	"pgrlab/tui/theme"
)

// forkLines are the children of this run, and what they show.
func (p *Pane) forkLines(w int) []string {
	var out []string
	for i := range p.Groups {
		out = append(out, p.groupLines(&p.Groups[i], w)...)
	}
	if text := p.several(); text != "" {
		out = append(out, "")
		for _, l := range theme.Wrap(text, w) {
			out = append(out, p.Theme.Warn.On(l))
		}
	}
	return out
}

func (p *Pane) groupLines(b *forkGroup, w int) []string {
	t := p.Theme
	title := t.Bold.On(t.Clip(p.Spelled(b.title), w))
	children := title + t.Dim.On(fmt.Sprintf(", %s", format.Counted(len(b.Children), "child", "children")))
	where := children + t.Dim.On(fmt.Sprintf(" over %s steps from %s", format.Count(b.Steps), format.Count(b.Children[0].From)))
	out := []string{"", theme.Longest([]string{title, children, where}, w)}
	out = append(out, p.arms(b, min(w, 72))...)
	for _, l := range theme.Wrap(p.verdictOf(b), w) {
		out = append(out, p.VerdictInk(b).On(l))
	}
	for _, l := range theme.Wrap(p.holds(b), w) {
		if l != "" {
			out = append(out, t.Dim.On(l))
		}
	}
	for _, l := range p.childLines(b, w) {
		out = append(out, t.Fit(l, w))
	}
	return out
}

// childLines are the children that are not done: how far each has come and its last return, or why it
// was given up. Of two children, which say nothing together, there is also the result of each.
func (p *Pane) childLines(b *forkGroup, w int) []string {
	t := p.Theme
	var out []string
	waiting := 0
	for i, c := range b.Children {
		name := fmt.Sprintf("child %d, %s", i+1, b.kindOf(c.Changed))
		switch {
		case c.done && b.Each == 1:
			out = append(out, b.outcome(c, w)...)
		case c.done: // it is shown as a dot
		case c.failed != nil || c.stopped != nil:
			why := c.failed
			if why == nil {
				why = c.stopped
			}
			for _, l := range theme.Wrap(fmt.Sprintf("%s %s, %s: %v", t.Glyphs.Cross, name, filepath.Base(c.Dir), why), max(8, w)) {
				out = append(out, t.Bad.On(l))
			}
		case c.step <= c.From && len(c.returns) == 0:
			waiting++
		default:
			line := t.Fit(name, 24) + t.Bar(float64(c.step-c.From)/math.Max(1, float64(c.To-c.From)), max(6, min(20, w-60))) + " " + format.Count(c.step-c.From) + t.Dim.On(" of ") + format.Count(c.To-c.From)
			if at, r, ok := c.lastReturn(); ok {
				line = theme.Longest([]string{line, line + t.Dim.On("  return ") + format.Number(r) + t.Dim.On(" at ") + format.Count(at)}, w)
			}
			out = append(out, line)
		}
	}
	if waiting > 0 {
		what := "1 child has"
		if waiting > 1 {
			what = fmt.Sprintf("%d children have", waiting)
		}
		out = append(out, t.Dim.On(what+" made no step yet"))
	}
	return out
}

// outcome is the result of a child that is done, and the folder of its run.
func (b *forkGroup) outcome(c ChildRun, w int) []string {
	text := b.kindOf(c.Changed)
	if at, r, ok := c.lastReturn(); ok {
		sum := 0.0
		for _, v := range c.returns {
			sum += v
		}
		n := len(c.returns)
		text += fmt.Sprintf(": return %s, the mean of %d %s, %s at %s", format.Number(sum/float64(n)), n, format.Plural("evaluation", n), format.Number(r), format.Count(at))
	}
	return theme.Wrap(text+"; in "+c.Dir, max(8, w))
}

// lastReturn is the newest evaluation after the fork.
func (o ChildRun) lastReturn() (step int, mean float64, ok bool) {
	for at, r := range o.returns {
		if at >= step {
			step, mean, ok = at, r, true
		}
	}
	return step, mean, ok
}

// arms draws the scores of the children that are done, those with the change above the others: a dot
// each, a digit where several share a column; behind them are mean and deviation, without a verdict.
func (p *Pane) arms(b *forkGroup, w int) []string {
	t := p.Theme
	batch := p.batch(b, p.least(b))
	var of [2][]float64
	least, most := math.Inf(1), math.Inf(-1)
	for i, v := range batch.Scores {
		if math.IsNaN(v) {
			continue
		}
		kind := 0
		if batch.Changed[i] {
			kind = 1
		}
		of[kind] = append(of[kind], v)
		least, most = math.Min(least, v), math.Max(most, v)
	}
	n := w - armName - armMean - 2
	if n < 9 || !(most > least) || math.IsInf(most-least, 0) {
		return nil
	}
	var out []string
	for _, kind := range []int{1, 0} {
		row := make([]string, n)
		for i := range row {
			row[i] = t.Faint.On(t.Glyphs.Rest)
		}
		here := map[int]int{}
		for _, v := range of[kind] {
			here[int(math.Round((v-least)/(most-least)*float64(n-1)))]++
		}
		ink, dot := t.Text, t.Glyphs.Ring
		if kind == 1 {
			ink, dot = t.Accent, t.Glyphs.Dot
		}
		for at, k := range here {
			row[at] = ink.On(dot)
			if k > 1 {
				row[at] = ink.On(fmt.Sprint(min(k, 9)))
			}
		}
		mean := ""
		if len(of[kind]) > 0 {
			m, d := stat.MeanStdDev(of[kind], nil)
			if mean = " mean " + format.Number(m); len(of[kind]) > 1 {
				mean += " " + t.Glyphs.PlusMinus + " " + format.Number(d)
			}
		}
		out = append(out, t.Fit(" "+b.kindOf(kind == 1), armName)+strings.Join(row, "")+t.Dim.On(mean))
	}
	left, right := format.Number(least), format.Number(most)+" return"
	if gap := n - theme.Width(left) - theme.Width(right); gap > 0 {
		out = append(out, t.Fit("", armName)+t.Dim.On(left+strings.Repeat(" ", gap)+right))
	}
	return out
}

// armName and armMean are the columns beside the dots.
const armName, armMean = 19, 20

// kindOf names the children with the change, or those without it.
func (b *forkGroup) kindOf(changed bool) string {
	switch {
	case b.placebo() && changed:
		return "called changed"
	case b.placebo():
		return "the others"
	case b.Confirm && changed:
		return "with the changes"
	case b.Confirm:
		return "without them"
	case changed:
		return "changed"
	default:
		return "unchanged"
	}
}

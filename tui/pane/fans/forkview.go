package fans

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"pgrlab/core/fan"
	"pgrlab/tui/format"
	"pgrlab/tui/theme"
)

// Body is what the newest forks show, and the verdicts on earlier ones.
func (p *Pane) Body(w, h int) []string {
	b := p.newest()
	if b == nil {
		return p.Waiting("f makes forks with what is staged and without it; F with nothing changed", w, h)
	}
	out := p.groupLines(b, w)
	rest := p.Groups[:len(p.Groups)-1]
	for i := range slices.Backward(rest) {
		g := &rest[i]
		out = append(out, "", p.Theme.Bold.On(p.Theme.Clip(p.Spelled(fmt.Sprintf("%s, %s", p.titleOf(g.forked), format.Counted(len(g.Children), "fork", "forks"))), w)))
		out = append(out, p.Theme.Fit(p.VerdictInk(g).On(firstPart(p.verdictOf(g))), w))
	}
	if text := p.several(); text != "" {
		out = append(out, "")
		for _, l := range theme.Wrap(text, w) {
			out = append(out, p.Theme.Warn.On(l))
		}
	}
	return out
}

// groupLines are the forks of a group: how they return, the verdict, how far they are.
func (p *Pane) groupLines(b *forkGroup, w int) []string {
	out := p.arms(b, min(w, 90))
	if line := p.interval(b, min(w, 90)); line != "" {
		out = append(out, line)
	}
	for i, l := range theme.Wrap(p.verdictOf(b), w) {
		ink := p.VerdictInk(b)
		if i == 0 && (b.result.Verdict == fan.Better || b.result.Verdict == fan.Worse) {
			l = p.Theme.Bold.On(l)
		}
		out = append(out, ink.On(l))
	}
	for _, l := range theme.Wrap(p.holds(b), w) {
		if l != "" {
			out = append(out, p.Theme.Dim.On(l))
		}
	}
	out = append(out, p.progress(b, w)...)
	for _, l := range p.childLines(b, w) {
		out = append(out, p.Theme.Fit(l, w))
	}
	return out
}

// progress is how far the forks of a group are together, and how long they still take.
func (p *Pane) progress(b *forkGroup, w int) []string {
	if b.over() {
		return nil
	}
	t := p.Theme
	gone := 0
	for _, c := range b.Children {
		if c.failed != nil || c.stopped != nil {
			gone++
		}
	}
	made, all := b.steps()
	if all == 0 {
		return nil
	}
	share := float64(made) / float64(all)
	text := fmt.Sprintf(" %s of %s steps each", format.Count(made/(len(b.Children)-gone)), format.Count(b.Steps))
	if d := p.toGo(b, share); d > 0 {
		text += ", " + format.Duration(d) + " to go"
	}
	return []string{t.Bar(share, max(6, min(24, w-theme.Width(text)))) + t.Dim.On(text)}
}

// toGo is how long the forks of a group still take: by what was planned, until each of them has made an
// evaluation, and then by their own pace; 0: unknown, as while the forks before them have all turns.
func (p *Pane) toGo(b *forkGroup, share float64) time.Duration {
	if share == 0 && p.ahead(b) {
		b.began = p.Now()
		return 0
	}
	spent := p.Now().Sub(b.began)
	switch {
	case b.began.IsZero() || p.Snap == nil:
		return 0
	case b.made() == 0:
		return max(0, p.timeOf(b.ForkPlan, len(b.Children))-spent)
	}
	return time.Duration(float64(spent) * (1 - share) / share)
}

// ahead says whether forks that were made before a group's still train.
func (p *Pane) ahead(b *forkGroup) bool {
	for i := range p.Groups {
		switch g := &p.Groups[i]; {
		case g == b:
			return false
		case g.live() && !g.over():
			return true
		}
	}
	return false
}

// NextLook is the time to the next look at the forks that train, and which one it is; false: there will be
// none, or it is not known.
func (p *Pane) NextLook() (in time.Duration, which string, known bool) {
	b := p.newest()
	if b == nil || b.over() || b.Each < fan.LeastForks {
		return 0, "", false
	}
	made, all := b.steps()
	due := b.due(p.About.Config)
	if all == 0 || due == 0 {
		return 0, "", false
	}
	share := float64(made) / float64(all)
	left, at, which := p.toGo(b, share), 1.0, "the last"
	if b.result.Look == 0 && b.result.Next == fan.Early {
		at, which = float64(fan.EarlyOf(due))/float64(due), "the first"
	}
	if left == 0 || share >= at {
		return 0, "", false
	}
	return time.Duration(float64(left) * (at - share) / (1 - share)), which, true
}

// steps are the env steps that the forks that train have made, and those that they are to make.
func (b *forkGroup) steps() (made, all int) {
	for _, c := range b.Children {
		if c.failed == nil && c.stopped == nil {
			made, all = made+max(0, c.step-c.From), all+c.To-c.From
		}
	}
	return made, all
}

// childLines are the forks that train no more without being done, and of two forks, which say nothing
// together, the result of each.
func (p *Pane) childLines(b *forkGroup, w int) []string {
	t := p.Theme
	var out []string
	for i, c := range b.Children {
		name := fmt.Sprintf("fork %d, %s", i+1, b.kindOf(c.Changed))
		switch {
		case c.done && b.Each == 1:
			out = append(out, b.outcome(c, w)...)
		case c.failed != nil || c.stopped != nil:
			why := c.failed
			if why == nil {
				why = c.stopped
			}
			for _, l := range theme.Wrap(fmt.Sprintf("%s %s, %s: %v", t.Glyphs.Cross, name, filepath.Base(c.Dir), why), max(8, w)) {
				out = append(out, t.Bad.On(l))
			}
		}
	}
	return out
}

// outcome is the result of a fork that is done, and the folder of its run.
func (b *forkGroup) outcome(c ChildRun, w int) []string {
	text := b.kindOf(c.Changed)
	if n := len(c.history.Evaluations); n > 0 {
		last := c.history.Evaluations[n-1]
		text += fmt.Sprintf(": return %s, the mean of %d %s, %s at %s", format.Number(stat.Mean(c.evaluations(), nil)), n, format.Plural("evaluation", n), format.Number(last.Mean), format.Count(last.Step))
	}
	return theme.Wrap(text+"; in "+c.Dir, max(8, w))
}

// arms draws the scores of the forks over the evaluations that all have made, those with the change
// above the others: a dot each, a digit where several share a column; after them mean and deviation,
// without a verdict.
func (p *Pane) arms(b *forkGroup, w int) []string {
	t := p.Theme
	batch := b.scores(b.made(), p.least(b))
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
	name, n := armColumns(w)
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
		ink, dot := t.Fan[0], t.Glyphs.Ring
		if kind == 1 {
			ink, dot = t.Fan[1], t.Glyphs.Dot
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
			if mean = " mean " + format.Number(m); len(of[kind]) > 1 && w >= armsWhole {
				mean += " " + t.Glyphs.PlusMinus + " " + format.Number(d)
			}
		}
		without, with := t.Chart.FanSamples()
		sample := []string{without, with}[kind]
		out = append(out, t.Fit(ink.On(sample)+" "+b.kindOf(kind == 1), name)+strings.Join(row, "")+t.Dim.On(mean))
	}
	left, right := format.Number(least), format.Number(most)+" return"
	if gap := n - theme.Width(left) - theme.Width(right); gap > 0 {
		out = append(out, t.Fit("", name)+t.Dim.On(left+strings.Repeat(" ", gap)+right))
	}
	return out
}

// interval draws the difference that a look has found, with the differences that it does not rule out.
func (p *Pane) interval(b *forkGroup, w int) string {
	t, r := p.Theme, b.result
	name, n := armColumns(w)
	if n < 9 || r.Look == 0 || math.IsNaN(r.Low) || math.IsInf(r.Low, 0) || math.IsNaN(r.High) || math.IsInf(r.High, 0) {
		return ""
	}
	low, high := min(r.Low, 0), max(r.High, 0)
	if !(high > low) {
		return ""
	}
	at := func(v float64) int { return int(math.Round((v - low) / (high - low) * float64(n-1))) }
	row := make([]string, n)
	for i := range row {
		switch {
		case i == at(r.Difference):
			row[i] = p.VerdictInk(b).On(t.Glyphs.Dot)
		case i >= at(r.Low) && i <= at(r.High):
			row[i] = t.Dim.On(t.Glyphs.Horizontal)
		case i == at(0):
			row[i] = t.Dim.On(t.Glyphs.Vertical)
		default:
			row[i] = " "
		}
	}
	if i := at(0); i != at(r.Difference) {
		row[i] = t.Dim.On(t.Glyphs.Vertical)
	}
	return t.Fit("difference", name) + strings.Join(row, "") + t.Dim.On(" "+format.Signed(r.Difference))
}

// armsWhole is the width from which deviations stand beside the means.
const armsWhole = 56

// armColumns are the columns of the names of the kinds, and of the dots beside them.
func armColumns(w int) (name, dots int) {
	if w < armsWhole {
		return 18, w - 18 - 12
	}
	return 20, w - 20 - 22
}

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

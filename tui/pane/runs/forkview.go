package runs

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"pgrlab/tui/format"
	"pgrlab/tui/theme"
)

// student are the two-sided 95% points of Student's t with 1 to 7 degrees of freedom, for two to
// eight pairs.
var student = [...]float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365}

// interval is the mean of the pairs' differences and its 95% interval, from the
// spread between pairs alone; ok is false for fewer than two pairs.
func interval(d []float64) (mean, half float64, ok bool) {
	var sum, squares float64
	for _, v := range d {
		sum += v
	}
	n := float64(len(d))
	if n == 0 {
		return math.NaN(), math.NaN(), false
	}
	mean = sum / n
	for _, v := range d {
		squares += (v - mean) * (v - mean)
	}
	if len(d) < 2 || len(d)-2 >= len(student) {
		return mean, math.NaN(), false
	}
	return mean, student[len(d)-2] * math.Sqrt(squares/(n-1)/n), true
}

// Band is the largest difference within a placebo pair over as many steps, and the number of such
// pairs; a difference inside the band can arise by chance.
func (p *Pane) Band(steps int) (width float64, pairs int) {
	for i := range p.Groups {
		if b := &p.Groups[i]; b.placebo() && b.Steps == steps {
			for _, d := range b.Differences() {
				width, pairs = math.Max(width, math.Abs(d)), pairs+1
			}
		}
	}
	return width, pairs
}

// forkLines are the children of this run: each pair a dot.
func (p *Pane) forkLines(w int) []string {
	var out []string
	for i := range p.Groups {
		out = append(out, p.groupLines(&p.Groups[i], w)...)
	}
	return out
}

func (p *Pane) groupLines(b *forkGroup, w int) []string {
	t := p.Theme
	title := t.Bold.On(t.Clip(p.Spelled(b.title), w))
	pairs := title + t.Dim.On(fmt.Sprintf(", %d %s", b.Pairs, format.Plural("pair", b.Pairs)))
	where := pairs + t.Dim.On(fmt.Sprintf(" over %s steps from %s", format.Count(b.Steps), format.Count(b.Children[0].From)))
	out := []string{"", theme.Longest([]string{title, pairs, where}, w)}
	d := b.Differences()
	band, placebos := p.Band(b.Steps)
	if b.placebo() {
		placebos = 0 // a placebo group is not compared with itself
	}
	if len(d) > 0 {
		out = append(out, p.dots(d, band, min(w, 72))...)
	}
	for _, l := range theme.Wrap(p.verdictOf(b, d, band, placebos), w) {
		out = append(out, p.VerdictInk(b, d, band, placebos).On(l))
	}
	for _, l := range p.childLines(b, w) {
		out = append(out, t.Fit(l, w))
	}
	return out
}

// childLines are the children whose pair is not done: how far each has come and its last return, or
// why it was given up. For a single pair, which cannot be shown as dots, there is also the result
// of each child.
func (p *Pane) childLines(b *forkGroup, w int) []string {
	t := p.Theme
	var out []string
	waiting := 0
	for _, c := range b.Children {
		name := fmt.Sprintf("pair %d, %s", c.Pair+1, b.kindOf(c))
		switch {
		case c.done && b.Pairs == 1:
			out = append(out, b.outcome(c, w)...)
		case c.done && !b.pairDone(c.Pair):
			line := t.Fit(name, 24) + t.Good.On(t.Glyphs.Check) + t.Dim.On(" done, its pair is not")
			if at, r, ok := c.lastReturn(); ok {
				line = theme.Longest([]string{line, line + t.Dim.On("  return ") + format.Number(r) + t.Dim.On(" at ") + format.Count(at)}, w)
			}
			out = append(out, line)
		case c.done: // the pair is shown as a dot
		case c.failed != nil:
			why := theme.Wrap(fmt.Sprintf("%s %s, %s: %v", t.Glyphs.Cross, name, filepath.Base(c.Dir), c.failed), max(8, w))
			for _, l := range why {
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

// pairDone says whether both children of a pair are done.
func (b *forkGroup) pairDone(pair int) bool {
	for _, c := range b.Children {
		if c.Pair == pair && !c.done {
			return false
		}
	}
	return true
}

// outcome is the result of a child that is done, and the folder of its run.
func (b *forkGroup) outcome(c ChildRun, w int) []string {
	text := b.kindOf(c)
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

// verdictOf says what the finished pairs show.
func (p *Pane) verdictOf(b *forkGroup, d []float64, band float64, placebos int) string {
	t := p.Theme
	switch {
	case len(d) == 0:
		return "no pair is done yet"
	case b.placebo():
		return fmt.Sprintf("by itself, the return of two children comes apart by up to %s (%d %s)", format.Number(band), len(d), format.Plural("pair", len(d)))
	}
	better := 0
	for _, v := range d {
		if v > 0 {
			better++
		}
	}
	mean, half, ok := interval(d)
	text := fmt.Sprintf("changed better in %d of %d pairs, return %s on average", better, len(d), format.Signed(mean))
	if ok {
		text += fmt.Sprintf("; 95%% interval over pairs %s..%s", format.Signed(mean-half), format.Signed(mean+half))
	} else {
		text = fmt.Sprintf("one pair, return %s: it says nothing about %s", format.Signed(mean), b.about())
	}
	if ok && math.Abs(mean) <= half {
		text += ", with 0 inside"
	}
	switch {
	case placebos == 0:
		return text + "; no placebo forks over as many steps (F) say what happens by itself"
	case math.Abs(mean) <= band:
		return text + fmt.Sprintf("; inside what happens by itself (%s%s, %d placebo %s)", t.Glyphs.PlusMinus, format.Number(band), placebos, format.Plural("pair", placebos))
	}
	return text + fmt.Sprintf("; more than what happens by itself (%s%s, %d placebo %s)", t.Glyphs.PlusMinus, format.Number(band), placebos, format.Plural("pair", placebos))
}

// about is the question that a plan answers.
func (b *forkGroup) about() string {
	if b.Confirm || len(b.Set) > 1 {
		return "the changes"
	}
	return "the knob"
}

// VerdictInk colours only a difference that stands out of the placebo band and whose interval does
// not contain 0.
func (p *Pane) VerdictInk(b *forkGroup, d []float64, band float64, placebos int) theme.Ink {
	mean, half, ok := interval(d)
	switch {
	case b.placebo() || !ok || placebos == 0 || math.Abs(mean) <= band || math.Abs(mean) <= half:
		return p.Theme.Text
	case mean > 0:
		return p.Theme.Good
	default:
		return p.Theme.Bad
	}
}

// dots draws the differences around 0: a dot each, a digit where several share a column, the
// placebo band behind them, and the interval of their mean below.
func (p *Pane) dots(d []float64, band float64, w int) []string {
	t := p.Theme
	most := band
	mean, half, ok := interval(d)
	if ok {
		most = math.Max(most, math.Abs(mean)+half)
	}
	for _, v := range d {
		most = math.Max(most, math.Abs(v))
	}
	left, right := format.Number(-most), "+"+format.Number(most)+" return"
	n := w - theme.Width(left) - theme.Width(right) - 4
	if n < 9 || !(most > 0) || math.IsInf(most, 0) {
		return nil
	}
	n -= 1 - n%2 // 0 has a column of its own
	column := func(v float64) int { return int(math.Round((v/most + 1) / 2 * float64(n-1))) }
	row := make([]string, n)
	for i := range row {
		row[i] = t.Faint.On(t.Glyphs.Rest)
		if band > 0 && i >= column(-band) && i <= column(band) {
			row[i] = t.Dim.On(t.Glyphs.Shade)
		}
	}
	row[n/2] = t.Dim.On(t.Glyphs.Vertical)
	here := map[int]int{}
	for _, v := range d {
		here[column(v)]++
	}
	for at, k := range here {
		row[at] = t.Accent.On(t.Glyphs.Dot)
		if k > 1 {
			row[at] = t.Accent.On(fmt.Sprint(min(k, 9)))
		}
	}
	pad := strings.Repeat(" ", theme.Width(left)+3)
	out := []string{" " + t.Dim.On(left) + "  " + strings.Join(row, "") + " " + t.Dim.On(right)}
	if ok && len(d) > 1 {
		bar := []rune(strings.Repeat(" ", n))
		for i := column(mean - half); i <= column(mean+half); i++ {
			bar[i] = []rune(t.Glyphs.Horizontal)[0]
		}
		bar[column(mean)] = []rune(t.Glyphs.Up)[0]
		out = append(out, pad+t.Dim.On(strings.TrimRight(string(bar), " ")))
	}
	return out
}

// kindOf names a child within its pair.
func (b *forkGroup) kindOf(c ChildRun) string {
	switch {
	case b.placebo() && c.Changed:
		return "second"
	case b.placebo():
		return "first"
	case b.Confirm && c.Changed:
		return "with the changes"
	case b.Confirm:
		return "without them"
	case c.Changed:
		return "changed"
	default:
		return "unchanged"
	}
}

package tui

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
)

// student are the two-sided 95% points of Student's t with 1 to 7 degrees of
// freedom: of two to eight pairs.
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

// band is the largest difference of a placebo pair over as many steps, and of how
// many pairs; what lies inside happens by itself.
func (m *runsPane) band(steps int) (width float64, pairs int) {
	for i := range m.groups {
		if b := &m.groups[i]; b.placebo() && b.Steps == steps {
			for _, d := range b.differences() {
				width, pairs = math.Max(width, math.Abs(d)), pairs+1
			}
		}
	}
	return width, pairs
}

// forkLines are the children of this run: each pair a dot.
func (m *runsPane) forkLines(w int) []string {
	var out []string
	for i := range m.groups {
		out = append(out, m.groupLines(&m.groups[i], w)...)
	}
	return out
}

func (m *runsPane) groupLines(b *forkGroup, w int) []string {
	t := m.theme
	title := t.bold.on(t.clip(m.spelled(b.title), w))
	pairs := title + t.dim.on(fmt.Sprintf(", %d %s", b.Pairs, plural("pair", b.Pairs)))
	where := pairs + t.dim.on(fmt.Sprintf(" over %s steps from %s", count(b.Steps), count(b.children[0].From)))
	out := []string{"", longest([]string{title, pairs, where}, w)}
	d := b.differences()
	band, placebos := m.band(b.Steps)
	if b.placebo() {
		placebos = 0 // it does not measure itself
	}
	if len(d) > 0 {
		out = append(out, m.dots(d, band, min(w, 72))...)
	}
	for _, l := range wrap(m.verdictOf(b, d, band, placebos), w) {
		out = append(out, m.verdictInk(b, d, band, placebos).on(l))
	}
	for _, l := range m.childLines(b, w) {
		out = append(out, t.fit(l, w))
	}
	return out
}

// childLines are the children whose pair is not done: how far each is, and its last
// return; or why it was given up. Of a single pair, which no dots can stand for, also
// what came of each.
func (m *runsPane) childLines(b *forkGroup, w int) []string {
	t := m.theme
	var out []string
	waiting := 0
	for _, c := range b.children {
		name := fmt.Sprintf("pair %d, %s", c.Pair+1, b.kindOf(c))
		switch {
		case c.done && b.Pairs == 1:
			out = append(out, b.outcome(c, w)...)
		case c.done && !b.pairDone(c.Pair):
			line := t.fit(name, 24) + t.good.on(t.glyphs.check) + t.dim.on(" done, its pair is not")
			if at, r, ok := c.lastReturn(); ok {
				line = longest([]string{line, line + t.dim.on("  return ") + number(r) + t.dim.on(" at ") + count(at)}, w)
			}
			out = append(out, line)
		case c.done: // the pair has a dot
		case c.failed != nil:
			why := wrap(fmt.Sprintf("%s %s, %s: %v", t.glyphs.cross, name, filepath.Base(c.Dir), c.failed), max(8, w))
			for _, l := range why {
				out = append(out, t.bad.on(l))
			}
		case c.step <= c.From && len(c.returns) == 0:
			waiting++
		default:
			line := t.fit(name, 24) + t.bar(float64(c.step-c.From)/math.Max(1, float64(c.To-c.From)), max(6, min(20, w-60))) + " " + count(c.step-c.From) + t.dim.on(" of ") + count(c.To-c.From)
			if at, r, ok := c.lastReturn(); ok {
				line = longest([]string{line, line + t.dim.on("  return ") + number(r) + t.dim.on(" at ") + count(at)}, w)
			}
			out = append(out, line)
		}
	}
	if waiting > 0 {
		what := "1 child has"
		if waiting > 1 {
			what = fmt.Sprintf("%d children have", waiting)
		}
		out = append(out, t.dim.on(what+" made no step yet"))
	}
	return out
}

// pairDone says whether both children of a pair are done.
func (b *forkGroup) pairDone(pair int) bool {
	for _, c := range b.children {
		if c.Pair == pair && !c.done {
			return false
		}
	}
	return true
}

// outcome is what came of a child that is done, and where it lies.
func (b *forkGroup) outcome(c childRun, w int) []string {
	text := b.kindOf(c)
	if at, r, ok := c.lastReturn(); ok {
		sum := 0.0
		for _, v := range c.returns {
			sum += v
		}
		n := len(c.returns)
		text += fmt.Sprintf(": return %s, the mean of %d %s, %s at %s", number(sum/float64(n)), n, plural("evaluation", n), number(r), count(at))
	}
	return wrap(text+"; in "+c.Dir, max(8, w))
}

// lastReturn is the newest evaluation behind the fork.
func (o childRun) lastReturn() (step int, mean float64, ok bool) {
	for at, r := range o.returns {
		if at >= step {
			step, mean, ok = at, r, true
		}
	}
	return step, mean, ok
}

// verdictOf says what the pairs that are done show.
func (m *runsPane) verdictOf(b *forkGroup, d []float64, band float64, placebos int) string {
	t := m.theme
	switch {
	case len(d) == 0:
		return "no pair is done yet"
	case b.placebo():
		return fmt.Sprintf("by itself, the return of two children comes apart by up to %s (%d %s)", number(band), len(d), plural("pair", len(d)))
	}
	better := 0
	for _, v := range d {
		if v > 0 {
			better++
		}
	}
	mean, half, ok := interval(d)
	text := fmt.Sprintf("changed better in %d of %d pairs, return %s on average", better, len(d), signed(mean))
	if ok {
		text += fmt.Sprintf("; 95%% interval over pairs %s..%s", signed(mean-half), signed(mean+half))
	} else {
		text = fmt.Sprintf("one pair, return %s: it says nothing about %s", signed(mean), b.about())
	}
	if ok && math.Abs(mean) <= half {
		text += ", with 0 inside"
	}
	switch {
	case placebos == 0:
		return text + "; no placebo forks over as many steps (F) say what happens by itself"
	case math.Abs(mean) <= band:
		return text + fmt.Sprintf("; inside what happens by itself (%s%s, %d placebo %s)", t.glyphs.plusMinus, number(band), placebos, plural("pair", placebos))
	}
	return text + fmt.Sprintf("; more than what happens by itself (%s%s, %d placebo %s)", t.glyphs.plusMinus, number(band), placebos, plural("pair", placebos))
}

// about is what a plan is to say something about.
func (b *forkGroup) about() string {
	if b.Confirm || len(b.Set) > 1 {
		return "the changes"
	}
	return "the knob"
}

// verdictInk colours a difference that stands out of the placebo band and whose
// interval has no 0 in it; no other.
func (m *runsPane) verdictInk(b *forkGroup, d []float64, band float64, placebos int) ink {
	mean, half, ok := interval(d)
	switch {
	case b.placebo() || !ok || placebos == 0 || math.Abs(mean) <= band || math.Abs(mean) <= half:
		return m.theme.text
	case mean > 0:
		return m.theme.good
	default:
		return m.theme.bad
	}
}

// dots draws the differences around 0: a dot each, a figure where several share a
// column, the placebo band behind them, and the interval of their mean below.
func (m *runsPane) dots(d []float64, band float64, w int) []string {
	t := m.theme
	most := band
	mean, half, ok := interval(d)
	if ok {
		most = math.Max(most, math.Abs(mean)+half)
	}
	for _, v := range d {
		most = math.Max(most, math.Abs(v))
	}
	left, right := number(-most), "+"+number(most)+" return"
	n := w - width(left) - width(right) - 4
	if n < 9 || !(most > 0) || math.IsInf(most, 0) {
		return nil
	}
	n -= 1 - n%2 // 0 has a column of its own
	column := func(v float64) int { return int(math.Round((v/most + 1) / 2 * float64(n-1))) }
	row := make([]string, n)
	for i := range row {
		row[i] = t.faint.on(t.glyphs.rest)
		if band > 0 && i >= column(-band) && i <= column(band) {
			row[i] = t.dim.on(t.glyphs.shade)
		}
	}
	row[n/2] = t.dim.on(t.glyphs.vertical)
	here := map[int]int{}
	for _, v := range d {
		here[column(v)]++
	}
	for at, k := range here {
		row[at] = t.accent.on(t.glyphs.dot)
		if k > 1 {
			row[at] = t.accent.on(fmt.Sprint(min(k, 9)))
		}
	}
	pad := strings.Repeat(" ", width(left)+3)
	out := []string{" " + t.dim.on(left) + "  " + strings.Join(row, "") + " " + t.dim.on(right)}
	if ok && len(d) > 1 {
		bar := []rune(strings.Repeat(" ", n))
		for i := column(mean - half); i <= column(mean+half); i++ {
			bar[i] = []rune(t.glyphs.horizontal)[0]
		}
		bar[column(mean)] = []rune(t.glyphs.up)[0]
		out = append(out, pad+t.dim.on(strings.TrimRight(string(bar), " ")))
	}
	return out
}

// kindOf names a child within its pair.
func (b *forkGroup) kindOf(c childRun) string {
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

package dreams

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pgrlab/core/event"
	"pgrlab/tui/format"
	"pgrlab/tui/theme"
)

// The least columns for three poses, and the least rows of one.
const (
	leastPoses    = 48
	leastPoseRows = 5
)

// captions stand above the poses, the short ones where the others have no room.
var captions = [2][3]string{
	{"s", "s' dreamt", "s' true"},
	{"s, where it begins", "s' as the generator dreamt it", "s' as the task makes it"},
}

// poses draws the three poses beside each other, in h lines and one of captions.
func (p *Pane) poses(tr *event.Truth, w, h int) []string {
	t := p.Theme
	if p.About.Draw == nil || !slices.ContainsFunc(tr.Poses[:], func(x []float64) bool { return x != nil }) {
		return nil
	}
	const gap = 2
	each := (w - 2*gap) / len(tr.Poses)
	words := captions[1]
	if slices.ContainsFunc(words[:], func(s string) bool { return theme.Width(s) > each }) {
		words = captions[0]
	}
	out := make([]string, h+1)
	for i, pose := range tr.Poses {
		var lines []string
		if pose != nil {
			canvas := p.Canvas()
			size := canvas.Scene(each, h)
			if img, err := p.About.Draw(pose, size.X, size.Y); err == nil {
				lines = canvas.Lines(img, each, h)
			}
		}
		if lines == nil {
			lines = p.Waiting("no such state", each, h)
		}
		ink := []theme.Ink{t.Dim, t.Synthetic, t.Real}[i]
		lines = append([]string{ink.On(words[i])}, t.Fill(lines, each, h)...)
		for y := range out {
			if i > 0 {
				out[y] += strings.Repeat(" ", gap)
			}
			out[y] += t.Fit(lines[y], each)
		}
	}
	return out
}

// Widths of the columns of numbers, and of a bar to each side.
const (
	nameColumn   = 18
	numberColumn = 9
	mostBar      = 12
)

// numbers is a table of the row: the reward, then the numbers of s', the most wrong ones first, each
// with its error as a bar of up to two changes of a step to each side.
func (p *Pane) numbers(row event.Dream, w int) []string {
	t, tr := p.Theme, row.Truth
	name := min(nameColumn, w/4)
	bar := max(0, min(mostBar, (w-name-3*numberColumn-8)/2))
	right := func(text string) string { return strings.Repeat(" ", max(0, numberColumn-theme.Width(text))) + text }
	line := func(label string, from, dreamt, truth float64, off float64) string {
		text := t.Dim.On(t.Fit(label, name)) + right(format.Known(from)) + t.Synthetic.On(right(format.Known(dreamt))) + t.Real.On(right(format.Known(truth)))
		if !math.IsNaN(off) && bar > 0 {
			text += "  " + p.error(off, bar) + " " + t.Dim.On(format.Signed(off))
		}
		return text
	}
	head := t.Dim.On(t.Fit("", name) + right("s") + right("dreamt") + right("true"))
	if bar > 0 {
		head += t.Dim.On("  " + theme.FirstFitting([]string{"error, in changes of a step", "error"}, 2*bar+8))
	}
	out := []string{head, line("reward", math.NaN(), row.Return, tr.Reward, math.NaN())}
	order := make([]int, len(tr.Predicted))
	for i := range order {
		order[i] = i
	}
	worst := func(i int) float64 {
		if tr.Errors == nil || math.IsNaN(tr.Errors[i]) {
			return -1
		}
		return math.Abs(tr.Errors[i])
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch x, y := worst(a), worst(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	for _, i := range order {
		truth, off := math.NaN(), math.NaN()
		if tr.True != nil {
			truth, off = float64(tr.True[i]), tr.Errors[i]
		}
		out = append(out, line(p.name(i), float64(tr.State[i]), float64(tr.Predicted[i]), truth, off))
	}
	return out
}

// name is that of a number of the observation.
func (p *Pane) name(i int) string {
	if i < len(p.About.Names) {
		return p.About.Names[i]
	}
	return fmt.Sprintf("s[%d]", i)
}

// error is an error as a bar from the middle, w columns to each side; two changes of a step fill a side.
func (p *Pane) error(off float64, w int) string {
	t := p.Theme
	n := int(math.Round(math.Min(2, math.Abs(off)) / 2 * float64(w)))
	ink := t.Good
	if math.Abs(off) >= lies {
		ink = t.Bad
	} else if math.Abs(off) >= lies/4. {
		ink = t.Warn
	}
	rest := func(n int) string { return t.Faint.On(strings.Repeat(t.Glyphs.Rest, n)) }
	bar := ink.On(strings.Repeat(t.Glyphs.Full, n))
	if off < 0 {
		return rest(w-n) + bar + t.Faint.On(t.Glyphs.Vertical) + rest(w)
	}
	return rest(w) + t.Faint.On(t.Glyphs.Vertical) + bar + rest(w-n)
}

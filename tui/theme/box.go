package theme

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Box frames body in w by h columns with a title in the upper border and a note at the border's
// right end; the lines of body are cut and padded.
func (t *Theme) Box(title, note string, body []string, w, h int, focused bool) []string {
	if w < 4 || h < 3 {
		return t.Fill(body, w, h)
	}
	g := t.Glyphs
	border, name := t.border, t.Title
	if focused {
		border, name = t.borderFocus, t.TitleFocus
		title = g.Cursor + " " + title
	}
	out := make([]string, 0, h)
	out = append(out, t.boxTop(title, note, w, border, name))
	side := border.On(g.Vertical)
	for _, line := range t.Fill(body, w-2, h-2) {
		out = append(out, side+line+side)
	}
	return append(out, border.On(g.BottomLeft+strings.Repeat(g.Horizontal, w-2)+g.BottomRight))
}

func (t *Theme) boxTop(title, note string, w int, border, name Ink) string {
	g := t.Glyphs
	if Width(title) > w-6 {
		title = ansi.Truncate(title, max(0, w-6), g.Ellipsis)
	}
	left := border.On(g.topLeft+g.titleLeft) + " " + name.On(title) + " " + border.On(g.titleRight)
	used := Width(title) + 6
	right := border.On(g.topRight)
	if note != "" && used+Width(note)+5 <= w {
		right = border.On(g.titleLeft) + " " + note + " " + border.On(g.titleRight+g.topRight)
		used += Width(note) + 4
	}
	return left + border.On(strings.Repeat(g.Horizontal, max(0, w-used))) + right
}

// Overlay lays box over the middle of lines, which are w columns wide.
func Overlay(lines, box []string, w int) []string {
	if len(box) == 0 || len(lines) == 0 {
		return lines
	}
	if Width(box[0])+2 <= w { // leave a free column on both sides
		for i := range box {
			box[i] = " " + box[i] + " "
		}
	}
	bw := Width(box[0])
	x, y := max(0, (w-bw)/2), max(0, (len(lines)-len(box))/2)
	if len(lines) < LowScreen {
		y = max(0, len(lines)-1-len(box)) // the line with the keys stays visible
	}
	out := append([]string(nil), lines...)
	for i, b := range box {
		if y+i >= len(out) {
			break
		}
		under := out[y+i]
		out[y+i] = ansi.Cut(under, 0, x) + b + ansi.Cut(under, x+bw, w)
	}
	return out
}

// Over lays the lines of a box over the left part of lines that are w columns wide.
func (t *Theme) Over(lines, box []string, w int) []string {
	out := make([]string, len(lines))
	for i := range lines {
		out[i] = t.Fit(box[i]+ansi.Cut(lines[i], Width(box[i]), w), w)
	}
	return out
}

// Indent moves lines one column to the right.
func Indent(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = " " + l
	}
	return out
}

// RuleTitle is a title on a rule across the screen.
func (t *Theme) RuleTitle(title, note string, w int) string {
	dash := t.Glyphs.Horizontal
	if Width(title)+Width(note)+8 > w {
		note = ""
	}
	end := ""
	if note != "" {
		end = " " + note + " "
	}
	rest := max(0, w-Width(title)-Width(end)-2)
	return title + " " + t.Faint.On(strings.Repeat(dash, rest)) + end + t.Faint.On(dash)
}

// Pad moves lines two columns to the right.
func Pad(lines []string) []string { return Indent(Indent(lines)) }

// LowScreen is the height below which a dialog takes as little of the screen as possible, and
// stands at its foot.
const LowScreen = 30

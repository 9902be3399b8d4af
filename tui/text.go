package tui

import (
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// width is the number of columns s takes on the terminal.
func width(s string) int { return ansi.StringWidth(s) }

// fit makes s exactly w columns wide: cut with an ellipsis or padded.
func (t *theme) fit(s string, w int) string {
	if w <= 0 {
		return ""
	}
	n := width(s)
	if n > w {
		s = ansi.Truncate(s, w, t.glyphs.ellipsis)
		n = width(s)
	}
	return s + strings.Repeat(" ", w-n)
}

// clip shortens plain text to w columns behind a clause or at least a word, so that no
// word and no number is cut in two.
func (t *theme) clip(s string, w int) string {
	if width(s) <= w {
		return s
	}
	room := w - width(t.glyphs.ellipsis)
	word, clause := 0, 0
	for i, r := range s {
		if r != ' ' || i == 0 {
			continue
		}
		if width(s[:i]) > room+1 {
			break
		}
		switch ends := strings.ContainsRune(",;:", rune(s[i-1])); {
		case ends:
			word, clause = i-1, i-1
		case width(s[:i]) <= room:
			word = i
		}
	}
	switch {
	case clause > 0 && width(s[:clause]) >= room/2:
		return s[:clause] + t.glyphs.ellipsis
	case word > 0:
		return s[:word] + t.glyphs.ellipsis
	}
	return t.fit(s, w)
}

// middle shortens s to w columns in its middle: names of runs begin alike, and end with
// what tells them apart.
func (t *theme) middle(s string, w int) string {
	if width(s) <= w {
		return s
	}
	dots := width(t.glyphs.ellipsis)
	if w <= dots+1 {
		return t.fit(s, w)
	}
	end := (w - dots) * 2 / 3
	return ansi.Truncate(s, w-dots-end, "") + t.glyphs.ellipsis + ansi.TruncateLeft(s, width(s)-end, "")
}

// spread puts left and right at the ends of w columns; the right gives way first.
func (t *theme) spread(left, right string, w int) string {
	l, r := width(left), width(right)
	if r == 0 || l+1+r > w {
		return t.fit(left, w)
	}
	return left + strings.Repeat(" ", w-l-r) + right
}

// join puts the parts that fit into w columns side by side; earlier ones matter
// more.
func join(w int, separator string, parts ...string) string {
	var b strings.Builder
	used, gap := 0, width(separator)
	for _, p := range parts {
		n := width(p)
		if n == 0 {
			continue
		}
		if used > 0 {
			n += gap
		}
		if used+n > w {
			continue
		}
		if used > 0 {
			b.WriteString(separator)
		}
		b.WriteString(p)
		used += n
	}
	return b.String()
}

// fill makes lines exactly h lines of w columns.
func (t *theme) fill(lines []string, w, h int) []string {
	out := make([]string, h)
	blank := strings.Repeat(" ", max(0, w))
	for i := range out {
		if i < len(lines) {
			out[i] = t.fit(lines[i], w)
		} else {
			out[i] = blank
		}
	}
	return out
}

// wrap breaks text at spaces into lines of at most w columns.
func wrap(text string, w int) []string {
	if w < 1 {
		return nil
	}
	var out []string
	for _, paragraph := range strings.Split(text, "\n") {
		line := ""
		for _, word := range strings.Fields(paragraph) {
			switch {
			case line == "":
				line = word
			case width(line)+1+width(word) <= w:
				line += " " + word
			default:
				out = append(out, line)
				line = word
			}
		}
		out = append(out, line)
	}
	return out
}

// bar draws a fraction in w columns, in eighths of a column where the glyphs allow.
func (t *theme) bar(fraction float64, w int) string {
	if w < 3 {
		return ""
	}
	if !(fraction > 0) {
		fraction = 0
	}
	inner := w - 2
	steps := len(t.glyphs.parts) + 1
	n := min(inner*steps, int(fraction*float64(inner*steps)))
	full := strings.Repeat(t.glyphs.full, n/steps)
	if part := n % steps; part > 0 {
		full += t.glyphs.parts[part-1]
	}
	rest := strings.Repeat(t.glyphs.rest, inner-(n+steps-1)/steps)
	return t.faint.on(t.glyphs.barLeft) + t.barFull.on(full) + t.barRest.on(rest) + t.faint.on(t.glyphs.barRight)
}

// columns draws values as bars rows high, one column each, scaled to the largest;
// the topmost row comes first. Values that are not finite or not positive are
// blank.
func (t *theme) columns(values []float64, rows int, colour ink) []string {
	most := 0.0
	for _, v := range values {
		if !math.IsInf(v, 0) {
			most = math.Max(most, v)
		}
	}
	levels := len(t.glyphs.blocks)
	out := make([]string, rows)
	for r := range rows {
		var b strings.Builder
		for _, v := range values {
			height := 0
			if most > 0 && v > 0 && !math.IsInf(v, 0) {
				height = max(1, int(math.Round(v/most*float64(rows*levels))))
			}
			switch above := height - (rows-1-r)*levels; {
			case above <= 0:
				b.WriteByte(' ')
			case above >= levels:
				b.WriteString(t.glyphs.blocks[levels-1])
			default:
				b.WriteString(t.glyphs.blocks[above-1])
			}
		}
		out[r] = colour.on(b.String())
	}
	return out
}

// trend is a sparkline in at most w columns with the range of what it draws, or
// without that where there is no room.
func (t *theme) trend(values []float64, w int) string {
	const fewest = 4 // columns that show a course
	for n := min(len(values), w); n >= min(fewest, len(values)); n-- {
		lo, hi := rangeOf(values[len(values)-n:])
		text := " " + number(lo) + ".." + number(hi)
		if lo > hi {
			text = ""
		}
		if n+width(text) <= w {
			return t.sparkline(values, n) + text
		}
	}
	return t.sparkline(values, w)
}

// rangeOf are the smallest and the largest of the finite values; lo > hi without any.
func rangeOf(values []float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			lo, hi = math.Min(lo, v), math.Max(hi, v)
		}
	}
	return lo, hi
}

// leastSpan is the least range that the height of a sparkline stands for, as a share of
// the largest magnitude in it: what changes by a few per cent does not look like a jump
// from nothing to all.
const leastSpan = 0.5

// sparkline draws the last w values between their smallest and largest, or in the middle
// of leastSpan.
func (t *theme) sparkline(values []float64, w int) string {
	if len(values) > w {
		values = values[len(values)-max(0, w):]
	}
	lo, hi := rangeOf(values)
	if least := leastSpan * math.Max(math.Abs(lo), math.Abs(hi)); hi-lo < least {
		middle := lo/2 + hi/2
		lo, hi = middle-least/2, middle+least/2
	}
	return t.sparklineIn(values, lo, hi)
}

// sparklineIn draws values between lo and hi; gaps stay blank.
func (t *theme) sparklineIn(values []float64, lo, hi float64) string {
	var b strings.Builder
	levels := len(t.glyphs.blocks)
	for _, v := range values {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			b.WriteByte(' ')
		case !(hi > lo):
			b.WriteString(t.glyphs.blocks[levels/2])
		default:
			b.WriteString(t.glyphs.blocks[max(0, min(levels-1, int((v/(hi-lo)-lo/(hi-lo))*float64(levels))))])
		}
	}
	return b.String()
}

// box frames body in w by h columns with a title in the upper border and a note at
// its right end; the lines of body are cut and padded.
func (t *theme) box(title, note string, body []string, w, h int, focused bool) []string {
	if w < 4 || h < 3 {
		return t.fill(body, w, h)
	}
	g := t.glyphs
	border, name := t.border, t.title
	if focused {
		border, name = t.borderFocus, t.titleFocus
		title = g.cursor + " " + title
	}
	out := make([]string, 0, h)
	out = append(out, t.boxTop(title, note, w, border, name))
	side := border.on(g.vertical)
	for _, line := range t.fill(body, w-2, h-2) {
		out = append(out, side+line+side)
	}
	return append(out, border.on(g.bottomLeft+strings.Repeat(g.horizontal, w-2)+g.bottomRight))
}

func (t *theme) boxTop(title, note string, w int, border, name ink) string {
	g := t.glyphs
	if width(title) > w-6 {
		title = ansi.Truncate(title, max(0, w-6), g.ellipsis)
	}
	left := border.on(g.topLeft+g.titleLeft) + " " + name.on(title) + " " + border.on(g.titleRight)
	used := width(title) + 6
	right := border.on(g.topRight)
	if note != "" && used+width(note)+5 <= w {
		right = border.on(g.titleLeft) + " " + note + " " + border.on(g.titleRight+g.topRight)
		used += width(note) + 4
	}
	return left + border.on(strings.Repeat(g.horizontal, max(0, w-used))) + right
}

// longest is the widest of the notes that fits into w columns.
func longest(notes []string, w int) string {
	best := ""
	for _, n := range notes {
		if k := width(n); k <= w && k > width(best) {
			best = n
		}
	}
	return best
}

// firstFitting is the first of the notes that fits into w columns.
func firstFitting(notes []string, w int) string {
	for _, n := range notes {
		if width(n) <= w {
			return n
		}
	}
	return ""
}

// wrapStyled wraps text that may hold escape sequences.
func wrapStyled(s string, w int) []string {
	if width(s) <= w {
		return []string{s}
	}
	return strings.Split(ansi.Wordwrap(s, max(1, w), " "), "\n")
}

// overlay lays box over the middle of lines, which are w columns wide.
func overlay(lines, box []string, w int) []string {
	if len(box) == 0 || len(lines) == 0 {
		return lines
	}
	if width(box[0])+2 <= w { // a column of air on both sides
		for i := range box {
			box[i] = " " + box[i] + " "
		}
	}
	bw := width(box[0])
	x, y := max(0, (w-bw)/2), max(0, (len(lines)-len(box))/2)
	if len(lines) < lowScreen {
		y = max(0, len(lines)-1-len(box)) // the line with the keys stays
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

// over lays the lines of a box over the left of lines that are w columns wide.
func (t *theme) over(lines, box []string, w int) []string {
	out := make([]string, len(lines))
	for i := range lines {
		out[i] = t.fit(box[i]+ansi.Cut(lines[i], width(box[i]), w), w)
	}
	return out
}

// indent moves lines one column to the right.
func indent(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = " " + l
	}
	return out
}

// ruleTitle is a title on a rule across the screen.
func (t *theme) ruleTitle(title, note string, w int) string {
	dash := t.glyphs.horizontal
	if width(title)+width(note)+8 > w {
		note = ""
	}
	end := ""
	if note != "" {
		end = " " + note + " "
	}
	rest := max(0, w-width(title)-width(end)-2)
	return title + " " + t.faint.on(strings.Repeat(dash, rest)) + end + t.faint.on(dash)
}

// asciiOnly replaces every character outside ASCII by one inside, width for width.
func asciiOnly(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 {
			return r
		}
		if a, ok := asciiFor[r]; ok {
			return a
		}
		return '?'
	}, s)
}

var asciiFor = map[rune]rune{
	'ω': 'w', 'α': 'a', 'τ': 't', 'π': 'p', 'μ': 'u', 'σ': 's', 'γ': 'g', 'λ': 'l', 'ε': 'e', 'β': 'b',
	'±': '~', '·': '-', '→': '>', '←': '<', '…': '~', '−': '-', '≤': '<', '≥': '>', '×': 'x', '–': '-', '—': '-',
	'²': '2', '≈': '~', '√': 'v', '½': '.', 'Σ': 'S', '▸': '>', '●': '*', '○': 'o',
}

// pad moves lines two columns to the right.
func pad(lines []string) []string { return indent(indent(lines)) }

// hang wraps text behind a name of n columns.
func hang(name string, n int, text string, w int) []string {
	lines := wrap(text, max(10, w-n))
	for i := range lines {
		if i == 0 {
			lines[i] = name + lines[i]
		} else {
			lines[i] = strings.Repeat(" ", n) + lines[i]
		}
	}
	return lines
}

// keyLabel draws the arrows of a label where the glyphs have them.
func (t *theme) keyLabel(label string) string {
	switch label {
	case "left right":
		return t.glyphs.left + t.glyphs.right
	case "up down":
		return t.glyphs.up + t.glyphs.down
	case "up down left right":
		return t.keyLabel("up down") + t.keyLabel("left right")
	}
	words := strings.Fields(label)
	for i, w := range words {
		switch w {
		case "up":
			words[i] = t.glyphs.up
		case "down":
			words[i] = t.glyphs.down
		case "left":
			words[i] = t.glyphs.left
		case "right":
			words[i] = t.glyphs.right
		}
	}
	return strings.Join(words, " ")
}

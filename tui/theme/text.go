package theme

import (
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"pgrlab/tui/format"
)

// Width is the number of columns s takes on the terminal.
func Width(s string) int { return ansi.StringWidth(s) }

// Fit makes s exactly w columns wide: cut with an ellipsis or padded.
func (t *Theme) Fit(s string, w int) string {
	if w <= 0 {
		return ""
	}
	n := Width(s)
	if n > w {
		s = ansi.Truncate(s, w, t.Glyphs.Ellipsis)
		n = Width(s)
	}
	return s + strings.Repeat(" ", w-n)
}

// Clip shortens plain text to w columns behind a clause or at least a word, so that no
// word and no number is cut in two.
func (t *Theme) Clip(s string, w int) string {
	if Width(s) <= w {
		return s
	}
	room := w - Width(t.Glyphs.Ellipsis)
	word, clause := 0, 0
	for i, r := range s {
		if r != ' ' || i == 0 {
			continue
		}
		if Width(s[:i]) > room+1 {
			break
		}
		switch ends := strings.ContainsRune(",;:", rune(s[i-1])); {
		case ends:
			word, clause = i-1, i-1
		case Width(s[:i]) <= room:
			word = i
		}
	}
	switch {
	case clause > 0 && Width(s[:clause]) >= room/2:
		return s[:clause] + t.Glyphs.Ellipsis
	case word > 0:
		return s[:word] + t.Glyphs.Ellipsis
	}
	return t.Fit(s, w)
}

// Middle shortens s to w columns in its middle: names of runs begin alike, and end with
// what tells them apart.
func (t *Theme) Middle(s string, w int) string {
	if Width(s) <= w {
		return s
	}
	dots := Width(t.Glyphs.Ellipsis)
	if w <= dots+1 {
		return t.Fit(s, w)
	}
	end := (w - dots) * 2 / 3
	return ansi.Truncate(s, w-dots-end, "") + t.Glyphs.Ellipsis + ansi.TruncateLeft(s, Width(s)-end, "")
}

// Spread puts left and right at the ends of w columns; the right gives way first.
func (t *Theme) Spread(left, right string, w int) string {
	l, r := Width(left), Width(right)
	if r == 0 || l+1+r > w {
		return t.Fit(left, w)
	}
	return left + strings.Repeat(" ", w-l-r) + right
}

// Join puts the parts that fit into w columns side by side; earlier ones matter
// more.
func Join(w int, separator string, parts ...string) string {
	var b strings.Builder
	used, gap := 0, Width(separator)
	for _, p := range parts {
		n := Width(p)
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

// Fill makes lines exactly h lines of w columns.
func (t *Theme) Fill(lines []string, w, h int) []string {
	out := make([]string, h)
	blank := strings.Repeat(" ", max(0, w))
	for i := range out {
		if i < len(lines) {
			out[i] = t.Fit(lines[i], w)
		} else {
			out[i] = blank
		}
	}
	return out
}

// Wrap breaks text at spaces into lines of at most w columns.
func Wrap(text string, w int) []string {
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
			case Width(line)+1+Width(word) <= w:
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

// Bar draws a fraction in w columns, in eighths of a column where the glyphs allow.
func (t *Theme) Bar(fraction float64, w int) string {
	if w < 3 {
		return ""
	}
	if !(fraction > 0) {
		fraction = 0
	}
	inner := w - 2
	steps := len(t.Glyphs.parts) + 1
	n := min(inner*steps, int(fraction*float64(inner*steps)))
	full := strings.Repeat(t.Glyphs.Full, n/steps)
	if part := n % steps; part > 0 {
		full += t.Glyphs.parts[part-1]
	}
	rest := strings.Repeat(t.Glyphs.Rest, inner-(n+steps-1)/steps)
	return t.Faint.On(t.Glyphs.barLeft) + t.BarFull.On(full) + t.barRest.On(rest) + t.Faint.On(t.Glyphs.barRight)
}

// Columns draws values as bars rows high, one column each, scaled to the largest;
// the topmost row comes first. Values that are not finite or not positive are
// blank.
func (t *Theme) Columns(values []float64, rows int, colour Ink) []string {
	most := 0.0
	for _, v := range values {
		if !math.IsInf(v, 0) {
			most = math.Max(most, v)
		}
	}
	levels := len(t.Glyphs.Blocks)
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
				b.WriteString(t.Glyphs.Blocks[levels-1])
			default:
				b.WriteString(t.Glyphs.Blocks[above-1])
			}
		}
		out[r] = colour.On(b.String())
	}
	return out
}

// Trend is a sparkline in at most w columns with the range of what it draws, or
// without that where there is no room.
func (t *Theme) Trend(values []float64, w int) string {
	const fewest = 4 // columns that show a course
	for n := min(len(values), w); n >= min(fewest, len(values)); n-- {
		lo, hi := rangeOf(values[len(values)-n:])
		text := " " + format.Number(lo) + ".." + format.Number(hi)
		if lo > hi {
			text = ""
		}
		if n+Width(text) <= w {
			return t.Sparkline(values, n) + text
		}
	}
	return t.Sparkline(values, w)
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

// minSpan is the least range that the height of a sparkline stands for, as a share of
// the largest magnitude in it: what changes by a few per cent does not look like a jump
// from nothing to all.
const minSpan = 0.5

// Sparkline draws the last w values between their smallest and largest, or in the middle
// of minSpan.
func (t *Theme) Sparkline(values []float64, w int) string {
	if len(values) > w {
		values = values[len(values)-max(0, w):]
	}
	lo, hi := rangeOf(values)
	if least := minSpan * math.Max(math.Abs(lo), math.Abs(hi)); hi-lo < least {
		middle := lo/2 + hi/2
		lo, hi = middle-least/2, middle+least/2
	}
	return t.SparklineIn(values, lo, hi)
}

// SparklineIn draws values between lo and hi; gaps stay blank.
func (t *Theme) SparklineIn(values []float64, lo, hi float64) string {
	var b strings.Builder
	levels := len(t.Glyphs.Blocks)
	for _, v := range values {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			b.WriteByte(' ')
		case !(hi > lo):
			b.WriteString(t.Glyphs.Blocks[levels/2])
		default:
			b.WriteString(t.Glyphs.Blocks[max(0, min(levels-1, int((v/(hi-lo)-lo/(hi-lo))*float64(levels))))])
		}
	}
	return b.String()
}

// Box frames body in w by h columns with a title in the upper border and a note at
// its right end; the lines of body are cut and padded.
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
	return append(out, border.On(g.bottomLeft+strings.Repeat(g.Horizontal, w-2)+g.bottomRight))
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

// Longest is the widest of the notes that fits into w columns.
func Longest(notes []string, w int) string {
	best := ""
	for _, n := range notes {
		if k := Width(n); k <= w && k > Width(best) {
			best = n
		}
	}
	return best
}

// FirstFitting is the first of the notes that fits into w columns.
func FirstFitting(notes []string, w int) string {
	for _, n := range notes {
		if Width(n) <= w {
			return n
		}
	}
	return ""
}

// WrapStyled wraps text that may hold escape sequences.
func WrapStyled(s string, w int) []string {
	if Width(s) <= w {
		return []string{s}
	}
	return strings.Split(ansi.Wordwrap(s, max(1, w), " "), "\n")
}

// Overlay lays box over the middle of lines, which are w columns wide.
func Overlay(lines, box []string, w int) []string {
	if len(box) == 0 || len(lines) == 0 {
		return lines
	}
	if Width(box[0])+2 <= w { // a column of air on both sides
		for i := range box {
			box[i] = " " + box[i] + " "
		}
	}
	bw := Width(box[0])
	x, y := max(0, (w-bw)/2), max(0, (len(lines)-len(box))/2)
	if len(lines) < LowScreen {
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

// Over lays the lines of a box over the left of lines that are w columns wide.
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

// AsciiOnly replaces every character outside ASCII by one inside, width for width.
func AsciiOnly(s string) string {
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

// Pad moves lines two columns to the right.
func Pad(lines []string) []string { return Indent(Indent(lines)) }

// Hang wraps text behind a name of n columns.
func Hang(name string, n int, text string, w int) []string {
	lines := Wrap(text, max(10, w-n))
	for i := range lines {
		if i == 0 {
			lines[i] = name + lines[i]
		} else {
			lines[i] = strings.Repeat(" ", n) + lines[i]
		}
	}
	return lines
}

// KeyLabel draws the arrows of a label where the glyphs have them.
func (t *Theme) KeyLabel(label string) string {
	switch label {
	case "left right":
		return t.Glyphs.Left + t.Glyphs.Right
	case "up down":
		return t.Glyphs.Up + t.Glyphs.down
	case "up down left right":
		return t.KeyLabel("up down") + t.KeyLabel("left right")
	}
	words := strings.Fields(label)
	for i, w := range words {
		switch w {
		case "up":
			words[i] = t.Glyphs.Up
		case "down":
			words[i] = t.Glyphs.down
		case "left":
			words[i] = t.Glyphs.Left
		case "right":
			words[i] = t.Glyphs.Right
		}
	}
	return strings.Join(words, " ")
}

// LowScreen is the height below which a dialog takes as little of the screen as it
// can, and stands at its foot.
const LowScreen = 30

package theme

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Width is the number of columns s takes on the terminal.
func Width(s string) int { return ansi.StringWidth(s) }

// Fit makes s exactly w columns wide: it cuts with an ellipsis, or pads.
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

// Clip shortens plain text to w columns after a clause or at least a word, so that no word and no
// number is cut in two.
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

// Middle shortens s to w columns in its middle: names of runs begin alike, and differ at the end.
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

// Spread puts left and right at the ends of w columns; if there is not enough room, right is cut
// first.
func (t *Theme) Spread(left, right string, w int) string {
	l, r := Width(left), Width(right)
	if r == 0 || l+1+r > w {
		return t.Fit(left, w)
	}
	return left + strings.Repeat(" ", w-l-r) + right
}

// Join puts the parts that fit into w columns side by side; earlier parts have priority.
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

// WrapStyled wraps text that may contain escape sequences.
func WrapStyled(s string, w int) []string {
	if Width(s) <= w {
		return []string{s}
	}
	return strings.Split(ansi.Wordwrap(s, max(1, w), " "), "\n")
}

// ASCIIOnly replaces every non-ASCII character by ASCII of the same width. A character may be
// several runes; a wide one is followed by a space.
func ASCIIOnly(s string) string {
	var b strings.Builder
	for s != "" {
		piece, width, n, _ := ansi.DecodeSequence(s, ansi.NormalState, nil)
		s = s[n:]
		r, _ := utf8.DecodeRuneInString(piece)
		a, known := asciiFor[r]
		if !known {
			a = '?'
		}
		switch {
		case r < utf8.RuneSelf: // a letter or an escape sequence
			b.WriteString(piece)
		case width > 0:
			b.WriteString(string(a) + strings.Repeat(" ", width-1))
		}
	}
	return b.String()
}

var asciiFor = map[rune]rune{
	'ω': 'w', 'α': 'a', 'τ': 't', 'π': 'p', 'μ': 'u', 'σ': 's', 'γ': 'g', 'λ': 'l', 'ε': 'e', 'β': 'b',
	'±': '~', '·': '-', '→': '>', '←': '<', '…': '~', '−': '-', '≤': '<', '≥': '>', '×': 'x', '–': '-', '—': '-',
	'²': '2', '≈': '~', '√': 'v', '½': '.', 'Σ': 'S', '▸': '>', '●': '*', '○': 'o',
}

// Hang wraps text that follows a name of n columns.
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

// KeyLabel draws the arrows of a label, if the glyphs have arrows.
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

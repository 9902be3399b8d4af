// Package printable makes text that a stranger may have written safe to show: what
// comes out of journals, configurations, sockets and the names of files may hold
// sequences that retitle a terminal, write its clipboard, hide lines or turn the order
// of letters around. What cannot be shown becomes a question mark, so that it can be
// seen that something was there.
//
// Text is cleaned where it enters (Line, Fields) and once more where it leaves the
// program (Writer, Styled), so that no command can forget it.
package printable

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// instead stands for what is not shown.
const instead = '?'

// Shows says whether a terminal can be given r as it is: letters, marks, digits, signs
// and spaces, and the two joiners that scripts and emoji are written with. Neither
// control characters (C0, DEL, C1) nor what changes the direction of text, nor line
// separators, nor characters that nobody can see.
func Shows(r rune) bool {
	const joiner, nonJoiner = '\u200d', '\u200c'
	if r >= ' ' && r < unicode.MaxASCII {
		return true
	}
	return unicode.IsGraphic(r) || r == joiner || r == nonJoiner
}

// Line is s as one line: newlines and tabs are spaces.
func Line(s string) string { return clean(s, Shows, ' ', ' ') }

// Text is s with its lines and tabs.
func Text(s string) string { return clean(s, Shows, '\n', '\t') }

func clean(s string, shows func(rune) bool, newline, tab rune) string {
	dirty := strings.IndexFunc(s, func(r rune) bool { return r == utf8.RuneError || !shows(r) })
	if dirty < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(s[:dirty])
	for rest := s[dirty:]; rest != ""; {
		r, n := utf8.DecodeRuneInString(rest)
		if r == utf8.RuneError || !shows(r) {
			r = shown(r, n, newline, tab)
		}
		b.WriteRune(r)
		rest = rest[n:]
	}
	return b.String()
}

// shown is what stands for a rune of n bytes.
func shown(r rune, n int, newline, tab rune) rune {
	switch {
	case r == '\n':
		return newline
	case r == '\t':
		return tab
	case r == utf8.RuneError && n <= 1, !Shows(r): // no UTF-8: 0x9b alone is a control character
		return instead
	}
	return r
}

// Writer passes text on to another writer as Text shows it.
type Writer struct {
	to   io.Writer
	held []byte // the beginning of a character whose end has not been written yet
	buf  []byte
}

// NewWriter cleans what is written to w.
func NewWriter(w io.Writer) *Writer { return &Writer{to: w} }

// Write never reports more than len(p), whatever became of it.
func (w *Writer) Write(p []byte) (int, error) {
	all := append(w.held, p...)
	w.buf, w.held = w.buf[:0], nil
	for len(all) > 0 {
		if !utf8.FullRune(all) {
			w.held = append(w.held, all...)
			break
		}
		r, n := utf8.DecodeRune(all)
		w.buf = utf8.AppendRune(w.buf, shown(r, n, '\n', '\t'))
		all = all[n:]
	}
	if len(w.buf) == 0 {
		return len(p), nil
	}
	if _, err := w.to.Write(w.buf); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Placeholder is kitty's character for a cell of an image, which a frame may hold. What others
// wrote does not get that far with it; there it could only repeat an image of the frame.
const Placeholder = '\U0010eeee'

// Styled is a frame of a screen: Text, in which the sequences that choose colours and
// styles (ESC [ … m) stay, and the cells of images.
func Styled(s string) string {
	if !strings.ContainsRune(s, escape) {
		return styledText(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	for {
		before, rest, found := strings.Cut(s, string(escape))
		b.WriteString(styledText(before))
		if !found {
			return b.String()
		}
		n := style(rest)
		if n > 0 {
			b.WriteRune(escape)
		} else {
			b.WriteRune(instead)
		}
		b.WriteString(rest[:n])
		s = rest[n:]
	}
}

func styledText(s string) string {
	return clean(s, func(r rune) bool { return r == Placeholder || Shows(r) }, '\n', '\t')
}

const escape = '\x1b'

// style is the length of the rest of a sequence that chooses colours and styles; 0: it
// is another one.
func style(s string) int {
	if s == "" || s[0] != '[' {
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case c != ';' && c != ':' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}

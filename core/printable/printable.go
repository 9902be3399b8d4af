// Package printable makes untrusted text safe to show. Text from journals,
// configurations, sockets and file names may hold sequences that retitle a terminal,
// write its clipboard, hide lines or reverse the order of letters. Each character that
// must not be shown becomes a question mark, so that its removal stays visible.
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

// instead replaces a character that must not be shown.
const instead = '?'

// Shows says whether r can go to a terminal as it is. It is true for letters, marks,
// digits, signs and spaces, and for the two joiners that scripts and emoji use. It is
// false for control characters (C0, DEL, C1), characters that change the direction of
// text, line separators, and invisible characters.
func Shows(r rune) bool {
	const joiner, nonJoiner = '\u200d', '\u200c'
	if r >= ' ' && r < unicode.MaxASCII {
		return true
	}
	return unicode.IsGraphic(r) || r == joiner || r == nonJoiner
}

// Line returns s as one line: newlines and tabs become spaces.
func Line(s string) string { return clean(s, Shows, ' ', ' ') }

// Text returns s with its newlines and tabs.
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

// shown returns what is shown for a rune of n bytes.
func shown(r rune, n int, newline, tab rune) rune {
	switch {
	case r == '\n':
		return newline
	case r == '\t':
		return tab
	case r == utf8.RuneError && n <= 1, !Shows(r): // invalid UTF-8: 0x9b alone is a control character
		return instead
	}
	return r
}

// Writer cleans text as Text does and passes it to another writer.
type Writer struct {
	to   io.Writer
	held []byte // the beginning of a character whose end has not been written yet
	buf  []byte
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{to: w} }

// Write never returns more than len(p), whatever the length of the cleaned text.
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

// Placeholder is kitty's character for a cell of an image, which a frame may hold. Line and Text
// replace it in untrusted text; even in a frame it could only repeat an image of that frame.
const Placeholder = '\U0010eeee'

// Styled cleans a frame of a screen as Text does, but keeps the sequences that choose
// colours and styles (ESC [ … m) and the cells of images.
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

// style returns the length of the rest, after ESC, of a sequence that chooses colours and
// styles; 0 for any other sequence.
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

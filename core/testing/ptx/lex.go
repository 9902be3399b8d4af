package ptx

import (
	"fmt"
	"strings"
)

// tokenKind distinguishes words, numbers and strings; the kind of every other token is
// its own character.
type tokenKind byte

const (
	word   tokenKind = 'w' // an opcode with its modifiers, a directive, a register, a name
	number tokenKind = 'n' // without its sign
	quoted tokenKind = 's'
	end    tokenKind = 0
)

type token struct {
	kind tokenKind
	text string
	line int
}

// ParseError is an error in a PTX text.
type ParseError struct {
	Line   int // counted from 1
	Reason string
}

func (e *ParseError) Error() string { return fmt.Sprintf("parse ptx: line %d: %s", e.Line, e.Reason) }

// fail ends parsing: Parse turns the panic into its error.
func fail(line int, format string, args ...any) {
	panic(&ParseError{line, fmt.Sprintf(format, args...)})
}

func letter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$' || c == '%'
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// lex splits a text into tokens, of which the last has kind end.
func lex(text string) []token {
	var out []token
	line := 1
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '\n':
			line++
			i++
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case strings.HasPrefix(text[i:], "//"):
			if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
				i += n
			} else {
				i = len(text)
			}
		case strings.HasPrefix(text[i:], "/*"):
			n := strings.Index(text[i:], "*/")
			if n < 0 {
				fail(line, "a comment that does not end")
			}
			line += strings.Count(text[i:i+n], "\n")
			i += n + 2
		case c == '"':
			n := strings.IndexAny(text[i+1:], "\"\n")
			if n < 0 || text[i+1+n] == '\n' {
				fail(line, "a string that does not end")
			}
			out = append(out, token{quoted, text[i+1 : i+1+n], line})
			i += n + 2
		case letter(c) || c == '.':
			n := wordLength(text[i:])
			out = append(out, token{word, text[i : i+n], line})
			i += n
		case digit(c):
			n := 1
			for i+n < len(text) && (letter(text[i+n]) || digit(text[i+n]) || text[i+n] == '.') {
				n++
			}
			out = append(out, token{number, text[i : i+n], line})
			i += n
		case strings.IndexByte("{}[]()<>,;:=+-@!|", c) >= 0:
			out = append(out, token{tokenKind(c), text[i : i+1], line})
			i++
		default:
			fail(line, "the character %q is no part of PTX", rune(c))
		}
	}
	return append(out, token{end, "", line})
}

// wordLength is the length of a word: letters, digits, dots and the "::" of modifiers
// such as .shared::cta.
func wordLength(s string) int {
	n := 1
	for n < len(s) {
		switch c := s[n]; {
		case letter(c) || digit(c) || c == '.':
			n++
		case strings.HasPrefix(s[n:], "::") && n+2 < len(s) && (letter(s[n+2]) || digit(s[n+2])):
			n += 3
		default:
			return n
		}
	}
	return n
}

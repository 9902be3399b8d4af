package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"pgrlab/core/printable"
)

// NoMember is the member of a line that is about the whole cohort.
const NoMember = -1

// Line is one line of the journal.
type Line struct {
	Type   string
	Step   int
	Member int // the member of the cohort that the line is about, or NoMember
	// Body holds the fields of the line's type: a struct or map that JSON encodes as an
	// object, or nil.
	Body any
	// WallS is the time since the run's start in seconds.
	WallS float64
}

// MarshalJSON writes type, step, member (only for a line about one member), the
// fields of the body in their order and wall_s.
func (l Line) MarshalJSON() ([]byte, error) {
	if l.Type == "" {
		return nil, errors.New("a journal line without a type")
	}
	kind, err := json.Marshal(l.Type)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"type":%s,"step":%d`, kind, l.Step)
	if l.Member != NoMember {
		fmt.Fprintf(&b, `,"member":%d`, l.Member)
	}
	if l.Body != nil {
		body, err := encode(l.Body)
		if err != nil {
			return nil, fmt.Errorf("journal line %s: %w", l.Type, err)
		}
		if body[0] != '{' {
			return nil, fmt.Errorf("journal line %s: its body %T is not an object", l.Type, l.Body)
		}
		if fields := body[1 : len(body)-1]; len(fields) > 0 {
			b.WriteByte(',')
			b.Write(fields)
		}
	}
	b.WriteString(`,"wall_s":`)
	b.WriteString(strconv.FormatFloat(l.WallS, 'f', 3, 64))
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encode is json.Marshal, except that it leaves <, > and & unescaped and writes characters
// that a terminal should not receive as \u….
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return escaped(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// escaped replaces the characters of JSON text that a terminal should not receive, which
// can occur only in strings, by \u….
func escaped(text []byte) []byte {
	if !bytes.ContainsFunc(text, func(r rune) bool { return !printable.Shows(r) }) {
		return text
	}
	var b []byte
	for _, r := range string(text) {
		if printable.Shows(r) {
			b = utf8.AppendRune(b, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			b = fmt.Appendf(b, `\u%04x`, unit)
		}
	}
	return b
}

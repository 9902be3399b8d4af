package formula

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error says what is wrong with a formula, and where.
type Error struct {
	What    string // in one line
	Formula string // as it was written
	At      int    // the character at which it is wrong, counted from 0
}

// Error is one line. Caret shows the place.
func (e *Error) Error() string { return fmt.Sprintf("%s (column %d)", e.What, e.Column()) }

// Line is the line of the formula that is wrong, counted from 1.
func (e *Error) Line() int { return 1 + strings.Count(e.before(), "\n") }

// Column is the character of its line at which the formula is wrong, counted from 1.
func (e *Error) Column() int {
	before := e.before()
	return 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
}

// before is the formula up to the place.
func (e *Error) before() string {
	runes := []rune(e.Formula)
	return string(runes[:min(max(e.At, 0), len(runes))])
}

// shown is how many characters Caret shows before the place, and after it.
const shown = 40

// Caret is two lines: the line of the formula, shortened around the place, and a caret below it.
func (e *Error) Caret() string {
	line, column := []rune(strings.Split(e.Formula, "\n")[e.Line()-1]), e.Column()-1
	from, to := max(0, column-shown), min(len(line), column+shown)
	text, lead := string(line[from:to]), column-from
	if from > 0 {
		text, lead = "…"+text, lead+1
	}
	if to < len(line) {
		text += "…"
	}
	return strings.Map(printed, text) + "\n" + strings.Repeat(" ", lead) + "^"
}

// printed is what a terminal gets for a character of a formula.
func printed(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return ' '
}

// Caret returns the two lines that show where a formula is wrong, if err is of a formula.
func Caret(err error) (lines string, is bool) {
	var e *Error
	if !errors.As(err, &e) {
		return "", false
	}
	return e.Caret(), true
}

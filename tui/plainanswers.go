package tui

import (
	"slices"
	"strings"

	"pgrlab/tui/pane"
)

// spoken are words for the keys that answer questions, the recommended one first.
var spoken = []struct {
	key   string
	words []string
}{{"enter", []string{"yes", "apply", ""}}, {"!", []string{"now"}}, {"esc", []string{"no", "drop", "cancel"}}}

// meant is the key that a line stands for as the answer to a question.
func meant(d *pane.Dialog, line string) (key string, is bool) {
	if d.Has(line) {
		return line, true
	}
	for _, s := range spoken {
		if slices.Contains(s.words, line) && d.Has(s.key) {
			return s.key, true
		}
	}
	return "", false
}

// spelled lists the answers that may be typed.
func spelled(d *pane.Dialog) string {
	var all []string
	for _, c := range d.Choices {
		all = append(all, "type "+typed(c))
	}
	return strings.Join(all, ", ")
}

// typed is what to type for an answer: a word, if its key has one.
func typed(c pane.Choice) string {
	for _, s := range spoken {
		if s.key == c.Key {
			return s.words[0] + " or " + c.Key
		}
	}
	return c.Key
}

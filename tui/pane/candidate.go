package pane

import (
	"sort"
	"strings"

	"pgrlab/core/knob"
)

// Prefixed puts prefix in front of the texts of candidates.
func Prefixed(prefix string, c []Candidate) []Candidate {
	for i := range c {
		c[i].Text = prefix + c[i].Text
	}
	return c
}

// Best are the candidates that begin with a text, then those that contain it, then those that have
// its letters in the same order.
func Best(all []Candidate, text string) []Candidate {
	rank := func(c Candidate) int {
		name, text := strings.ToLower(c.Text), strings.ToLower(text)
		switch {
		case strings.HasPrefix(name, text):
			return 0
		case strings.Contains(name, text):
			return 1
		case subsequence(name, text):
			return 2
		default:
			return 3
		}
	}
	seen := map[string]bool{}
	var out []Candidate
	for _, c := range all {
		if rank(c) < 3 && !seen[c.Text] {
			seen[c.Text] = true
			out = append(out, c)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return rank(out[i]) < rank(out[j]) })
	return out
}

func subsequence(name, letters string) bool {
	rest := []rune(letters)
	for _, r := range name {
		if len(rest) > 0 && r == rest[0] {
			rest = rest[1:]
		}
	}
	return len(rest) == 0
}

// Candidate is one way to complete a text.
type Candidate struct {
	Text  string // the completed text
	About string
	Shown string // in the list; "": the text
}

// ValueCandidates are the ways to complete a value of a knob: its choices, and names and functions in
// the place of the last word of a formula.
func ValueCandidates(k knob.Knob, text string) []Candidate {
	var all []Candidate
	for _, c := range k.Choices {
		all = append(all, Candidate{Text: c})
	}
	out := Best(all, text)
	start := len(text) - len(lastWord(text))
	if word := text[start:]; len(out) == 0 || word != text {
		out = nil
		var words []Candidate
		for _, w := range k.Words() {
			insert := w.Name
			if w.Use != w.Name {
				insert += "("
			}
			words = append(words, Candidate{Text: insert, About: w.Doc, Shown: w.Use})
		}
		if word != "" {
			out = Prefixed(text[:start], Best(words, word))
		}
	}
	return out
}

// lastWord is the name at the end of a formula that is being typed.
func lastWord(text string) string {
	i := strings.LastIndexFunc(text, func(r rune) bool {
		return !(r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
	})
	return text[i+1:]
}

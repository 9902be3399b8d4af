package tui

import (
	"sort"
	"strings"
)

func prefixed(prefix string, c []candidate) []candidate {
	for i := range c {
		c[i].text = prefix + c[i].text
	}
	return c
}

// best are the candidates that begin with a text, then those that contain it, then
// those that have its letters in their order.
func best(all []candidate, text string) []candidate {
	rank := func(c candidate) int {
		name, text := strings.ToLower(c.text), strings.ToLower(text)
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
	var out []candidate
	for _, c := range all {
		if rank(c) < 3 && !seen[c.text] {
			seen[c.text] = true
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

// candidate is one way to complete a text.
type candidate struct{ text, about string }

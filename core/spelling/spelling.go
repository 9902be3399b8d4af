// Package spelling guesses which known name was meant.
package spelling

import "strings"

// Nearest returns the first candidate that begins with name, or else the candidate
// with the smallest edit distance to it. It returns "" if even that one is too
// different from name to be a likely typing error.
func Nearest(name string, candidates []string) string {
	best, least := "", 1<<30
	for _, c := range candidates {
		if len(name) > 2 && strings.HasPrefix(strings.ToLower(c), strings.ToLower(name)) {
			return c
		}
	}
	for _, c := range candidates {
		if d := distance(strings.ToLower(name), strings.ToLower(c)); d < least {
			best, least = c, d
		}
	}
	if longest := max(len(name), len(best)); 2*least > longest {
		return ""
	}
	return best
}

// distance returns the optimal-string-alignment distance: insertions, deletions,
// substitutions and swaps of neighbours cost one each.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	before := make([]int, len(t)+1)
	above := make([]int, len(t)+1)
	row := make([]int, len(t)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = i
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(t)]
}

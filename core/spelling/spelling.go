// Package spelling guesses which known name was meant.
package spelling

import (
	"fmt"
	"slices"
	"strings"
)

// few is how many guesses a question names.
const few = 4

// Meant asks which of the candidates was meant by name: `did you mean "a", "b" or "c"?`. It
// returns "" if none is likely.
func Meant(name string, candidates []string) string {
	near := Near(name, candidates)
	if len(near) == 0 {
		return ""
	}
	return "did you mean " + Alternatives(near) + "?"
}

// Alternatives quotes names and joins them with "or"; of many it counts the last ones.
func Alternatives(names []string) string {
	var quoted []string
	for _, n := range names {
		quoted = append(quoted, fmt.Sprintf("%q", n))
	}
	if more := len(names) - few; more > 0 {
		quoted = append(quoted[:few], fmt.Sprintf("one of %d more", more))
	}
	last := len(quoted) - 1
	if last == 0 {
		return quoted[0]
	}
	return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
}

// Near returns the candidates that name probably means, in their order. The first of these that
// applies to any candidate decides:
//
//   - they differ only in case, or by - for _;
//   - the last parts of dotted names are the same, or the candidate's goes on with a new word:
//     gamma for agent.gamma, lr for lr_actor and lr_critic;
//   - the candidate begins with name;
//   - name contains the candidate, as dm_control/cheetah-run-v0 does cheetah-run;
//   - name is a word of the candidate, as rnd is of ppo-rnd;
//   - the candidate, or its last part if name has no dots, has the smallest edit distance to
//     name, and one that a slip explains.
//
// It returns none if name is too different from all candidates.
func Near(name string, candidates []string) []string {
	name = plain(name)
	last := lastPart(name)
	for _, rule := range []func(c string) bool{
		func(c string) bool { return c == name },
		func(c string) bool { return lastPart(c) == last || strings.HasPrefix(lastPart(c), last+"-") },
		func(c string) bool { return len(name) > 2 && strings.HasPrefix(c, name) },
		func(c string) bool { return len(c) > 3 && slices.Contains(windows(name, c), c) },
		func(c string) bool { return len(name) > 2 && slices.Contains(words(c), name) },
	} {
		var all []string
		for _, c := range candidates {
			if name != "" && rule(plain(c)) {
				all = append(all, c)
			}
		}
		if len(all) > 0 {
			return all
		}
	}
	best, least, length := "", 1<<30, 0
	for _, c := range candidates {
		written := plain(c)
		if last == name {
			written = lastPart(written)
		}
		if d := distance(name, written); d < least {
			best, least, length = c, d, len(written)
		}
	}
	if best == "" || 2*least >= max(len(name), length) {
		return nil
	}
	return []string{best}
}

func plain(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "-") }

func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// words are the words that a name is made of.
func words(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-./: ", r) })
}

// windows are the runs of as many words of name as c has, joined as c's are.
func windows(name, c string) (all []string) {
	in, n := words(name), len(words(c))
	for i := 0; i+n <= len(in) && n > 0; i++ {
		all = append(all, strings.Join(in[i:i+n], "-"))
	}
	return all
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

package lab

import "strings"

// nearest is the knob whose name has the smallest edit distance to name, or
// begins with it.
func nearest(name string) string {
	name = strings.ReplaceAll(strings.ToLower(name), "-", "_")
	best, distance := "", -1
	for _, k := range knobs {
		if len(name) > 1 && strings.HasPrefix(k.Name, name) {
			return k.Name
		}
		if d := edits(name, k.Name); distance < 0 || d < distance {
			best, distance = k.Name, d
		}
	}
	return best
}

// edits is the Levenshtein distance in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

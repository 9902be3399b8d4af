package envs

import (
	"strings"
	"testing"
)

// Every number of every task's observation has a name of its own, and no task falls back on bare
// numbers.
func TestEveryNumberHasAName(t *testing.T) {
	for _, task := range Tasks() {
		names, seen := task.Names(), map[string]bool{}
		if len(names) != task.ObsSize {
			t.Errorf("%s: %d names of %d numbers", task.Name, len(names), task.ObsSize)
		}
		for _, n := range names {
			if seen[n] || n == "" || len(n) > 20 {
				t.Errorf("%s: name %q", task.Name, n)
			}
			seen[n] = true
		}
		if len(names) > 0 && strings.HasPrefix(names[0], "s ") {
			t.Errorf("%s has no names", task.Name)
		}
	}
}

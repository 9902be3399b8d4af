package agent

import "testing"

// A choice is its place among the actions, and unknown before there is one.
func TestChoice(t *testing.T) {
	for want, row := range map[string][]float32{"3 of 4": {0, 0, 1, 0}, "1 of 2": {1, 0}, "-": {0, 0}} {
		if got := choice(row); got != want {
			t.Errorf("%v is shown as %s, want %s", row, got, want)
		}
	}
}

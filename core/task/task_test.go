package task

import (
	"slices"
	"strings"
	"testing"
)

// Random actions are numbers in [-1,1), or each choice as often as another.
func TestRandom(t *testing.T) {
	rows := []float32{0, 0.25, 0.75, 0.5, 0.9, 0.9}
	choices := slices.Clone(rows)
	Task{ActSize: 3}.Random(rows)
	if want := []float32{-1, -0.5, 0.5, 0, 0.8, 0.8}; !slices.EqualFunc(rows, want, func(a, b float32) bool { return a-b < 1e-6 && b-a < 1e-6 }) {
		t.Errorf("numbers %v, want %v", rows, want)
	}
	Task{ActSize: 3, Discrete: true}.Random(choices)
	if want := []float32{0, 0, 1, 0, 1, 0}; !slices.Equal(choices, want) {
		t.Errorf("choices %v, want %v", choices, want)
	}
}

// A TV is one of those that the task has.
func TestTV(t *testing.T) {
	maze := Task{Name: "maze", TVs: []string{"off", "noise"}, With: func(e Environment) (Task, error) { return Task{Doc: e.TV}, nil }}
	plain := maze
	plain.TVs = nil
	bare := Task{Name: "bare"}
	for _, c := range []struct {
		task    Task
		tv, err string
	}{
		{maze, "", ""}, {maze, "noise", ""}, {maze, "loud", `tv is "loud", want one of off, noise`},
		{plain, "noise", `tv is "noise", but there is none in task maze: leave it out`}, {bare, "noise", `tv is "noise", but there is none in task bare`}, {bare, "", ""},
	} {
		played, err := c.task.Played(Environment{TV: c.tv})
		if c.err == "" && (err != nil || c.task.With != nil && played.Doc != c.tv) || c.err != "" && (err == nil || !strings.HasPrefix(err.Error(), c.err)) {
			t.Errorf("%s with %q: %v, want %q", c.task.Name, c.tv, err, c.err)
		}
	}
}

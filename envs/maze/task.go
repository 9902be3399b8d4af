package maze

import (
	"fmt"
	"strings"
	"time"
)

// Task is a kind of maze.
type Task struct {
	Name string
	Doc  string // one line

	farStart uint8 // cells of walking from a start to the goal, at least
	tv       TV
}

// tasks are sorted by name.
var tasks = []Task{
	{Name: "maze-sparse", Doc: "find the goal of a maze again and again, from any room"},
	{Name: "maze-very-sparse", Doc: "the same, from at least ten cells of walking away", farStart: farStart},
}

// Tasks returns all tasks by name.
func Tasks() []Task { return append([]Task(nil), tasks...) }

// Find returns a task by its name; case does not matter, and - and _ are the same.
func Find(name string) (t Task, ok bool) {
	wanted := strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	for _, t := range tasks {
		if t.Name == wanted {
			return t, true
		}
	}
	return Task{}, false
}

// Hidden is what an observation does not tell of the state.
const Hidden = "the maze around the corner, and where in it the player is"

// StepTime is the simulated time of an action.
const StepTime = framesPerAction * time.Second / frameRate

// With returns the task with a TV of that kind, a name of TVs.
func (t Task) With(tv string) (Task, error) {
	kind, err := ParseTV(tv)
	if err != nil {
		return t, fmt.Errorf("%s: %w", t.Name, err)
	}
	t.tv = kind
	return t, nil
}

// Names are short names of the numbers of an observation, in their order.
func Names() []string {
	names := make([]string, 0, ObsSize)
	for i := range Rays {
		for _, what := range [RaySize]string{"red", "green", "blue", "near", "goal"} {
			names = append(names, fmt.Sprintf("%s %d", what, i+1))
		}
	}
	return names
}

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

	farStart uint8 // smallest walking distance from a start to the goal, cells
	tv       TV
	// cellBonus is added to the reward when the player is in a square for the first time.
	cellBonus float64
}

// Options change how a task is played.
type Options struct {
	TV string // one of TVs; "" is off
	// CellBonus is added to the reward of an Env, not to those of a VecEnv, whenever the player
	// is in a square of 0.3×0.3 cells for the first time in an episode. It requires knowledge of
	// the position, and serves as a reference for bonuses that do without it.
	CellBonus float64
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

// Camera describes the view that learners of frames have.
const Camera = "the player's eyes"

// Hidden is the part of the state that an observation does not contain.
const Hidden = "the maze around the corner, and where in it the player is"

// StepTime is the simulated time of an action.
const StepTime = framesPerAction * time.Second / frameRate

// With returns the task played with those options.
func (t Task) With(o Options) (Task, error) {
	kind, err := ParseTV(o.TV)
	if err != nil {
		return t, fmt.Errorf("%s: %w", t.Name, err)
	}
	if !(o.CellBonus >= 0 && o.CellBonus <= goalReward) {
		return t, fmt.Errorf("%s: a bonus of %v for new places: want 0 to %d, what the goal earns", t.Name, o.CellBonus, goalReward)
	}
	t.tv, t.cellBonus = kind, o.CellBonus
	return t, nil
}

// Names returns short names of the numbers of an observation, in their order.
func Names() []string {
	names := make([]string, 0, ObsSize)
	for i := range Rays {
		for _, what := range [RaySize]string{"red", "green", "blue", "near", "goal"} {
			names = append(names, fmt.Sprintf("%s %d", what, i+1))
		}
	}
	return names
}

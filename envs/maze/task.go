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
	// cellBonus is on the reward where the player is in a square for the first time.
	cellBonus float64
}

// Options are how a task is played.
type Options struct {
	TV string // one of TVs; "" is off
	// CellBonus is added to the reward of an Env, not to those of a VecEnv, whenever the player
	// is in a square of 0.3×0.3 cells for the first time in an episode: what only who knows
	// the place can give, to hold bonuses to that must do without.
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

// Camera is what learners of frames see through.
const Camera = "the player's eyes"

// Hidden is what an observation does not tell of the state.
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

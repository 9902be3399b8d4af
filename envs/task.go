package envs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"pgrlab/envs/mujoco"
)

// Task is a body and what it is to do.
type Task struct {
	Name         string // as in dm_control, with a hyphen: cheetah-run
	Doc          string // one line
	ObsSize      int    // length of an observation
	ActSize      int    // length of an action, each coordinate in [-1,1]
	EpisodeSteps int    // control steps until an episode is cut
	Terminates   bool   // whether an episode can end by itself

	mjcf     string
	substeps int                               // physics steps in a control step
	bind     func(*physics) (behaviour, error) // what the task does with a body
}

// behaviour is a task bound to one copy of its body.
type behaviour interface {
	// start draws the start state into the physics, which is in its reference
	// state and computed; what it leaves is computed again.
	start(r *rand.Rand) error
	// observe writes the observation.
	observe(obs []float64)
	// reward judges the state reached, in [0,1].
	reward() float64
	// written returns what start wrote into the model, for saving; or nil.
	written() []float64
}

// episodeSteps is the length of every episode here: dm_control's time limits
// over its control steps.
const episodeSteps = 1000

var tasks = []Task{cartpoleSwingup, cheetahRun, fingerTurnHard, quadrupedWalk, reacherHard, walkerWalk}

// Tasks returns all tasks by name.
func Tasks() []Task { return slices.Clone(tasks) }

// Find returns a task by its name; case does not matter, and - and _ are the same.
func Find(name string) (Task, error) {
	wanted := strings.ReplaceAll(strings.ToLower(name), "_", "-")
	names := make([]string, len(tasks))
	for i, t := range tasks {
		if t.Name == wanted {
			return t, nil
		}
		names[i] = t.Name
	}
	return Task{}, fmt.Errorf("find task: no task %q: there are %s", name, strings.Join(names, ", "))
}

// Load compiles the physics, once per process. Making an environment does it
// too; calling it early, in a goroutine of its own, hides the second it takes.
func Load(ctx context.Context) error {
	_, err := mujoco.Load(ctx)
	return err
}

// instance starts a copy of the physics engine.
func instance() (*mujoco.Instance, error) {
	runtime, err := mujoco.Load(context.Background())
	if err != nil {
		return nil, err
	}
	return runtime.Instance()
}

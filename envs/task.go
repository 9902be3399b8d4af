package envs

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"pgrlab/envs/mujoco"
)

// Task is a body with its goal.
type Task struct {
	Name         string // as its authors write it, with hyphens: cheetah-run, Hopper-v2
	Doc          string // one line
	ObsSize      int    // length of an observation
	ActSize      int    // length of an action, each coordinate in [-1,1]
	EpisodeSteps int    // steps until an episode is truncated, each of one or, with action repeat, several control steps
	Terminates   bool   // whether an episode can end by itself
	// Hidden says which part of the state an observation does not contain, so that
	// Env.Place fails; "" if an observation determines all later observations and rewards.
	Hidden string
	// Ends says whether a transition from obs by act to next [ObsSize] terminates the
	// episode, as far as next shows it, so that a learned model can tell where its
	// rollouts end; nil if the task never ends by itself.
	Ends func(obs, act, next []float32) bool
	// Turning lists the coordinates of an observation that are angles without limits, in
	// radians: adding a whole turn does not change the body's state.
	Turning []int
	// Directions lists pairs of coordinates of an observation that are the cosine and the sine
	// of one angle, or the sine and the cosine: their squares add up to 1.
	Directions [][2]int

	own      *Own   // what another package defines; nil: the task is built in
	mjcf     string // of a built-in task
	order    order
	length   int                               // control steps of an episode
	substeps int                               // physics steps in a control step
	bind     func(*physics) (behaviour, error) // binds the task to a body
	names    []string                          // names of the numbers of an observation
	repeat   int                               // see With
}

// behaviour is a task bound to one copy of its body.
type behaviour interface {
	// start draws the start state into the physics, which is in its reference state with
	// all derived quantities computed. They are computed again afterwards.
	start(r *rand.Rand) error
	// observe writes the observation.
	observe(obs []float64)
	// reward judges the control step that led to the state.
	reward() float64
	// written returns the numbers that start wrote into the model, for saving; or nil.
	written() []float64
}

// traveller is a behaviour whose reward depends on where the control step began.
type traveller interface {
	// depart is called before every control step.
	depart()
}

// reminiscent is a traveller whose observations may need what was where the control step began.
type reminiscent interface {
	traveller
	// earlier are the arrays that depart fills.
	earlier() [][]float64
	// keptEarlier says that they have what the next depart would fill them with.
	keptEarlier()
}

// mortal is a behaviour whose episode can end by itself.
type mortal interface {
	// fallen says whether the present state ends the episode.
	fallen() bool
}

// troubled is a behaviour whose numbers can be wrong.
type troubled interface {
	// trouble says what was wrong with them since it was last asked.
	trouble() error
}

// controlSteps is the length of an episode of every built-in task in control steps: dm_control's
// time limits divided by its control step, and Gym's max_episode_steps.
const controlSteps = 1000

// tasks are sorted by name, ignoring case. Each task adds itself with register.
var tasks []Task

// register adds a task to Tasks and returns it. A task that is declared as a
// package variable, var hopperHop = register(Task{…}), needs no other line.
func register(t Task) Task {
	at, taken := slices.BinarySearchFunc(tasks, t, byName)
	if taken {
		panic("envs: two tasks are called " + t.Name)
	}
	t.length = t.EpisodeSteps
	tasks = slices.Insert(tasks, at, t)
	return t
}

func byName(a, b Task) int { return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) }

// Tasks returns all tasks by name.
func Tasks() []Task { return slices.Clone(tasks) }

// Find returns a task by its name; case does not matter, and - and _ are the same.
func Find(name string) (Task, error) {
	wanted := strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	names := make([]string, len(tasks))
	for i, t := range tasks {
		if strings.ToLower(t.Name) == wanted {
			return t, nil
		}
		names[i] = t.Name
	}
	return Task{}, fmt.Errorf("find task: no task %q: there are %s", name, strings.Join(names, ", "))
}

// identity marks saved states of the task: its name, padded with zeros, or for a task that is not
// built in a hash of everything that it is made from.
func (t *Task) identity() (mark [32]byte) {
	if t.own != nil {
		return t.own.Identity
	}
	copy(mark[:], t.Name)
	return mark
}

// otherwise is the error of a state of another task.
func (t *Task) otherwise(mark [32]byte) error {
	if t.own != nil {
		return fmt.Errorf("the state is of another task, or of another version of this one")
	}
	return fmt.Errorf("the state is of %s", bytes.TrimRight(mark[:], "\x00"))
}

// compile makes the task's model.
func (t *Task) compile(in *mujoco.Instance) (*mujoco.Model, error) {
	if t.own != nil {
		return t.own.Compile(in)
	}
	return in.Model(t.mjcf)
}

// skipped are the parts of the engine that are switched off.
func (t *Task) skipped() int {
	if t.own != nil {
		return mujoco.DisableAutoReset
	}
	return skipped
}

// Load compiles the physics, once per process. Making an environment does this too;
// calling Load early, in a goroutine of its own, hides the second it takes.
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

package envs

import (
	"math/rand/v2"

	"pgrlab/envs/mujoco"
)

// An Own is a task that another package defines. Everything else about it, such as vectors, action
// repeat, saved states and pictures, is as for built-in tasks.
type Own struct {
	Name, Doc string
	// Identity is of everything that the task is made from: a state is loaded only by the task that
	// saved it.
	Identity     [32]byte
	Compile      func(*mujoco.Instance) (*mujoco.Model, error)
	Order        Order
	Substeps     int      // physics steps in a control step
	EpisodeSteps int      // control steps
	Settle       int      // physics steps without controls before an episode
	ActSize      int      // number of controls
	Names        []string // of the numbers of an observation
	Terminates   bool
	Ends         func(obs, act, next []float32) bool // see Task
	Camera       string                              // "": one from the side, because the model has none that keeps its direction
	// Bind binds the task to a copy of its body.
	Bind func(*mujoco.Data) (Behaviour, error)
}

// Behaviour is such a task, bound to one copy of its body.
type Behaviour interface {
	// Start draws the start state into qpos, qvel and mocap_pos. The body is in its reference state,
	// with everything computed that depends on it.
	Start(r *rand.Rand) error
	// Depart is called before every control step, and when an episode has begun.
	Depart()
	// Earlier are the arrays that Depart fills, which belong to a saved state: what formulas know of the
	// step before may be something that a restored state lacks, as accelerations.
	Earlier() [][]float64
	// Observe writes the observation and Reward judges the control step that led to it. Their
	// numbers are finite if there is no error.
	Observe(obs []float64) error
	Reward() (float64, error)
	// Fallen says whether the present state ends the episode.
	Fallen() (bool, error)
}

// Order is how a control step is divided: see suiteOrder and gymOrder.
type Order = order

// The orders.
const (
	SuiteOrder = suiteOrder
	GymOrder   = gymOrder
)

// Task is the task as those that are built in.
func (o Own) Task() Task {
	t := Task{
		Name: o.Name, Doc: o.Doc, ObsSize: len(o.Names), ActSize: o.ActSize, EpisodeSteps: o.EpisodeSteps, Terminates: o.Terminates, Ends: o.Ends,
		Hidden: "its task file does not say how",
		own:    &o, order: o.Order, length: o.EpisodeSteps, substeps: o.Substeps, names: o.Names,
	}
	t.bind = func(p *physics) (behaviour, error) {
		b, err := o.Bind(p.Data)
		if err != nil {
			return nil, err
		}
		own := &ownTask{physics: p, Behaviour: b, settle: o.Settle}
		if o.Terminates {
			return &ownMortal{own}, nil
		}
		return own, nil
	}
	return t
}

// ownTask is a Behaviour as a behaviour. It keeps the first error of a step until it is asked for.
type ownTask struct {
	*physics
	Behaviour
	settle int
	began  bool // the episode has begun, and nothing was observed
	kept   bool // what Depart would keep is there already, saved or loaded
	failed error
}

func (t *ownTask) start(r *rand.Rand) error {
	t.began, t.kept, t.failed = true, false, nil
	if t.order == gymOrder { // which computes nothing between the reset and the start
		if err := t.prepare(); err != nil {
			return err
		}
	}
	if err := t.Start(r); err != nil || t.settle == 0 {
		return err
	}
	if err := t.step(t.settle); err != nil {
		return err
	}
	return t.SetTime(0)
}

func (t *ownTask) depart() {
	if !t.kept {
		t.Depart()
	}
	t.kept = false
}

func (t *ownTask) earlier() [][]float64 { return t.Earlier() }

// keptEarlier says that earlier has what the next depart would fill it with.
func (t *ownTask) keptEarlier() { t.kept = true }

func (t *ownTask) observe(obs []float64) {
	if t.began {
		t.began = false
		t.Depart()
	}
	t.keep(t.Observe(obs))
}

func (t *ownTask) reward() float64 {
	x, err := t.Reward()
	t.keep(err)
	return x
}

// written are the places of bodies that no force moves: a start may have chosen them.
func (t *ownTask) written() []float64 { return t.MocapPos }

func (t *ownTask) keep(err error) {
	if t.failed == nil {
		t.failed = err
	}
}

// trouble returns the error of the last step.
func (t *ownTask) trouble() error {
	err := t.failed
	t.failed = nil
	return err
}

// ownMortal is one whose episodes can end by themselves.
type ownMortal struct{ *ownTask }

func (t *ownMortal) fallen() bool {
	over, err := t.Fallen()
	t.keep(err)
	return over
}

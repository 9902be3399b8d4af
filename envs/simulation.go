package envs

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"pgrlab/envs/mujoco"
)

// simulation is one running copy of a task, in the precision of the physics.
type simulation struct {
	task      *Task
	body      *physics
	behaviour behaviour
	seed      uint64
	source    *rand.PCG
	episode   uint64
	step      int       // control steps in the episode; notStarted before the first
	over      bool      // whether the episode ended by itself
	obs       []float64 // last observation, in the precision of the physics
}

const notStarted = -1

// placed is the number of every episode that Place starts.
const placed = math.MaxUint64

func newSimulation(in *mujoco.Instance, task *Task, seed uint64) (*simulation, error) {
	body, err := newPhysics(in, task)
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", task.Name, err)
	}
	if len(body.controls) != task.ActSize {
		return nil, fmt.Errorf("make %s: %d actuators for %d actions", task.Name, len(body.controls), task.ActSize)
	}
	b, err := task.bind(body)
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", task.Name, err)
	}
	return &simulation{
		task: task, body: body, behaviour: b, seed: seed, source: rand.NewPCG(0, 0),
		step: notStarted, obs: make([]float64, task.ObsSize),
	}, nil
}

// reset starts an episode.
func (s *simulation) reset(episode uint64) error {
	if err := s.restart(episode); err != nil {
		return fmt.Errorf("reset %s, episode %d: %w", s.task.Name, episode, err)
	}
	return nil
}

// restart follows dm_control's order: reset, forward, the task's start, forward. The
// first forward matters to tasks that settle in their start; Gym does not have it.
func (s *simulation) restart(episode uint64) error {
	s.step, s.over = notStarted, false
	if err := s.body.Reset(); err != nil {
		return err
	}
	if s.task.order == suiteOrder {
		if err := s.body.forward(); err != nil {
			return err
		}
	}
	s.source.Seed(s.seed, episode)
	if err := s.behaviour.start(rand.New(s.source)); err != nil {
		return err
	}
	if err := s.body.forward(); err != nil {
		return err
	}
	s.episode, s.step = episode, 0
	s.behaviour.observe(s.obs)
	return cmp.Or(s.body.diverged(), s.trouble())
}

// trouble is what is wrong with the last numbers of the behaviour.
func (s *simulation) trouble() error {
	if t, ok := s.behaviour.(troubled); ok {
		return t.trouble()
	}
	return nil
}

// advance makes one step of the environment, which is one control step or, with
// action repeat, several. Afterwards the observation is in s.obs.
func (s *simulation) advance(action []float64) (reward float64, err error) {
	k := s.step + 1
	if reward, err = s.act(action); err != nil {
		return 0, fmt.Errorf("step %s, episode %d, step %d: %w", s.task.Name, s.episode, k, err)
	}
	return reward, nil
}

// rounding is how far beyond [-1,1] an action may lie because of 32-bit arithmetic. Such
// an action is clipped.
const rounding = 1e-6

func (s *simulation) act(action []float64) (float64, error) {
	switch {
	case s.step == notStarted:
		return 0, errors.New("the environment was not reset")
	case s.ended():
		return 0, errors.New("the episode is over: reset first")
	}
	for i, a := range action {
		if !(math.Abs(a) <= 1+rounding) {
			return 0, fmt.Errorf("action %d is %v: want a number from -1 to 1", i, a)
		}
	}
	s.depart() // before the controls are written: formulas may ask for those of the step before
	for i, a := range action {
		c := s.body.controls[i]
		s.body.Ctrl[i] = c.low + (c.high-c.low)*(min(max(a, -1), 1)+1)/2
	}
	sum := 0.0
	for k := range s.task.repeats() {
		if k > 0 {
			s.depart()
		}
		reward, err := s.control()
		if err != nil {
			s.over = true
			return 0, err
		}
		if sum += reward; s.ended() {
			break
		}
	}
	return sum, nil
}

// depart is called at the beginning of a control step.
func (s *simulation) depart() {
	if t, ok := s.behaviour.(traveller); ok {
		t.depart()
	}
}

// control makes one control step. If the simulation diverges, the last valid observation
// stays.
func (s *simulation) control() (float64, error) {
	if err := s.body.step(s.task.substeps); err != nil {
		return 0, err
	}
	if err := s.body.diverged(); err != nil {
		return 0, err
	}
	s.step++
	s.behaviour.observe(s.obs)
	if m, ok := s.behaviour.(mortal); ok {
		s.over = m.fallen()
	}
	reward := s.behaviour.reward()
	return reward, s.trouble()
}

// ended says whether the episode is over: by itself, by an error or by its time
// limit.
func (s *simulation) ended() bool { return s.over || s.timeout() }

// timeout says whether the episode reached its time limit.
func (s *simulation) timeout() bool {
	return s.step >= min(s.task.EpisodeSteps*s.task.repeats(), s.task.length)
}

// narrow writes the observation as the learner sees it.
func (s *simulation) narrow(obs []float32) {
	for i, x := range s.obs {
		obs[i] = float32(x)
	}
}

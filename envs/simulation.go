package envs

import (
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
	obs       []float64 // last observation
}

const notStarted = -1

// unbounded is where MuJoCo calls a number bad (mjMAXVAL).
const unbounded = 1e10

func newSimulation(in *mujoco.Instance, task *Task, seed uint64) (*simulation, error) {
	body, err := newPhysics(in, task.mjcf)
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

// reset starts an episode, in dm_control's order: reset, forward, the task's
// start, forward.
func (s *simulation) reset(episode uint64) error {
	if err := s.restart(episode); err != nil {
		return fmt.Errorf("reset %s, episode %d: %w", s.task.Name, episode, err)
	}
	return nil
}

func (s *simulation) restart(episode uint64) error {
	s.step = notStarted
	if err := s.body.Reset(); err != nil {
		return err
	}
	if err := s.body.forward(); err != nil {
		return err
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
	return s.diverged()
}

// advance makes one control step. The action lies in [-1,1]; what exceeds that
// is clipped. The observation is then in s.obs.
func (s *simulation) advance(action []float64) (reward float64, err error) {
	k := s.step + 1
	if reward, err = s.act(action); err != nil {
		return 0, fmt.Errorf("step %s, episode %d, step %d: %w", s.task.Name, s.episode, k, err)
	}
	return reward, nil
}

func (s *simulation) act(action []float64) (float64, error) {
	switch {
	case s.step == notStarted:
		return 0, fmt.Errorf("the environment was not reset")
	case s.ended():
		return 0, fmt.Errorf("the episode is over: reset first")
	}
	for i, a := range action {
		if math.IsNaN(a) {
			return 0, fmt.Errorf("action %d is not a number", i)
		}
		c := s.body.controls[i]
		s.body.Ctrl[i] = c.low + (c.high-c.low)*(min(max(a, -1), 1)+1)/2
	}
	if err := s.body.step(s.task.substeps); err != nil {
		return 0, err
	}
	s.step++
	s.behaviour.observe(s.obs)
	return s.behaviour.reward(), s.diverged()
}

// ended says whether the episode reached its time limit.
func (s *simulation) ended() bool { return s.step >= s.task.EpisodeSteps }

// diverged reports a simulation that ran away. MuJoCo would silently start
// anew; the models here switch that off.
func (s *simulation) diverged() error {
	for i, x := range s.obs {
		if !(math.Abs(x) < unbounded) {
			return fmt.Errorf("the simulation diverged: observation %d is %v", i, x)
		}
	}
	return nil
}

// narrow copies the observation as the learner sees it.
func (s *simulation) narrow(obs []float32) {
	for i, x := range s.obs {
		obs[i] = float32(x)
	}
}

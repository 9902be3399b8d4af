package envs

import (
	"fmt"
	"math"
)

// placer is a behaviour whose observation determines the state, except for parts on which
// no observation and no reward depends.
type placer interface {
	// place writes the state that an observation describes into the physics, which
	// is in its reference state.
	place(obs []float64) error
}

// Place starts a new episode in the state that an observation describes, so that a
// generated transition can be compared with the physics. If the observation does not
// determine the state, the error says why: this is so for every observation of tasks with
// Hidden, and for velocities at the clip of Gym's tasks. Step still requires actions in [-1,1]:
// clip generated ones.
func (e *Env) Place(obs []float32) error {
	if err := e.sim.placeAt(obs); err != nil {
		return fmt.Errorf("place %s: %w", e.sim.task.Name, err)
	}
	return nil
}

func (s *simulation) placeAt(obs []float32) error {
	p, ok := s.behaviour.(placer)
	if !ok {
		return fmt.Errorf("the state does not follow from an observation: %s", s.task.Hidden)
	}
	if len(obs) != s.task.ObsSize {
		return fmt.Errorf("observation of length %d, want %d", len(obs), s.task.ObsSize)
	}
	s.step, s.over = notStarted, false
	if err := s.body.Reset(); err != nil {
		return err
	}
	for i, x := range obs {
		if s.obs[i] = float64(x); math.IsNaN(s.obs[i]) || math.IsInf(s.obs[i], 0) {
			return fmt.Errorf("observation %d is %v", i, x)
		}
	}
	if err := p.place(s.obs); err != nil {
		return err
	}
	if err := s.body.prepare(); err != nil {
		return err
	}
	s.episode, s.step = placed, 0
	s.behaviour.observe(s.obs)
	return s.body.diverged()
}

package envs

import "fmt"

// placer is a behaviour whose observation determines the state, up to what no
// observation and no reward depends on.
type placer interface {
	// place writes the state that an observation describes.
	place(obs []float64)
}

// Place starts a new episode in the state that an observation describes, so that
// a transition that somebody made up can be held to the physics. Tasks whose
// observation does not determine the state refuse.
func (e *Env) Place(obs []float32) error {
	if err := e.sim.placeAt(obs); err != nil {
		return fmt.Errorf("place %s: %w", e.sim.task.Name, err)
	}
	return nil
}

func (s *simulation) placeAt(obs []float32) error {
	p, ok := s.behaviour.(placer)
	if !ok {
		return fmt.Errorf("its state does not follow from an observation")
	}
	if len(obs) != s.task.ObsSize {
		return fmt.Errorf("%d observations, want %d", len(obs), s.task.ObsSize)
	}
	s.step = notStarted
	if err := s.body.Reset(); err != nil {
		return err
	}
	for i, x := range obs {
		s.obs[i] = float64(x)
	}
	p.place(s.obs)
	if err := s.body.Step1(); err != nil {
		return err
	}
	s.step = 0
	s.behaviour.observe(s.obs)
	return s.diverged()
}

package source

import (
	"bytes"
	"fmt"
	"slices"

	"pgrlab/core/experience"
)

// Half is an env step that some copies have made before another one failed: their results are kept until
// all have made it.
type Half struct {
	Made          []bool
	Actions, Next []float32
	Rewards       []float32
	Ends          []experience.End
	Respawned     []bool
	Frames        []byte // if they are seen
}

// keepHalf keeps the results of some copies while the env step waits for another one.
func (s *Copies) keepHalf() {
	s.Half = nil
	if slices.Contains(s.made, true) {
		s.Half = &Half{slices.Clone(s.made), slices.Clone(s.Action), slices.Clone(s.Next),
			slices.Clone(s.Rewards), slices.Clone(s.Ends), slices.Clone(s.Respawned), bytes.Clone(s.frames)}
	}
	clear(s.made)
}

// takeHalf continues an env step that some copies have made.
func (s *Copies) takeHalf() {
	if h := s.Half; h != nil {
		copy(s.made, h.Made)
		copy(s.Next, h.Next)
		copy(s.Rewards, h.Rewards)
		copy(s.Ends, h.Ends)
		copy(s.Respawned, h.Respawned)
		copy(s.frames, h.Frames)
	}
}

// keepActions restores the actions that copies have taken already.
func (s *Copies) keepActions() {
	if h := s.Half; h != nil {
		for i, made := range h.Made {
			if made {
				copy(s.Row(s.Action, i), s.Row(h.Actions, i))
			}
		}
	}
}

// Restore takes what a checkpoint has. It is an error if that is of other copies, observations or actions.
func (s *Copies) Restore(from State) error {
	n := len(s.envs)
	switch h := from.Half; {
	case len(from.Obs) != len(s.Obs):
		return fmt.Errorf("an observation of %d numbers is saved, the task has %d", len(from.Obs), len(s.Obs))
	case len(from.Counters) != n:
		return fmt.Errorf("%d copies of the environment are saved, the run has %d", len(from.Counters), n)
	case h == nil:
	case len(h.Made) != n || len(h.Rewards) != n || len(h.Ends) != n || len(h.Next) != len(s.Next) || len(h.Actions) != len(s.Action):
		return fmt.Errorf("half of an env step is saved, of other copies than the run's %d", n)
	case len(h.Frames) != len(s.frames):
		return fmt.Errorf("half of an env step with frames of %d bytes is saved, the run's have %d", len(h.Frames), len(s.frames))
	}
	s.State = from
	return nil
}

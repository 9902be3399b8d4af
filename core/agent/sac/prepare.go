package sac

import (
	"errors"
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/device"
)

// Prepare compiles what these uses need, instead of compiling it at the first use. On a
// device with memory of its own it takes that memory now, or finds that there is too little.
func (s *Agent) Prepare(u agent.Uses) error {
	if err := s.prepareUpdates(u); err != nil {
		return err
	}
	if err := s.prepareActing(u); err != nil {
		return err
	}
	return s.probes.Prepare(u)
}

// prepareUpdates compiles the updates, singly or all those of an env step as one launch.
func (s *Agent) prepareUpdates(u agent.Uses) error {
	if u.Source != nil {
		if err := s.reserve(u.Source); err != nil {
			return err
		}
	}
	for _, m := range u.Mixes {
		if err := s.prepareUpdate(m.Size(), u.Source); err != nil {
			return err
		}
	}
	return nil
}

// prepareUpdate compiles the updates on batches of a size.
func (s *Agent) prepareUpdate(size int, from *agent.SourceSize) error {
	up, err := s.updater(size, from != nil)
	if err != nil || from == nil || !s.Fused() {
		return err
	}
	if err := s.sampleFrom(up, agent.BatchSource{Mixer: from.Mixer}); err != nil {
		return err
	}
	_, err = s.fusedSchedule(up, from.Updates)
	return err
}

// reserve takes the device's memory for rings: for the rows that they will come to hold,
// not for the capacity of the host's rings. If there is not enough memory, the host samples
// the batches, and Fused says so from then on.
func (s *Agent) reserve(d *agent.SourceSize) error {
	if !s.Fused() {
		return nil
	}
	for i, rows := range []int{d.Real, d.Synthetic} {
		if rows == 0 {
			continue
		}
		if err := s.rings.reserve(i, rows); err != nil {
			return s.sampleOnHost(err)
		}
	}
	return nil
}

// sampleOnHost gives the device's rings up if that is what err says about its memory; the host
// then samples the batches. It also closes what was compiled for sampled batches, because their
// memory is the device's.
func (s *Agent) sampleOnHost(err error) error {
	var full *device.OutOfMemory
	if !errors.As(err, &full) {
		return fmt.Errorf("agent: %w", err)
	}
	err = errors.Join(s.updaters.Drop(func(k updaterKey) bool { return k.sampled }), s.rings.Close())
	s.rings = nil
	return err
}

// prepareActing compiles what the exploring copies and an evaluation by means need.
func (s *Agent) prepareActing(u agent.Uses) error {
	var err error
	if s.config.Exploration == ExploreBootstrap {
		_, err = s.choosing.Of(s.config.Candidates)
	} else {
		_, err = s.actors.Of(actorKey{agent.Explore, agent.Padded(max(1, u.Copies))})
	}
	if err == nil && u.Evaluated > 0 {
		_, err = s.actors.Of(actorKey{agent.Mean, agent.Padded(min(u.Evaluated, agent.MaxRows))})
	}
	return err
}

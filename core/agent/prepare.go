package agent

import (
	"errors"
	"fmt"

	"pgrlab/core/device"
	"pgrlab/core/replay"
)

// Uses are what an agent is about to be used for, in rows.
type Uses struct {
	Batch     int         // of updates
	Source    *SourceSize // of UpdateN; nil: Update is called
	Evaluated int         // observations that ActMean takes at a time; 0: none
	Probed    int         // observations of Activations; 0: none
}

// SourceSize is what UpdateN will be asked for.
type SourceSize struct {
	Updates         int // in an env step
	Mixer           replay.Mixer
	Real, Synthetic int // the most rows that the rings will hold; 0: there is no such ring
}

// Prepare compiles what these uses need, which otherwise happens at the first of
// each: on a device with memory of its own the memory is taken now, or found to be
// too little.
func (s *SAC) Prepare(u Uses) error {
	steps := []func() error{
		func() error { return s.prepareUpdates(u) },
		s.compileActing,
	}
	if u.Evaluated > 0 {
		steps = append(steps, func() error { _, err := s.meanActing(padded(min(u.Evaluated, MaxRows))); return err })
	}
	if u.Probed > 0 {
		steps = append(steps, func() error { _, err := s.probe(padded(min(u.Probed, MaxRows))); return err })
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// prepareUpdates compiles the updates, one by one or all of an env step as one.
func (s *SAC) prepareUpdates(u Uses) error {
	if u.Source != nil && s.Whole() {
		if err := s.reserve(u.Source); err != nil {
			return err
		}
	}
	if u.Source == nil || !s.Whole() {
		_, err := s.updater(u.Batch)
		return err
	}
	up, err := s.updaterOf(u.Batch, true)
	if err != nil {
		return err
	}
	if err := s.compileSampler(up, u.Source.Mixer); err != nil {
		return err
	}
	_, err = s.whole(up, u.Source.Updates)
	return err
}

// reserve takes the device's memory for rings: not for all that the host's may hold, but
// for what will be in them. Where there is not enough the host samples the batches, and
// Whole says so from then on.
func (s *SAC) reserve(d *SourceSize) error {
	for i, rows := range []int{d.Real, d.Synthetic} {
		if rows == 0 {
			continue
		}
		err := s.feed.reserve(i, rows)
		if err == nil {
			continue
		}
		var full *device.OutOfMemory
		if !errors.As(err, &full) {
			return fmt.Errorf("agent: %w", err)
		}
		if err := s.feed.close(); err != nil {
			return err
		}
		s.feed = nil
		return nil
	}
	return nil
}

// compileActing compiles what Act needs, once.
func (s *SAC) compileActing() error {
	switch {
	case s.config.Exploration == ExploreBootstrap && s.choosing == nil:
		return s.compileChoosing()
	case s.config.Exploration != ExploreBootstrap && s.acting == nil:
		return s.compileSample()
	}
	return nil
}

package session

import (
	"fmt"
	"time"

	"pgrlab/core/lab"
	"pgrlab/tui/scenes"
)

// recordScenes writes scenes of a run into its folder, if it keeps them, until the function that it
// returns is called after the run's end. The run is worth more than its scenes: it goes on if they
// cannot be written.
func (s *session) recordScenes(l *lab.Lab) (end func()) {
	if !s.scenes {
		return func() {}
	}
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		if err := s.record(l, over); err != nil {
			s.unrecorded = fmt.Errorf("scenes: %w: a replay has those from before", err)
		}
	}()
	return func() {
		close(over)
		<-done
	}
}

// record writes scenes until over is closed.
func (s *session) record(l *lab.Lab, over <-chan struct{}) error {
	file, err := s.folder.Log(scenes.FileName)
	if err != nil {
		return err
	}
	defer file.Close()
	tick := time.NewTicker(scenes.LookEvery)
	defer tick.Stop()
	var r *scenes.Recorder
	for {
		if first := l.Events(0); r == nil && len(first) > 0 {
			if r, err = scenes.NewRecorder(file, first[0].Wall); err != nil {
				return err
			}
		}
		if r != nil {
			if err := r.Look(l, time.Now()); err != nil {
				return err
			}
		}
		select {
		case <-over:
			if all := l.Events(0); r != nil {
				return r.End(l, all[len(all)-1].Wall)
			}
			return nil
		case <-tick.C:
		}
	}
}

package agent

// Uses are what an agent is about to be used for, in rows.
type Uses struct {
	Batch  int // of updates
	Judged int // observations that ActMean takes at a time; 0: none
	Probed int // observations of Activations; 0: none
}

// Prepare compiles what these uses need, which otherwise happens at the first of
// each: on a device with memory of its own the memory is taken now, or found to be
// too little.
func (s *SAC) Prepare(u Uses) error {
	steps := []func() error{
		func() error { _, err := s.updater(u.Batch); return err },
		s.compileActing,
	}
	if u.Judged > 0 {
		steps = append(steps, func() error { _, err := s.meanActing(padded(min(u.Judged, mostRows))); return err })
	}
	if u.Probed > 0 {
		steps = append(steps, func() error { _, err := s.probe(padded(min(u.Probed, mostRows))); return err })
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
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

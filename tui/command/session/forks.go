package session

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"pgrlab/core/checkpoint"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/forks"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/pane"
)

// fork makes the children of a plan and queues them. With an error it returns the children that
// could be made.
func (s *session) fork(p pane.ForkPlan) ([]pane.Child, error) {
	return s.forks.Add(func() int { return forks.RoomBeside(s.threads) }, func() ([]pane.Child, error) { return s.children(p) })
}

// children makes the folders of the children of a plan.
func (s *session) children(p pane.ForkPlan) ([]pane.Child, error) {
	if p.Confirm {
		return s.confirmation(p)
	}
	from, err := rundir.Checkpoint(s.folder.Dir())
	if err != nil {
		return nil, err
	}
	kind := [2]string{"control", "changed"}
	if len(p.Set) == 0 {
		kind = [2]string{"placebo-a", "placebo-b"}
	}
	return s.pairs(p, func(pair int, changed bool) (pane.Child, error) {
		c := pane.Child{Pair: pair, Changed: changed, From: from.Step, To: from.Step + p.Steps}
		config := s.config
		config.Steps = c.To
		config.Seed = config.Disjoint(1 + pair)
		name := kind[0]
		set := []string(nil)
		if changed {
			name, set = kind[1], p.Set
			if len(p.Set) == 0 {
				config.Seed = config.Disjoint(1_000) // the only difference
			}
		}
		c.Dir = rundir.Free(fmt.Sprintf("%s-fork-%d-%s-s%d", filepath.Clean(s.folder.Dir()), from.Step, name, config.Seed))
		doc, err := presets.Encode(config)
		if err == nil {
			_, err = checkpoint.Fork(config, doc, from, set, c.Dir) // the parent is this run, whose folder can be written to
		}
		return c, err
	})
}

// confirmation writes the changes of the run into a preset, and makes runs with and without the
// preset, from step 0 and on seeds that the run did not use.
func (s *session) confirmation(p pane.ForkPlan) ([]pane.Child, error) {
	changed := s.config
	var err error
	if changed.Schedule, err = s.schedule(); err != nil {
		return nil, err
	}
	doc, err := presets.Encode(changed)
	if err != nil {
		return nil, err
	}
	name := filepath.Clean(s.folder.Dir()) + "-schedule"
	preset := name + ".toml"
	for n := 2; rundir.Exists(preset); n++ { // an earlier confirmation made it
		preset = fmt.Sprintf("%s-%d.toml", name, n)
	}
	err = cli.WriteFile(preset, func(w io.Writer) error {
		_, err := w.Write(doc)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("write preset: %w", err)
	}
	return s.pairs(p, func(pair int, is bool) (pane.Child, error) {
		c := pane.Child{Pair: pair, Changed: is, To: s.config.Steps}
		config, name := s.config, "control"
		if is {
			config, name = changed, "confirm"
		}
		config.Seed = config.Disjoint(1 + pair)
		c.Dir = rundir.Free(fmt.Sprintf("%s-%s-s%d", filepath.Clean(s.folder.Dir()), name, config.Seed))
		doc, err := presets.Encode(config)
		if err != nil {
			return c, err
		}
		folder, err := run.Create(c.Dir, doc)
		if err != nil {
			return c, err
		}
		return c, folder.Close()
	})
}

// schedule lists the changes of the run: those that were made, and those that are still to come, which
// are also the control's if the configuration plans them.
func (s *session) schedule() (all []string, err error) {
	var toCome []knob.Scheduled
	if s.lab != nil {
		toCome = s.lab.Snapshot().Scheduled // before the journal is read: none may be missed
	}
	made, err := event.ReadSchedule(s.folder.Dir())
	if err != nil {
		return nil, err
	}
	for _, c := range made {
		all = append(all, c.String())
	}
	for _, c := range toCome {
		if text := c.String(); !slices.Contains(all, text) { // else it was made meanwhile
			all = append(all, text)
		}
	}
	return all, nil
}

// pairs makes two children for each pair, in the order in which they are trained: one pair is
// completed before the next one begins.
func (s *session) pairs(p pane.ForkPlan, one func(pair int, changed bool) (pane.Child, error)) (made []pane.Child, err error) {
	for pair := range p.Pairs {
		for _, changed := range []bool{false, true} {
			c, err := one(pair, changed)
			if err != nil {
				return made, err
			}
			made = append(made, c)
		}
	}
	return made, nil
}

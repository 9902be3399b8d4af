package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/core/redo"
	"pgrlab/core/run"
	"pgrlab/core/task"
)

// anyTask is larger than any existing task. It gives the limit when the task is not known.
var anyTask = task.Task{ObsSize: 4096, ActSize: 256}

// Limit is how much a checkpoint of a run can hold, whatever its task.
func Limit(c *config.Config) run.Limit { return c.Limit(anyTask) }

// Contained turns a panic of load into an error. The content of a checkpoint is checked as it
// is read; this covers faults that those checks do not foresee.
func Contained(load func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			text, _, _ := strings.Cut(fmt.Sprint(p), "\n")
			err = fmt.Errorf("is damaged: it cannot be loaded: %s", text)
		}
	}()
	return load()
}

// validate returns an error for values of a loop that are impossible in the run. A correct
// checksum can be made for anything, and a run that goes on from here must terminate.
func (i *Into) validate(s *Loop) error {
	c := i.Config
	err := cmp.Or(
		config.Between("step", s.Loop.Step, 0, c.RoundUp(c.Steps)), config.Between("units of a phase", s.Total, 0, config.MaxCount),
		config.Between("work", int(s.Todo), int(redo.Nothing), int(knob.ClassRefit)), config.Between("work asked for", int(s.Loop.Redo), int(redo.Nothing), int(knob.ClassRefit)),
		config.Between("stage", s.Bound, 0, len(boundStages)-1), config.Between("next chunk of a generation", s.Loop.Next, 0, 2*config.MaxCount),
		config.Between("calls of a generation", s.Loop.Calls, 0, config.MaxCount), config.Between("calls of a generation", s.Loop.OfCalls, 0, config.MaxCount),
		config.Between("changes", len(s.Loop.Changes), 0, config.MaxCount), config.Between("changes that wait", len(s.Loop.Waiting), 0, config.MaxCount),
	)
	if err != nil {
		return err
	}
	if err := validPosition(s.Position, c.RoundUp(c.Steps)); err != nil {
		return err
	}
	if err := i.Members[0].CheckPosition(s.Position); err != nil {
		return err
	}
	if s.Position.Step != s.Loop.Step {
		return fmt.Errorf("the run is at step %d and at %s", s.Loop.Step, s.Position)
	}
	if s.Position.Phase == knob.Collect && s.Position.I == 0 && s.Position.Step == 0 {
		return errors.New("the run is inside of env step 0")
	}
	settings := []*knob.Settings{&s.Loop.Settings}
	if s.Position.Phase == knob.Analyse {
		settings = append(settings, &s.Loop.Analysing)
	}
	for _, now := range settings {
		if err := now.Validate(); err != nil {
			return err
		}
		if err := c.Fits(now); err != nil {
			return err
		}
	}
	if err := s.Loop.Generating.Check(c.Buffer); err != nil {
		return err
	}
	if err := s.Loop.Asked.Knobs.Check(c.Buffer); err != nil {
		return err
	}
	if err := s.validateChanges(c); err != nil {
		return err
	}
	for k := range s.Members {
		if err := s.Members[k].Validate(c, i.Task); err != nil {
			return err
		}
	}
	return nil
}

// validateChanges is validate for the changes that were made, wait or are planned.
func (s *Loop) validateChanges(c *config.Config) error {
	changes := slices.Clone(s.Loop.Changes)
	for _, w := range s.Loop.Waiting {
		changes = append(changes, w.KnobChanged)
		if err := cmp.Or(config.Between("stage of a change", int(w.Home), int(redo.Score), int(redo.Step)), config.Between("stage of a change", int(w.Stage), int(redo.Score), int(redo.Partly))); err != nil {
			return err
		}
	}
	for _, k := range changes {
		if err := cmp.Or(config.Between("class of a change", int(k.Class), int(knob.ClassBatch), int(knob.ClassRun)), config.Between("number of a change", k.ID, 0, config.MaxCount)); err != nil {
			return err
		}
		if err := validPosition(k.Position, c.RoundUp(c.Steps)); err != nil {
			return err
		}
	}
	for _, p := range s.Schedule {
		if err := cmp.Or(validPosition(p.At, math.MaxInt), validPosition(p.Again, math.MaxInt), validPosition(p.Cancelled, math.MaxInt)); err != nil {
			return err
		}
		if p.Note != "" {
			continue
		}
		k, err := knob.Find(p.Knob)
		if err == nil {
			_, err = k.Parse(p.Value)
		}
		if err != nil {
			return fmt.Errorf("what is planned: %w", err)
		}
	}
	return nil
}

// validPosition returns an error if p is not a position in a run of that many steps.
func validPosition(p knob.Position, steps int) error {
	return cmp.Or(config.Between("phase", int(p.Phase), int(knob.Collect), int(knob.Phases)-1), config.Between("step", p.Step, 0, steps), config.Between("place in a phase", p.I, 0, math.MaxInt))
}

// checkLoaded returns an error if the loaded parts are inconsistent: the position of the loop
// and the content of the members.
func (i *Into) checkLoaded(p knob.Position) error {
	for _, m := range i.Members {
		if err := m.Observed.Loaded(); err != nil {
			return err
		}
		if err := m.Synthesis.Loaded(); err != nil {
			return err
		}
		scores, bound := m.Synthesis.Scores()
		scoring := p.Phase == knob.Score && p.I > 0
		fitting := p.Phase == knob.Fit && bound
		if (scoring || fitting) && (!bound || len(scores) != m.Real.Len()) {
			return fmt.Errorf("%d scores of %d transitions", len(scores), m.Real.Len())
		}
		if p.Phase == knob.Generate && p.I > 0 && m.Synthesis.Fresh == nil || p.Phase == knob.Evaluate && p.I > 0 && !m.Trial.Begun() {
			return fmt.Errorf("nothing of what is done at %s was saved", p)
		}
	}
	return nil
}

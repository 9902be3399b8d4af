package lab

import (
	"encoding/gob"
	"fmt"
	"io"
	"time"

	"pgrlab/core/checkpoint"
	"pgrlab/core/knob"
	"pgrlab/core/redo"
)

// loop returns the section loop as it is now.
func (x *experiment) loop() checkpoint.Loop {
	c, d := x.changes.State(), &x.synthesis
	s := checkpoint.Loop{
		Loop: checkpoint.Counters{
			Step: x.Step, Copies: x.config.Environment.InLockstep(), Settings: x.Settings, Refits: d.Refits, Generations: d.Generations, Generating: d.Generating, Calls: d.Calls, OfCalls: d.OfCalls, Next: c.Next, Fitted: d.Fitted, FittedTo: d.FittedTo,
			Asked: d.Asked, Analysing: d.Analysing, Redo: c.Redo, Changes: c.All, Waiting: c.Waiting,
			FittedWith: d.FittedWith, OtherSeed: d.OtherSeed, Seed: x.config.Seed,
		},
		Schedule: x.steering.schedule, Position: x.position, Total: x.total,
		Todo: c.Todo, Bound: checkpoint.Bound(c.Begun), Scored: x.refit.scored, Fitted: x.refit.fitted, Ended: x.checkpoints.lastStep.passed(x.position),
		Meter: x.meter.Kept(),
	}
	scored := x.position.Phase == knob.Score && x.position.I > 0 || x.position.Phase == knob.Fit
	for _, m := range x.members {
		s.Members = append(s.Members, m.Saved(scored))
	}
	return s
}

// saveSections calls put for every section, with a function that writes it. It must be called
// only between two slices.
func (x *experiment) saveSections(put func(name string, part func(w io.Writer) error) error) error {
	if x.inSlice {
		return fmt.Errorf("save run: the run is at work after %s", x.position)
	}
	err := put(checkpoint.SectionLoop, func(w io.Writer) error { return gob.NewEncoder(w).Encode(x.loop()) })
	if err != nil {
		return fmt.Errorf("save run: %s: %w", checkpoint.SectionLoop, err)
	}
	for _, m := range x.members {
		for _, s := range m.Sections() {
			if err := put(s.Name, s.Part.Save); err != nil {
				return fmt.Errorf("save run: %s: %w", s.Name, err)
			}
		}
	}
	return nil
}

// into returns the run, which has not begun, as the target of a checkpoint that is loaded. After
// an error of the load the run must not be used.
func (x *experiment) into() checkpoint.Into {
	return checkpoint.Into{Config: x.config, Task: x.task, Members: x.members, Loop: x.restore, Say: x.say}
}

// restore sets the run's counters to those of a checkpoint.
func (x *experiment) restore(s *checkpoint.Loop) {
	x.place.load(s.Loop.Step, s.Position, s.Total)
	l := &s.Loop
	x.Settings, x.steering.schedule = l.Settings, s.Schedule
	x.synthesis = synthesis{l.Refits, l.Generations, l.Generating, l.Calls, l.OfCalls, l.Fitted, l.FittedTo, l.Asked, l.Analysing, l.FittedWith, l.OtherSeed}
	x.changes.Restore(redo.State{All: l.Changes, Waiting: l.Waiting, Todo: s.Todo, Redo: l.Redo, Begun: s.Stage(), Next: l.Next})
	x.refit.scored, x.refit.fitted, x.checkpoints.lastStep.marked = s.Scored, s.Fitted, s.Ended
	x.meter.Restore(s.Meter)
}

// loaded is called when the run has been loaded.
func (x *experiment) loaded() {
	x.inSlice = false
	x.reported = x.standing()
	x.publish(time.Time{})
}

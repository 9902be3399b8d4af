package lab

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/core/redo"
	"pgrlab/core/task"
)

// anyTask is larger than a task that there is, for a limit where the task is not known.
var anyTask = task.Task{ObsSize: 4096, ActSize: 256}

// contained turns a panic of load into an error: what a checkpoint holds is checked
// where it is read, and this is for what was not thought of.
func contained(load func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			text, _, _ := strings.Cut(fmt.Sprint(p), "\n")
			err = fmt.Errorf("is damaged: it cannot be loaded: %s", text)
		}
	}()
	return load()
}

// validate says what in a saved loop cannot be true of a run of x: a checksum can be
// made for anything, and whoever goes on from it must come to an end.
func (s *savedLoop) validate(x *experiment) error {
	c := x.config
	counts := []ranged{
		{"step", s.Loop.Step, 0, c.Steps}, {"units of a phase", s.Total, 0, config.MaxCount},
		{"work", int(s.Todo), int(redo.Nothing), int(knob.ClassRefit)}, {"work asked for", int(s.Loop.Redo), int(redo.Nothing), int(knob.ClassRefit)},
		{"stage", s.Bound, 0, len(boundStages) - 1},
		{"changes", len(s.Loop.Changes), 0, config.MaxCount}, {"changes that wait", len(s.Loop.Waiting), 0, config.MaxCount},
	}
	if err := inRange(counts); err != nil {
		return err
	}
	if err := validPosition(s.Position, c.Steps); err != nil {
		return err
	}
	if err := x.checkPhase(s.Position); err != nil {
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
	if err := s.validateChanges(x); err != nil {
		return err
	}
	for i := range s.Members {
		if err := s.Members[i].validate(x); err != nil {
			return err
		}
	}
	return nil
}

// validateChanges is validate for what was changed, waits and is planned.
func (s *savedLoop) validateChanges(x *experiment) error {
	changes := slices.Clone(s.Loop.Changes)
	for _, w := range s.Loop.Waiting {
		changes = append(changes, w.KnobChanged)
		if err := inRange([]ranged{{"stage of a change", int(w.Home), int(redo.Score), int(redo.Step)}, {"stage of a change", int(w.Stage), int(redo.Score), int(redo.Step)}}); err != nil {
			return err
		}
	}
	for _, k := range changes {
		if err := inRange([]ranged{{"class of a change", int(k.Class), int(knob.ClassBatch), int(knob.ClassRun)}, {"number of a change", k.ID, 0, config.MaxCount}}); err != nil {
			return err
		}
		if err := validPosition(k.Position, x.config.Steps); err != nil {
			return err
		}
	}
	for _, p := range s.Schedule {
		if err := validPosition(p.At, math.MaxInt); err != nil {
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

// validate is savedLoop.validate for a member.
func (s *savedMember) validate(x *experiment) error {
	c, n := x.config, s.State
	counts := []ranged{
		{"steps of an episode", n.EpisodeStep, 0, max(x.task.EpisodeSteps, c.Steps)}, {"copies of the environment", len(n.Copies), 0, c.Environment.InLockstep()}, {"env steps of a member", n.Stepped, 0, c.Steps},
		{"missed updates", n.Curiosity.Missed, 0, math.MaxInt}, {"missed updates", n.RND.Missed, 0, math.MaxInt},
		{"models", len(n.Models), 0, 100}, {"losses of models", len(n.Losses.Models), 0, 100},
		{"transitions of D_syn", s.Synthetic, 0, c.Buffer}, {"transitions of D_syn", s.Fresh, 0, c.Buffer},
		{"scores", len(s.Scores), 0, c.Buffer}, {"parts", len(s.Parts), 0, 100},
		{"steps of a fit", s.Fit.Steps, 0, config.MaxCount}, {"losses of a fit", s.Fit.N, 0, config.MaxCount},
		{"real rows of a batch", s.Mix.Real, 0, knob.MaxRows}, {"synthetic rows of a batch", s.Mix.Synthetic, 0, knob.MaxRows},
	}
	for _, e := range n.Copies {
		counts = append(counts, ranged{"steps of an episode", e.Step, 0, max(x.task.EpisodeSteps, c.Steps)})
	}
	for _, l := range []mean{n.Losses.Critic, n.Losses.Actor, n.Losses.QMean, n.Losses.Model, n.Losses.RND, n.Losses.Bonus} {
		counts = append(counts, ranged{"losses", l.N, 0, math.MaxInt})
	}
	for _, m := range n.Models {
		counts = append(counts, ranged{"missed updates", m.Missed, 0, math.MaxInt})
	}
	for _, m := range n.Losses.Models {
		counts = append(counts, ranged{"losses", m.Loss.N, 0, math.MaxInt})
	}
	return inRange(counts)
}

// validPosition says whether p is a place of a run of so many steps.
func validPosition(p knob.Position, steps int) error {
	return inRange([]ranged{{"phase", int(p.Phase), int(knob.Collect), int(knob.Phases) - 1}, {"step", p.Step, 0, steps}, {"place in a phase", p.I, 0, math.MaxInt}})
}

// ranged is a number that is from least to most.
type ranged struct {
	name        string
	n           int
	least, most int
}

func inRange(all []ranged) error {
	for _, c := range all {
		if c.n < c.least || c.n > c.most {
			return fmt.Errorf("%s: %d, which is not from %d to %d", c.name, c.n, c.least, c.most)
		}
	}
	return nil
}

// checkLoaded says whether what was loaded goes together: the loop's counters and the parts'.
func (x *experiment) checkLoaded() error {
	for _, m := range x.members {
		scoring := x.position.Phase == knob.Score && x.position.I > 0
		fitting := x.position.Phase == knob.Fit && m.scorer != nil
		if (scoring || fitting) && (m.scorer == nil || len(m.scores) != m.real.Len()) {
			return fmt.Errorf("%d scores of %d transitions", len(m.scores), m.real.Len())
		}
		if p := x.position; p.Phase == knob.Generate && p.I > 0 && m.fresh == nil || p.Phase == knob.Evaluate && p.I > 0 && m.evaluation == nil {
			return fmt.Errorf("nothing of what is done at %s was saved", p)
		}
	}
	return nil
}

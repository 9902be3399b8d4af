package offline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"pgrlab/core/config"
	"pgrlab/core/device"
	"pgrlab/core/event"
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/core/task"
)

// Run is a run on disk at one of its checkpoints.
type Run struct {
	Config config.Config // of its folder
	Dir    string
	Step   int // of the checkpoint; negative: the latest
}

// Examine makes the expensive analyses of each member of a saved run. reference is another run, or
// the same run at another checkpoint, whose F is compared; nil: none. Examine reads checkpoints and
// writes nothing; the run may go on meanwhile.
func Examine(s Run, task task.Task, dev device.Device, e inspect.Examination, reference *Run) ([]*event.Examined, error) {
	l, err := s.open(task, dev)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	if err := l.apart(); err != nil {
		return nil, fmt.Errorf("examine %s: %w", s.Dir, err)
	}
	var other *inspect.View
	if reference != nil {
		if reference.Config.Task != s.Config.Task {
			return nil, fmt.Errorf("examine %s: %s is of task %s, not %s", s.Dir, reference.Dir, reference.Config.Task, s.Config.Task)
		}
		r, err := reference.open(task, dev)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		v := r.view(r.members[0])
		if (s.Config.Fills() || reference.Config.Fills()) && !v.F.Sees {
			return nil, fmt.Errorf("examine %s: F of %s is of latents, which have a meaning of their own in each run and at each step: want F of frames or observations, or runs that generate states", s.Dir, reference.Dir)
		}
		other = &v
	}
	var all []*event.Examined
	for _, m := range l.members {
		out := &event.Examined{}
		if err := inspect.Finish(inspect.Examine(l.view(m), e, other, out)); err != nil {
			return nil, fmt.Errorf("examine %s: %w", s.Dir, err)
		}
		all = append(all, out)
	}
	return all, nil
}

// apart returns why the latents of D_real and D_syn come from two encoders at the checkpoint, or nil.
func (o *opened) apart() error {
	c, syn := &o.loop.Loop, o.members[0].Synthetic
	if !o.config.Fills() || syn == nil || syn.Len() == 0 || c.FittedTo == 0 {
		return nil
	}
	switch o.loop.Position.Phase {
	case knob.Encode, knob.Score, knob.Fit, knob.Generate:
		return fmt.Errorf("the checkpoint is inside of a refit, at %s: D_real is of a newer encoder than D_syn: choose another checkpoint with @STEP", o.loop.Position)
	}
	if c.FittedTo != o.members[0].Real.Total() || !c.Asked.Known {
		return errors.New("a refit was given up after its new D_real, which is of a newer encoder than D_syn: choose another checkpoint with @STEP")
	}
	return nil
}

// Record writes the findings of Examine into the journal of their run, as lines made on demand. It
// takes the folder while it writes, so that no lab runs in it; an error of Extend may mean that one
// does.
func Record(dir, by string, found []*event.Examined) error {
	folder, err := run.Extend(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	wall := 0.0
	err = folder.History(folder.Mark(), func(e run.Entry) error {
		wall = max(wall, e.WallS)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the journal of %s: %w", dir, err)
	}
	for i, e := range found {
		e.Obs = &event.ExaminedObs{OnDemand: true, By: by}
		line := run.Line{Type: event.TypeExamined, Step: e.Step, Member: i, Body: e, WallS: wall}
		if len(found) == 1 {
			line.Member = event.NoMember
		}
		if err := folder.Append(line); err != nil {
			return err
		}
	}
	return folder.Sync()
}

// checkpoint returns the path of the wanted checkpoint. One that was taken under another config.toml is
// refused, because the configuration says what its numbers mean.
func (s Run) checkpoint() (string, error) {
	found, err := run.Checkpoints(s.Dir)
	if err != nil {
		return "", err
	}
	for _, f := range found {
		if f.Err == nil && (s.Step < 0 || f.Step == s.Step) {
			if err := run.CheckConfig(s.Dir, f.Config); err != nil {
				return "", fmt.Errorf("%s: %w", f.Path, err)
			}
			return f.Path, nil
		}
	}
	switch {
	case len(found) == 0:
		return "", errors.New("it has no checkpoint yet: pgrlab checkpoint saves one while the run goes on")
	case s.Step < 0:
		return "", fmt.Errorf("none of its %d checkpoints can be read: %w", len(found), found[0].Err)
	}
	return "", fmt.Errorf("it has no checkpoint of step %s: %s", knob.FormatCount(s.Step), listed(found, s.Step))
}

// listed says of which steps there are checkpoints; of many, which are the nearest to a step.
func listed(found []run.Found, step int) string {
	const most = 12
	var steps []int
	for _, f := range found {
		if f.Err == nil {
			steps = append(steps, f.Step)
		}
	}
	if len(steps) == 0 {
		return fmt.Sprintf("none of its %d can be read: %v", len(found), found[0].Err)
	}
	slices.Sort(steps)
	steps = slices.Compact(steps)
	text := "there are those of steps"
	if len(steps) > most {
		at, _ := slices.BinarySearch(steps, step)
		at = min(max(0, at-most/4), len(steps)-most/2)
		text = fmt.Sprintf("there are %d, from step %s to %s, the nearest of steps", len(steps), knob.FormatCount(steps[0]), knob.FormatCount(steps[len(steps)-1]))
		steps = steps[at : at+most/2]
	}
	var names []string
	for _, s := range steps {
		names = append(names, knob.FormatCount(s))
	}
	return text + " " + strings.Join(names, ", ")
}

// Together projects the synthetic transitions of two runs of the same task into one plane, at most
// rows of each; embed asks for t-SNE as well. Runs whose transitions are latents are refused.
func Together(runs [2]Run, task task.Task, dev device.Device, rows int, embed bool) (*inspect.Joint, error) {
	for _, s := range runs {
		if s.Config.Task != runs[0].Config.Task {
			return nil, fmt.Errorf("analyse %s and %s: their tasks are %s and %s: want one", runs[0].Dir, s.Dir, runs[0].Config.Task, s.Config.Task)
		}
		if s.Config.Sees() || s.Config.Fills() {
			return nil, fmt.Errorf("analyse %s and %s: the transitions of %s are latents, which have a meaning of their own in each run and at each step: want runs that generate states", runs[0].Dir, runs[1].Dir, s.Dir)
		}
	}
	out := &inspect.Joint{}
	var clouds [2][][]float32
	for i, s := range runs {
		var err error
		if clouds[i], err = s.generations(task, dev, rows, &out.Runs[i]); err != nil {
			return nil, err
		}
	}
	if err := inspect.Together(clouds, embed, out); err != nil {
		return nil, fmt.Errorf("analyse %s and %s: %w", runs[0].Dir, runs[1].Dir, err)
	}
	return out, nil
}

// generations returns at most rows synthetic transitions of a saved run's first member.
func (s Run) generations(task task.Task, dev device.Device, rows int, of *inspect.JointRun) (cloud [][]float32, err error) {
	l, err := s.open(task, dev)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	syn := l.members[0].Synthetic
	if syn == nil || syn.Len() == 0 {
		return nil, fmt.Errorf("analyse %s: at step %s it has no synthetic transitions: want a method with a generator, and a step after its first generation", s.Dir, knob.FormatCount(l.loop.Loop.Step))
	}
	*of = inspect.JointRun{Dir: s.Dir, Method: s.Config.Method, Seed: s.Config.Seed, Step: l.loop.Loop.Step}
	v := l.view(l.members[0])
	for _, slot := range v.Looked(rows) {
		cloud = append(cloud, append([]float32(nil), syn.Row(slot)...))
	}
	return cloud, nil
}

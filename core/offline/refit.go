package offline

import (
	"context"
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/config"
	"pgrlab/core/device"
	"pgrlab/core/generative"
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/replica"
	"pgrlab/core/task"
)

// OtherGenerator holds the settings of a generator beside a saved run's own: the fixed ones, and
// the knobs of its fits and generations that differ from those in force at the checkpoint.
type OtherGenerator struct {
	Generator config.Generator  // Kind must make transitions
	Set       map[string]string // knobs by name, as knob.Settings.Set takes them
}

// knobs returns the knobs of a checkpoint with those that were set.
func (o OtherGenerator) knobs(saved knob.Settings) (knob.Settings, error) {
	for name, text := range o.Set {
		if err := saved.Set(name, text); err != nil {
			return saved, err
		}
	}
	return saved, nil
}

// RefitRequest asks for a generator to be fitted to the real transitions of a saved run. It is
// separate from the run's own generator, and its settings may differ.
type RefitRequest struct {
	OtherGenerator
	inspect.OfflineRefit // its Knobs are taken from the checkpoint; without F, its Guidances are 0 alone
}

// Refit fits a generator to the first member of each saved run in turn, judges what it generates,
// and passes the result to found. It is one generator for all runs: if Generator.Init is
// "previous", every refit but the first goes on from the one before, as within a run. Refit reads
// checkpoints and writes nothing. If ctx ends, the error wraps its cause.
func Refit(ctx context.Context, saved []Run, task task.Task, dev device.Device, r RefitRequest, found func(*inspect.Refitted) error) error {
	var gen generative.Generator
	policy := &present{}
	defer func() {
		if gen != nil {
			gen.Close()
		}
	}()
	for i, s := range saved {
		if s.Config.Task != saved[0].Config.Task {
			return fmt.Errorf("refit %s: it is of task %s and %s of %s: want one task", s.Dir, s.Config.Task, saved[0].Dir, saved[0].Config.Task)
		}
		o, err := s.offline(ctx, task, dev, r, i)
		if err != nil {
			return err
		}
		policy.Policy = o.m.Rolled()
		if gen == nil {
			gen, err = o.parts.Generator(policy, o.m.Seed)
		}
		var one *inspect.Refitted
		if err == nil {
			one, err = o.Refit(gen)
		}
		o.run.Close()
		if err != nil {
			return fmt.Errorf("refit %s: %w", s.Dir, err)
		}
		if kind, err := generative.Find(r.Generator.Kind); err == nil && !kind.Learns {
			one.Steps, one.Loss = 0, nil
		}
		one.Dir = s.Dir
		if err := found(one); err != nil {
			return err
		}
	}
	return nil
}

// present is the policy of the run to which the generator is fitted.
type present struct{ agent.Policy }

// offline is a refit of a saved run under way.
type offline struct {
	*inspect.Offline
	run   *opened
	m     *replica.Replica
	parts replica.Parts // with the generator that is asked for
}

// offline opens a saved run for a refit. It must be closed.
func (s Run) offline(ctx context.Context, task task.Task, dev device.Device, r RefitRequest, index int) (*offline, error) {
	failed := func(err error) (*offline, error) { return nil, fmt.Errorf("refit %s: %w", s.Dir, err) }
	c := s.Config
	c.Generator = r.Generator
	if !c.Generates() {
		return failed(fmt.Errorf("its method %s has no generator: set generator.kind to %q, or take a run of a method with one", c.Method, generative.Specs()[0].Kind))
	}
	l, err := s.open(task, dev)
	if err != nil {
		return nil, err
	}
	o := &offline{run: l, m: l.members[0]}
	if c.Knobs, err = r.knobs(l.loop.Loop.Settings); err == nil {
		o.parts, err = replica.NewParts(&c, l.task, dev)
	}
	if err == nil {
		r.Knobs = c.Knobs
		err = o.begin(ctx, r, index)
	}
	if err != nil {
		l.Close()
		return failed(err)
	}
	return o, nil
}

// begin starts the refit with the requested relevance function, as the run has learned it.
func (o *offline) begin(ctx context.Context, r RefitRequest, index int) error {
	name := r.Knobs.Relevance
	if !o.m.Functions.Built(name) {
		return fmt.Errorf("relevance is %s, which the run has not learned: want %s, as the run has", name, o.run.loop.Loop.Settings.Relevance)
	}
	v, err := o.m.ViewAs(o.run.view(o.m), r.Knobs)
	if err != nil {
		return err
	}
	made := o.run.config
	made.Generator = r.Generator
	switch r.Slice = r.Generator.Slice; {
	case name == relevance.None:
		r.Guidances = []float64{0} // the generator takes no requested F
	case made.Has()&knob.UseDiffusion == 0:
		r.Guidances = []float64{1} // it has no guidance: all would be the same
	}
	breathe := until(ctx)
	if err := catchUp(o.m, name, breathe); err != nil {
		return err
	}
	o.Offline, err = inspect.NewOffline(v, r.OfflineRefit, o.m.Seed, index, breathe)
	return err
}

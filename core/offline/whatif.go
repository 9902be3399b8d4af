package offline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"pgrlab/core/agent"
	"pgrlab/core/analysis"
	"pgrlab/core/config"
	"pgrlab/core/device"
	"pgrlab/core/generative"
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
	"pgrlab/core/plan"
	"pgrlab/core/redo"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/replica"
	"pgrlab/core/rng"
	"pgrlab/core/task"
	"pgrlab/core/whatif"
)

// WhatIfRequest asks how a saved run's agent would fare with other rows to learn from.
type WhatIfRequest struct {
	Plan whatif.Plan // what it leaves open is taken from the run
	// Other is a generator with other settings than the run's, which makes all rows;
	// nil: the run's.
	Other *OtherGenerator
	// Progress is called between slices of work; its error ends it.
	Progress func(whatif.Progress) error
}

// WhatIf trains the agent of a saved run's first member from its checkpoint with different rows,
// and returns the results: see package whatif. It reads a checkpoint and writes nothing. If ctx
// ends, the error wraps its cause.
func WhatIf(ctx context.Context, s Run, task task.Task, dev device.Device, r WhatIfRequest) (found *whatif.Table, step int, err error) {
	failed := func(err error) (*whatif.Table, int, error) {
		return nil, 0, fmt.Errorf("analyse %s: what if: %w", s.Dir, err)
	}
	fixed := s.Config
	fixed.Knobs.Bonus, fixed.Knobs.Prior = 0, 0 // the knobs may have other values at the checkpoint
	if err := fixed.CheckWhatIf(); err != nil {
		return failed(err)
	}
	l, err := s.open(task, dev)
	if err != nil {
		return nil, 0, err
	}
	defer l.Close()
	c := &l.loop.Loop
	fixed.Knobs = c.Settings
	if err := fixed.CheckWhatIf(); err != nil {
		return failed(err)
	}
	w := &whatIf{opened: l, run: &c.Settings, m: l.members[0], task: l.task, dev: dev, made: s.Config, knobs: c.Settings, fitted: lastFitHolds(l)}
	if r.Other != nil {
		w.made.Generator, w.fitted = r.Other.Generator, false
		if w.knobs, err = r.Other.knobs(c.Settings); err != nil {
			return failed(err)
		}
	}
	breathe := until(ctx)
	subject, err := w.subject(breathe)
	if err != nil {
		return failed(err)
	}
	p := r.Plan
	completeWhatIf(&w.made, &w.knobs, &p)
	found, err = whatif.Run(*subject, p, func(at whatif.Progress) error {
		if err := breathe(); err != nil {
			return err
		}
		return r.Progress(at)
	})
	if err != nil {
		return failed(err)
	}
	return found, c.Step, nil
}

// WhatIfUpdates estimates what the analysis of a run takes at most, in critic updates, if its knobs
// are as given: directly after a refit, the run's own generator need not be fitted again.
func WhatIfUpdates(c *config.Config, knobs knob.Settings, task task.Task, p whatif.Plan) (int, error) {
	task, err := task.Played(c.Played())
	if err != nil {
		return 0, err
	}
	completeWhatIf(c, &knobs, &p)
	return p.Cost(task.EpisodeSteps, func(string) int { return fitUpdates(&knobs) }), nil
}

// whatIf is an analysis under way, of a run that was opened for it alone.
type whatIf struct {
	*opened
	run    *knob.Settings // as saved
	m      *replica.Replica
	task   task.Task
	dev    device.Device
	agent  []byte        // as saved
	made   config.Config // the run's, with the generator that makes the rows
	knobs  knob.Settings // of its fits and generations
	fitted bool          // the generator is the run's own, and a fit made now would be the same: see lastFitHolds
}

// completeWhatIf fills in what a plan leaves open, from what the run does.
func completeWhatIf(c *config.Config, s *knob.Settings, p *whatif.Plan) {
	samples := p.Sampling.Samples
	p.Sampling = s.Generation()
	if samples > 0 {
		p.Sampling.Samples = samples
	}
	if p.Relevance == nil && s.Relevance != relevance.None {
		p.Relevance = []string{s.Relevance}
	}
	if p.Guidance == nil {
		p.Guidance = []float64{0, 1, 2}
		if !slices.Contains(p.Guidance, s.Guidance) {
			p.Guidance = append(p.Guidance, s.Guidance)
		}
	}
	if c.Has()&knob.UseDiffusion == 0 {
		p.Guidance, p.Sampling.Guidance = []float64{1}, 1 // the generator has no guidance
	}
	if p.TopFraction == nil {
		p.TopFraction = []float64{s.TopFraction}
	}
}

// subject returns the run as the subject of a study. breathe is called between pieces of the work that
// this takes; its error ends it.
func (w *whatIf) subject(breathe func() error) (*whatif.Subject, error) {
	w.m.Generator.Cancel() // a checkpoint may have been taken in the middle of a fit
	var saved bytes.Buffer
	if err := w.m.Agent.Save(&saved); err != nil {
		return nil, err
	}
	w.agent = saved.Bytes()
	s := &whatif.Subject{
		Real: w.m.Real, Gamma: w.made.Agent.Gamma, Rates: replica.Rates(w.run), UTD: w.run.UTD,
		Mix:     func(available int) replay.Mix { return w.made.Mix(w.run, available) },
		Learner: w.learner, Generator: w.generator, FitCost: w.fitCost,
		EpisodeSteps: w.task.EpisodeSteps, Simulator: w.simulator,
		Episodes: func(n int, seed uint64) (whatif.VecEnv, error) { return w.task.NewVec(n, seed) },
	}
	if w.run.Relevance != relevance.None && w.m.Functions.Built(w.run.Relevance) {
		if err := catchUp(w.m, w.run.Relevance, breathe); err != nil {
			return nil, err
		}
		s.Score = func(dst []float32, rows *replay.Ring) error { return w.m.ScoreRing(dst, w.m.F, rows, onward) }
	}
	return s, nil
}

// onward is the breathe function of work that nothing waits for: it never ends the work.
func onward() error { return nil }

// whatIfLearner is an agent that goes on after an update that was not finite and had no effect, as
// in a run whose fault policy allows it.
type whatIfLearner struct {
	agent.Learner
	agent.Batches
	agent.Actions
}

func (l whatIfLearner) Update(size int, live agent.Rates, last bool) (agent.Losses, bool, error) {
	losses, acted, err := l.Batches.Update(size, live, last)
	if failed := (*plan.NotFinite)(nil); errors.As(err, &failed) {
		err = nil
	}
	return losses, acted, err
}

// learner makes the agent as it was saved.
func (w *whatIf) learner(seed uint64) (whatif.Learner, error) {
	made, err := w.parts.Learner(nil, seed)
	if err != nil {
		return nil, err
	}
	if err := made.Load(bytes.NewReader(w.agent)); err != nil {
		made.Close()
		return nil, err
	}
	if made.Batches == nil || made.Actions == nil {
		made.Close()
		return nil, errors.New("its agent has no values of single actions")
	}
	return whatIfLearner{made.Learner, made.Batches, made.Actions}, nil
}

// fitCost estimates how many critic updates a fit takes.
func (w *whatIf) fitCost(relevance string) int {
	if w.fittedWith(relevance) {
		return 0
	}
	return fitUpdates(&w.knobs)
}

// fitUpdates estimates how many critic updates take as long as a fit, at the small scales.
func fitUpdates(s *knob.Settings) int { return 3 * s.GeneratorSteps }

// lastFitHolds reports whether the run's own generator was fitted to all real transitions of the
// first member, with the knobs as they are. If not, the generators of the other rows would be fitted
// to more transitions or with other knobs, and so differ in more than the rows that are asked for.
func lastFitHolds(o *opened) bool {
	c := &o.loop.Loop
	changed := slices.ContainsFunc(c.Waiting, func(w redo.Waiting) bool { return w.Stage < redo.Fitted })
	fresh := o.config.Generator.Init != generative.InitPrevious // else it has learned in all fits before
	return fresh && c.Fitted && c.FittedTo == o.members[0].Real.Total() && !changed
}

// fittedWith reports whether the run's own generator is the one that is fitted with that F.
func (w *whatIf) fittedWith(relevance string) bool {
	with := w.loop.Loop.FittedWith // of the last fit, for which F may not have been known yet
	return w.fitted && relevance == w.run.Relevance && (with == "" || with == relevance)
}

// generator returns the run's own generator if a fit with that function would give it again, else one
// that is fitted now with the settings in made and knobs.
func (w *whatIf) generator(function string, breathe func(share float64) error) (whatif.Generator, func(), error) {
	if w.fittedWith(function) {
		return w.m.Generator, func() {}, nil
	}
	var scores []float32
	c := w.made
	if function != relevance.None {
		c.Generator.Conditional = true
		scores = make([]float32, w.m.Real.Len())
		if err := w.scoreReal(scores, function, func() error { return breathe(0) }); err != nil {
			return nil, nil, err
		}
	}
	p, err := replica.NewParts(&c, w.task, w.dev)
	if err != nil {
		return nil, nil, err
	}
	g, err := p.Generator(w.m.Rolled(), w.m.Seed)
	if err != nil {
		return nil, nil, err
	}
	_, err = inspect.Fit(g, w.m.Real, scores, &w.knobs, 0, max(1, w.config.Generator.Slice), func(done, of int) error {
		return breathe(float64(done) / float64(of))
	})
	if err != nil {
		g.Close()
		return nil, nil, fmt.Errorf("relevance %s: %w", function, err)
	}
	return g, func() { g.Close() }, nil
}

// scoreReal writes F of the real rows by a function that the run may not have used. In that case
// its model first learns from these rows, with as many updates as the run has env steps.
func (w *whatIf) scoreReal(dst []float32, name string, breathe func() error) error {
	learning := slices.DeleteFunc(relevance.Named(name), func(need string) bool {
		return w.m.Functions.Built(need) || !slices.Contains(relevance.NamesOf(relevance.LearnsInSteps), need)
	})
	f, err := w.m.Functions.Build(name)
	if err != nil {
		return err
	}
	if err := w.learn(learning, breathe); err != nil {
		return err
	}
	if len(learning) == 0 || relevance.IsFormula(name) {
		if err := catchUp(w.m, name, breathe); err != nil {
			return err
		}
	}
	return w.m.ScoreRing(dst, f, w.m.Real, breathe)
}

// learn makes as many updates of some models as the run has env steps.
func (w *whatIf) learn(names []string, breathe func() error) error {
	for _, name := range names {
		for range w.config.EnvSteps(w.loop.Loop.Step) {
			if err := w.m.Functions.Update(name); err != nil {
				return err
			}
			if err := breathe(); err != nil {
				return err
			}
		}
	}
	return nil
}

// catchUp makes the model of that name do what it owes before it scores, as the run would: it may
// have missed updates while another F was chosen, and counts are taken again.
func catchUp(m *replica.Replica, name string, breathe func() error) error {
	rows := m.Real.Len()
	for done, owed := 0, m.Functions.Owed(name, rows); done < owed; {
		n, err := m.Functions.Warm(name, done, owed, rows)
		if err != nil {
			return err
		}
		done += n
		if err := breathe(); err != nil {
			return err
		}
	}
	return nil
}

// until returns a function that returns the cause of ctx's end once ctx has ended.
func until(ctx context.Context) (breathe func() error) {
	return func() error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return nil
	}
}

// simulator makes the task as a simulator that can be set to states.
func (w *whatIf) simulator() (analysis.Simulator, func() error, error) {
	if w.task.Hidden != "" {
		return nil, nil, fmt.Errorf("the state does not follow from an observation of %s: %s", w.task.Name, w.task.Hidden)
	}
	placed, err := replica.Simulator(w.task, rng.New(w.m.Seed, "what if").At(0).Uint64())
	if err != nil {
		return nil, nil, err
	}
	return placed, placed.Close, nil
}

package lab

import (
	"context"
	"fmt"
	"slices"
	"time"

	"pgrlab/core/device"
	"pgrlab/core/generative"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// OfflineRefit asks for a generator to be fitted to the real transitions of a saved
// run, beside the run's own and with settings that may differ from it: what another
// generator would have made of the same data.
type OfflineRefit struct {
	Generator Generator     // fixed settings; Kind must make transitions
	Knobs     knob.Settings // relevance, and those of a fit and of a generation
	Guidances []float64     // ω of the generations
	Rows      int           // transitions of each generation
	HeldOut   float64       // share of the real transitions that the fit does not see, in (0,1)

	// Clock is the processor time that this process has used. Nil: none is reported.
	Clock func() time.Duration
	// Progress is called between slices; nil: nobody looks. Its error ends the refit.
	Progress func(OfflineProgress) error
}

// OfflineProgress is how far an offline refit is.
type OfflineProgress struct {
	Saved    int    // which of the saved runs, from 0
	Step     int    // env step of its checkpoint
	Doing    string // "score", "fit", "generate ω 1", "measure ω 1"
	Done, Of int    // units of that; Of 0: not known
}

// RefitOffline fits a generator to the first member of each saved run in turn, judges
// what it generates, and hands that to found. It is one generator: where Generator.Init
// is "previous", every refit but the first goes on from the one before, as within a run.
// It reads checkpoints and writes nothing. The end of ctx is an error that wraps its
// cause.
func RefitOffline(ctx context.Context, saved []Saved, task Task, dev device.Device, r OfflineRefit, found func(*Refitted) error) error {
	var gen generator
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
		if gen == nil {
			gen, err = o.parts.generator(o.m.seed)
		}
		var one *Refitted
		if err == nil {
			one, err = o.refit(gen)
		}
		o.lab.Close()
		if err != nil {
			return fmt.Errorf("refit %s: %w", s.Dir, err)
		}
		if err := found(one); err != nil {
			return err
		}
	}
	return nil
}

// offline is a refit of a saved run under way.
type offline struct {
	*examining
	OfflineRefit
	lab        *Lab
	dir        string // of the run
	config     Config // of the run, with the generator that is asked for
	parts      parts
	at         OfflineProgress
	train, out subset // fitted to, and held out
}

// offline opens a saved run for a refit. Its lab must be closed.
func (s Saved) offline(ctx context.Context, task Task, dev device.Device, r OfflineRefit, index int) (*offline, error) {
	c := s.Config
	c.Generator, c.Knobs = r.Generator, r.Knobs
	if !c.generates() {
		return nil, fmt.Errorf("refit %s: its method %s has no generator: set generator.kind to %q, or take a run of a method with one", s.Dir, c.Method, GeneratorDiffusion)
	}
	if !(r.HeldOut > 0 && r.HeldOut < 1) {
		return nil, fmt.Errorf("refit %s: %g of the transitions held out, want a share between 0 and 1", s.Dir, r.HeldOut)
	}
	p, err := newParts(&c, task, dev)
	if err != nil {
		return nil, fmt.Errorf("refit %s: %w", s.Dir, err)
	}
	l, err := s.open(task, dev)
	if err != nil {
		return nil, err
	}
	o := &offline{OfflineRefit: r, lab: l, dir: s.Dir, config: c, parts: p}
	if err := o.begin(ctx, index); err != nil {
		l.Close()
		return nil, fmt.Errorf("refit %s: %w", s.Dir, err)
	}
	return o, nil
}

// begin takes the relevance function and divides the real transitions.
func (o *offline) begin(ctx context.Context, index int) error {
	m := o.lab.x.first()
	o.at = OfflineProgress{Saved: index, Step: o.lab.x.Step}
	f, err := o.function(m)
	if err != nil {
		return err
	}
	breathe := func() error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if o.Progress == nil {
			return nil
		}
		return o.Progress(o.at)
	}
	o.examining = o.lab.x.examining(m, f, o.Knobs, Examination{Rows: o.Rows}, breathe)
	o.train, o.out = divide(m.real, o.HeldOut, rng.New(m.seed, "held out"))
	if min(o.train.Len(), o.out.Len()) < leastExamined {
		return fmt.Errorf("%d real transitions, of which %d held out: want at least %d of each", m.real.Len(), o.out.Len(), leastExamined)
	}
	return nil
}

// function is the relevance function that is asked for, as the run has learned it.
func (o *offline) function(m *member) (relevance.Function, error) {
	name := o.Knobs.Relevance
	if !m.built(name) {
		return nil, fmt.Errorf("relevance is %s, which the run has not learned: want %s, as the run has", name, o.lab.x.Settings.Relevance)
	}
	return o.lab.x.parts.function(name, m)
}

// divide draws the transitions that are held out, each with that probability: the
// held-out ones are of the same distribution as the others, so that a generator as
// good as fresh real data covers them as the others do.
func divide(of *replay.Ring, share float64, s rng.Stream) (train, out subset) {
	train.ring, out.ring = of, of
	u := make([]float32, of.Len())
	s.FillUniform(u, 0, 0)
	for slot, v := range u {
		if float64(v) < share {
			out.slots = append(out.slots, slot)
		} else {
			train.slots = append(train.slots, slot)
		}
	}
	return train, out
}

// subset are some transitions of a ring.
type subset struct {
	ring  *replay.Ring
	slots []int
}

// Len implements generative.Rows.
func (s subset) Len() int { return len(s.slots) }

// Row implements generative.Rows.
func (s subset) Row(i int) []float32 { return s.ring.Row(s.slots[i]) }

// some are up to n of them at even distances.
func (s subset) some(n int) (slots []int) {
	n = min(n, len(s.slots))
	for i := range n {
		slots = append(slots, s.slots[i*len(s.slots)/n])
	}
	return slots
}

// rows are the transitions in slots.
func (s subset) rows(slots []int) (rows [][]float32) {
	for _, slot := range slots {
		rows = append(rows, s.ring.Row(slot))
	}
	return rows
}

// spent runs a stage of the refit and returns the processor time that it took.
func (o *offline) spent(doing string, stage func() error) (time.Duration, error) {
	o.at.Doing, o.at.Done, o.at.Of = doing, 0, 0
	if err := o.breathe(); err != nil {
		return 0, err
	}
	if o.Clock == nil {
		return 0, stage()
	}
	before := o.Clock()
	err := stage()
	return o.Clock() - before, err
}

// fit makes one refit of gen and returns the mean loss of its last tenth.
func (o *offline) fit(gen generator, scores []float32) (loss fitLoss, err error) {
	k := generative.FitKnobs{Steps: o.Knobs.GeneratorSteps, LR: o.Knobs.LRGenerator, PUncond: o.Knobs.PUncond}
	if err := gen.StartFit(o.train, scores, k, uint64(o.at.Saved)); err != nil {
		return loss, err
	}
	loss.steps = k.Steps
	slice := max(1, o.config.Generator.Slice)
	for done, complete := 0, false; !complete; {
		n := min(slice, k.Steps-done)
		var l float64
		if l, complete, err = gen.FitSteps(n); err != nil {
			return loss, err
		}
		loss.add(done, n, l)
		done += n
		o.at.Done, o.at.Of = done, k.Steps
		if err := o.breathe(); err != nil {
			gen.Cancel()
			return loss, err
		}
	}
	return loss, nil
}

// generation makes transitions with guidance omega into a ring.
func (o *offline) generation(gen generator, omega float64) (*replay.Ring, prompting, error) {
	k := generation(&o.Knobs)
	k.Guidance, k.Samples = omega, o.Rows
	made := replay.NewRing(o.m.real.Shape(), o.Rows)
	occasion := uint64(o.at.Saved)<<16 | uint64(slices.Index(o.Guidances, omega))
	asked := prompting{Knobs: k, Occasion: occasion, Known: true}
	if err := gen.StartGenerate(k, occasion); err != nil {
		return nil, asked, err
	}
	for done, total := 0, 1; done < total; {
		var rows []float32
		var err error
		if rows, done, total, err = gen.GenerateSlice(); err != nil {
			return nil, asked, err
		}
		made.AddRows(rows)
		o.at.Done, o.at.Of = done, total
		if err := o.breathe(); err != nil {
			gen.Cancel()
			return nil, asked, err
		}
	}
	return made, asked, nil
}

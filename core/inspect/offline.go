package inspect

import (
	"fmt"
	"io"
	"slices"
	"time"

	"pgrlab/core/generative"
	"pgrlab/core/knob"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/run"
)

// OfflineRefit asks for a generator to be fitted to the real transitions of a run, beside
// the run's own generator. It shows what another generator would have made of the same data.
type OfflineRefit struct {
	Knobs     knob.Settings // relevance, and the knobs of a fit and of a generation
	Guidances []float64     // ω of the generations
	Rows      int           // transitions of each generation
	HeldOut   float64       // share of the real transitions that the fit does not see, in (0,1)
	Slice     int           // gradient steps between two calls of Progress; 0: one

	// Clock returns the processor time that this process has used; nil: none is reported.
	Clock func() time.Duration
	// Progress is called between slices; nil: not called. Its error ends the refit.
	Progress func(OfflineProgress) error
}

// OfflineProgress says how far an offline refit has got.
type OfflineProgress struct {
	Saved    int    // which of the saved runs, from 0
	Step     int    // env step of its checkpoint
	Doing    string // "score", "fit", "generate ω 1", "measure ω 1"
	Done, Of int    // units of what Doing says; Of 0: not known
}

// Fitter is a generator that can be fitted; see package generative.
type Fitter interface {
	Generator
	StartFit(real generative.Rows, scores []float32, knobs generative.FitKnobs, refit uint64) error
	FitSteps(n int) (loss float64, done bool, err error)
	StartGenerate(knobs generative.GenKnobs, occasion uint64) error
	GenerateSlice() (rows []float32, done, total int, err error)
	Cancel()
	io.Closer
}

// FitLoss averages the loss over the last tenth of a fit.
type FitLoss struct {
	Steps, N  int // gradient steps of the whole fit; steps averaged
	Sum, Last float64
	Ended     bool
}

// Add adds the mean loss of the n steps that follow the first done steps.
func (f *FitLoss) Add(done, n int, loss float64) {
	f.Last = loss
	if done+n > f.Steps-(f.Steps+9)/10 {
		f.Sum += loss * float64(n)
		f.N += n
	}
}

// End records that the fit is complete after made steps. If it ended before its last tenth,
// the latest loss is its mean.
func (f *FitLoss) End(made int) {
	f.Ended = true
	if made >= f.Steps {
		return
	}
	f.Steps = made
	if f.N == 0 {
		f.Sum, f.N = f.Last, 1
	}
}

// Mean returns the mean loss of the last tenth; nil before it.
func (f *FitLoss) Mean() *run.Float {
	if f.N == 0 {
		return nil
	}
	v := run.Float(f.Sum / float64(f.N))
	return &v
}

// Offline is an offline refit under way.
type Offline struct {
	*examiner
	OfflineRefit
	at         OfflineProgress
	train, out subset // transitions for the fit, and held-out ones
}

// NewOffline divides the real transitions of v, whose F must be that of r.Knobs. seed decides
// which transitions are held out, and index is the number of the run among several, from 0.
// yield is called between pieces, before r.Progress.
func NewOffline(v View, r OfflineRefit, seed uint64, index int, yield func() error) (*Offline, error) {
	o := &Offline{OfflineRefit: r, at: OfflineProgress{Saved: index, Step: v.Step}}
	if !(r.HeldOut > 0 && r.HeldOut < 1) {
		return nil, fmt.Errorf("%g of the transitions held out, want a share between 0 and 1", r.HeldOut)
	}
	o.examiner = &examiner{View: v, Examination: Examination{Rows: r.Rows}, yield: func() error {
		if err := yield(); err != nil || o.Progress == nil {
			return err
		}
		return o.Progress(o.at)
	}}
	o.train, o.out = divide(v.Real, r.HeldOut, rng.New(seed, "held out"))
	if min(o.train.Len(), o.out.Len()) < MinRows {
		return nil, fmt.Errorf("%d real transitions, of which %d held out: want at least %d of each", v.Real.Len(), o.out.Len(), MinRows)
	}
	return o, nil
}

// divide holds out each transition with probability share. The held-out transitions have
// the same distribution as the others, so that a generator as good as fresh real data
// covers them as well as the others do.
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

// some returns up to n slots of s at even distances.
func (s subset) some(n int) (slots []int) {
	n = min(n, len(s.slots))
	for i := range n {
		slots = append(slots, s.slots[i*len(s.slots)/n])
	}
	return slots
}

// rows returns the transitions in slots.
func (s subset) rows(slots []int) (rows [][]float32) {
	for _, slot := range slots {
		rows = append(rows, s.ring.Row(slot))
	}
	return rows
}

// spent runs a stage of the refit and returns the processor time that it took.
func (o *Offline) spent(doing string, stage func() error) (time.Duration, error) {
	o.at.Doing, o.at.Done, o.at.Of = doing, 0, 0
	if err := o.yield(); err != nil {
		return 0, err
	}
	if o.Clock == nil {
		return 0, stage()
	}
	before := o.Clock()
	err := stage()
	return o.Clock() - before, err
}

// fit makes one refit of gen and returns its loss.
func (o *Offline) fit(gen Fitter, scores []float32) (FitLoss, error) {
	return Fit(gen, o.train, scores, &o.Knobs, uint64(o.at.Saved), max(1, o.Slice), func(done, of int) error {
		o.at.Done, o.at.Of = done, of
		return o.yield()
	})
}

// Fit fits a generator to transitions outside of any run, slice steps at a time. yield is
// called after each slice; its error ends the fit, and the fit of gen is cancelled.
func Fit(gen Fitter, real generative.Rows, scores []float32, s *knob.Settings, refit uint64, slice int, yield func(done, of int) error) (loss FitLoss, err error) {
	k := generative.FitKnobs{Steps: s.GeneratorSteps, LR: s.LRGenerator, PUncond: s.PUncond}
	if err := gen.StartFit(real, scores, k, refit); err != nil {
		return loss, err
	}
	loss.Steps = k.Steps
	for done, complete := 0, false; !complete; {
		n := min(slice, k.Steps-done)
		var l float64
		if l, complete, err = gen.FitSteps(n); err != nil {
			return loss, err
		}
		loss.Add(done, n, l)
		done += n
		if complete {
			loss.End(done)
		}
		if err := yield(done, k.Steps); err != nil {
			gen.Cancel()
			return loss, err
		}
	}
	return loss, nil
}

// generation generates transitions with guidance omega into a ring.
func (o *Offline) generation(gen Fitter, omega float64) (*replay.Ring, Prompts, error) {
	k := o.Knobs.Generation()
	k.Guidance, k.Samples = omega, o.Rows
	made := replay.NewRing(o.Real.Shape(), o.Rows)
	occasion := uint64(o.at.Saved)<<16 | uint64(slices.Index(o.Guidances, omega))
	asked := Prompts{Knobs: k, Occasion: occasion, Known: true}
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
		if err := o.yield(); err != nil {
			gen.Cancel()
			return nil, asked, err
		}
	}
	return made, asked, nil
}

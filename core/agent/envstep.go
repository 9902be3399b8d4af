package agent

import (
	"errors"
	"fmt"
	"math"

	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// BatchSource says what the batches of an env step are sampled from. Rings are only read.
type BatchSource struct {
	Mixer           replay.Mixer
	Real, Synthetic *replay.Ring // Synthetic may be nil if no row is synthetic
	Mix             replay.Mix   // of each batch
	First           uint64       // occasion of the first batch; the others follow
}

// UpdateResult is what one update of an env step made: what Update returns.
type UpdateResult struct {
	Losses  Losses
	Stepped bool
	Err     error // that wraps a *plan.NotFinite
}

// Whole says whether UpdateN is more than Updates one after the other: the device samples
// the batches itself and makes all updates at once. Prepare may find that it has not the
// memory for that.
func (s *SAC) Whole() bool { return s.feed != nil }

// UpdateN makes the n updates of an env step, each on a batch that BatchSource names. What it
// returns of each of them is valid until the next call. An update that meets a number
// which is not finite is without effect, and the others follow, as with Update. It does
// not allocate once it has made an env step of the same sizes.
func (s *SAC) UpdateN(n int, d BatchSource, live Rates) ([]UpdateResult, error) {
	if cap(s.results) < n {
		s.results = make([]UpdateResult, n)
	}
	s.results = s.results[:n]
	done := 0
	if s.Whole() {
		u, err := s.sampled(d)
		if err != nil {
			return nil, err
		}
		if s.since == 0 && n > 0 {
			if done, err = s.sequence(u, d, live); err != nil {
				return nil, err
			}
		}
	}
	for i := done; i < n; i++ { // one by one
		if err := s.one(i, d, live, i == n-1); err != nil {
			return nil, err
		}
	}
	return s.results, nil
}

// one makes update i of an env step by itself.
func (s *SAC) one(i int, d BatchSource, live Rates, last bool) (err error) {
	m := &s.results[i]
	if s.Whole() {
		u := s.updaters[0] // that of sampled
		if err := u.sample.Run(d.First + uint64(i)); err != nil {
			return fmt.Errorf("agent: %w", err)
		}
		m.Losses, m.Stepped, m.Err = s.counted(u, live, last)
	} else {
		var batch *replay.Batch
		if batch, err = s.Batch(d.Mix.Size()); err != nil {
			return err
		}
		if err := d.Mixer.Draw(batch, d.Mix, d.Real, d.Synthetic, d.First+uint64(i)); err != nil {
			return err
		}
		m.Losses, m.Stepped, m.Err = s.Update(d.Mix.Size(), live, last)
	}
	if m.Err == nil {
		return nil
	}
	var where *plan.NotFinite
	if errors.As(m.Err, &where) {
		return nil
	}
	return m.Err
}

// sampled is the updater for batches that the device samples, with both rings as they
// are now.
func (s *SAC) sampled(d BatchSource) (*updater, error) {
	if d.Mix.Real < 0 || d.Mix.Synthetic < 0 {
		return nil, fmt.Errorf("agent: a batch of %d + %d rows", d.Mix.Real, d.Mix.Synthetic)
	}
	for i, ring := range []*replay.Ring{d.Real, d.Synthetic} {
		if err := s.feed.follow(i, ring); err != nil {
			return nil, fmt.Errorf("agent: %w", err)
		}
	}
	if s.feed.mix.Held[0] == 0 && d.Mix.Real > 0 || s.feed.mix.Held[1] == 0 && d.Mix.Synthetic > 0 {
		return nil, fmt.Errorf("agent: a batch of %d + %d rows from %d and %d", d.Mix.Real, d.Mix.Synthetic, s.feed.mix.Held[0], s.feed.mix.Held[1])
	}
	s.feed.mix.First = d.Mix.Real
	u, err := s.updaterOf(d.Mix.Size(), true)
	if err != nil {
		return nil, err
	}
	return u, s.compileSampler(u, d.Mixer)
}

// compileSampler compiles what samples an updater's batches, where that is not what it was.
func (s *SAC) compileSampler(u *updater, m replay.Mixer) (err error) {
	if u.sample != nil && u.sampledFrom == s.feed.changed && u.mixer == m {
		return nil
	}
	if err := u.closeSample(); err != nil {
		return err
	}
	u.sampledFrom, u.mixer = s.feed.changed, m
	u.sample, err = s.feed.program(u, m)
	return err
}

// wholeStep is all updates of an env step as one.
type wholeStep struct {
	sequence  *plan.Sequence
	updates   []placed
	of        []int // the update that each program belongs to
	occasions []uint64
	samples   []bool // programs whose occasions are those of batches
}

// placed is where the programs of an update are in a sequence.
type placed struct{ actor, temper, critic int } // −1: the policy is not stepped

// whole is the sequence for n updates of a size.
func (s *SAC) whole(u *updater, n int) (*wholeStep, error) {
	if u.whole != nil && len(u.whole.updates) == n {
		return u.whole, nil
	}
	if err := u.closeWhole(); err != nil {
		return nil, err
	}
	w := &wholeStep{}
	var programs []*plan.Program
	add := func(p *plan.Program) int {
		programs = append(programs, p)
		w.of, w.samples = append(w.of, len(w.updates)), append(w.samples, p == u.sample)
		return len(programs) - 1
	}
	for i := range n {
		at := placed{actor: -1, temper: -1}
		add(u.sample)
		if s.choose != nil {
			add(s.choose)
		}
		if s.steps(i+1, i == n-1) {
			add(u.target)
			at.actor = add(u.actor)
			at.temper = add(u.temper)
			at.critic = add(u.critic)
		} else {
			at.critic = add(u.learn)
		}
		w.updates = append(w.updates, at)
	}
	var err error
	if w.sequence, err = plan.NewSequence(s.feed.dev, programs...); err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	w.occasions = make([]uint64, len(programs))
	u.whole = w
	return w, nil
}

// sequence makes all updates as one; done are those that came to an end. One that
// stopped is among them, those after it are not.
func (s *SAC) sequence(u *updater, d BatchSource, live Rates) (done int, err error) {
	n := len(s.results)
	w, err := s.whole(u, n)
	if err != nil {
		return 0, err
	}
	for i, update := range w.of {
		w.occasions[i] = s.updates + uint64(update)
		if w.samples[i] {
			w.occasions[i] = d.First + uint64(update)
		}
	}
	s.set(live)
	err = w.sequence.Run(w.occasions)
	done = n
	stopped, halted := err.(*plan.Stopped)
	if halted {
		done = w.of[stopped.Program]
	} else if err != nil {
		return 0, fmt.Errorf("agent: %w", err)
	}
	for i := range done {
		s.results[i] = s.read(u, w, i)
	}
	if halted {
		at := w.updates[done]
		s.results[done] = UpdateResult{Stepped: at.actor >= 0 && stopped.Program > at.temper, Err: fmt.Errorf("agent: %w", stopped.Err)}
		if s.results[done].Stepped {
			s.temp.read(w.sequence.Result(at.temper))
		}
		done++
	}
	s.updates += uint64(done)
	s.since = done % n
	return done, nil
}

// read is what update i of a sequence made.
func (s *SAC) read(u *updater, w *wholeStep, i int) (m UpdateResult) {
	at := w.updates[i]
	m.Losses.Actor, m.Losses.Alpha = math.NaN(), math.NaN()
	critic := u.learn
	if at.actor >= 0 {
		critic, m.Stepped = u.critic, true
		m.Losses.Actor = w.sequence.Loss(at.actor)
		m.Losses.Alpha = s.temp.read(w.sequence.Result(at.temper))
	}
	u.qData = w.sequence.Data(at.critic, u.qNodes[critic])
	m.Losses.Critic, m.Losses.QMean, m.Losses.AlphaValue = w.sequence.Loss(at.critic), mean(u.qData), s.Alpha()
	return m
}

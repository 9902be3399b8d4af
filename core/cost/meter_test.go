package cost_test

import (
	"math"
	"testing"
	"time"

	"pgrlab/core/cost"
	"pgrlab/core/generative"
	"pgrlab/core/knob"
)

// The cost of "now" is known after the first refit, and also in a run that was resumed from a
// checkpoint.
func TestARefitIsEstimatedFromTheLastOne(t *testing.T) {
	at := time.Unix(0, 0)
	m := cost.NewMeter(func() time.Time { return at }, generative.Config{})
	s := knob.Settings{GeneratorSteps: 30, Samples: 200, SamplerSteps: 10}
	if d := m.Units(&s, cost.Batches{}, 1).Refit(&s, 50, 7); d != 0 {
		t.Errorf("before the first refit: %s", d)
	}
	slice := func(p knob.Phase, n int, d time.Duration) {
		end := m.Measure(p, &n)
		at = at.Add(d)
		end()
	}
	warm := 4
	end := m.MeasureWarming("", &warm) // 0.25 s for each missed update
	at = at.Add(time.Second)
	end()
	slice(knob.Encode, 20, time.Second) // 50 ms a transition
	scored := 10
	end = m.MeasureScoring("", &scored) // 0.1 s a transition
	at = at.Add(time.Second)
	end()
	slice(knob.Fit, 4, 2*time.Second)                         // 0.5 s a step
	m.Generation(generative.GenKnobs{Samples: 100, Steps: 5}) // 900 estimates
	slice(knob.Generate, 1, 9*time.Second)                    // 10 ms each
	m.Generated()
	want := 7*time.Second/4 + 5*time.Second/2 + 5*time.Second + 15*time.Second + 38*time.Second
	if d := m.Spent(); d != 14*time.Second {
		t.Errorf("it took %s, want 14s", d)
	}
	if d := m.Units(&s, cost.Batches{}, 1).Refit(&s, 50, 7); math.Abs((d - want).Seconds()) > 1e-6 {
		t.Errorf("a refit takes %s, want %s", d, want)
	}
	if d := m.PhaseTakes(knob.Position{Step: 1, Phase: knob.Fit, I: 10}, 30, 0); d != 10*time.Second {
		t.Errorf("20 steps of the fit take %s, want 10s", d)
	}
	second := cost.NewMeter(func() time.Time { return at }, generative.Config{})
	second.Restore(m.Kept())
	if d := second.Units(&s, cost.Batches{}, 1).Refit(&s, 50, 7); d != m.Units(&s, cost.Batches{}, 1).Refit(&s, 50, 7) {
		t.Errorf("goes on with %s", d)
	}
	if second.Forget(); second.Units(&s, cost.Batches{}, 1).Refit(&s, 50, 7) != 0 {
		t.Error("another device is estimated by this one")
	}
}

// A generation takes what its estimates take: a strength of guidance needs two, and below 32 levels
// "auto" guides the corrector too.
func TestAGenerationIsEstimatedFromItsEstimates(t *testing.T) {
	at := time.Unix(0, 0)
	m := cost.NewMeter(func() time.Time { return at }, generative.Config{Conditional: true, Corrector: generative.CorrectorAuto})
	m.Generation(generative.GenKnobs{Samples: 10, Steps: 32, Guidance: 2})
	slice(&m, &at, knob.Generate, 10*95*time.Millisecond) // 95 estimates
	m.Generated()
	for _, g := range []struct {
		levels, want int
		omega        float64
	}{{32, 95, 2}, {32, 63, 1}, {16, 62, 2}, {16, 31, 0}, {128, 383, 2}} {
		s := knob.Settings{Samples: 1000, SamplerSteps: g.levels, Guidance: g.omega}
		if d, want := m.Units(&s, cost.Batches{}, 1).Generation(&s), time.Duration(g.want)*time.Second; d.Round(time.Millisecond) != want {
			t.Errorf("%d levels, ω %g: a generation takes %s, want %s", g.levels, g.omega, d, want)
		}
	}
}

// What one relevance function takes says nothing about another one, also in a run that was resumed.
func TestFunctionsAreEstimatedApart(t *testing.T) {
	at := time.Unix(0, 0)
	m := cost.NewMeter(func() time.Time { return at }, generative.Config{})
	take := func(end func(), d time.Duration) {
		at = at.Add(d)
		end()
	}
	n := 10
	take(m.MeasureWarming("curiosity", &n), 10*time.Second) // 1 s for each missed update
	take(m.MeasureScoring("curiosity", &n), time.Second)    // 0.1 s a transition
	m.Generation(generative.GenKnobs{Samples: 1, Steps: 1})
	take(m.Measure(knob.Generate, &n), time.Second)
	m.Generated()
	s := knob.Settings{Samples: 1, SamplerSteps: 1}
	takes := func(m *cost.Meter, name string, want float64) {
		t.Helper()
		s.Relevance = name
		c := m.Units(&s, cost.Batches{}, 1)
		if got := m.Units(&s, cost.Batches{}, 1).Refit(&s, 100, 50).Seconds() - 1; math.Abs(got-want) > 1e-6 || math.Abs(100*c.Score+50*c.Warm-want) > 1e-6 {
			t.Errorf("100 rows and 50 units of %s take %g s, %+v, want %g", name, got, c, want)
		}
	}
	takes(&m, "curiosity", 100*0.1+50)
	takes(&m, "count", 100*0.1) // not measured yet
	take(m.MeasureWarming("count", &n), 10*time.Millisecond)
	take(m.MeasureScoring("count", &n), 20*time.Millisecond)
	if d := m.PhaseTakes(knob.Position{Phase: knob.Score}, 100, 0); math.Abs(d.Seconds()-100*0.002) > 1e-6 {
		t.Errorf("100 rows of count take %s in their phase", d)
	}
	again := cost.NewMeter(func() time.Time { return at }, generative.Config{})
	again.Restore(m.Kept())
	for done, want := range map[int]float64{0: 50*0.001 + 100*0.002, 20: 30*0.001 + 100*0.002, 50: 100 * 0.002, 90: 60 * 0.002} {
		if d := m.PhaseTakes(knob.Position{Phase: knob.Score, I: done}, 150, 50); math.Abs(d.Seconds()-want) > 1e-6 {
			t.Errorf("after %d units, what is left of 50 units of owed work and 100 rows takes %s", done, d)
		}
	}
	for _, m := range []*cost.Meter{&m, &again} {
		if d := m.PhaseTakes(knob.Position{Phase: knob.Score}, 100, 0); math.Abs(d.Seconds()-100*0.002) > 1e-6 {
			t.Errorf("100 rows of count take %s in their phase", d)
		}
		takes(m, "curiosity", 100*0.1+50)
		takes(m, "count", 100*0.002+50*0.001)
	}
}

// slice measures one unit of a phase that takes d by the clock at.
func slice(m *cost.Meter, at *time.Time, p knob.Phase, d time.Duration) {
	n := 1
	end := m.Measure(p, &n)
	*at = at.Add(d)
	end()
}

// The work of a learner after env steps counts as time of env steps, even if only some steps have
// it; the time of an evaluation does not.
func TestAnEnvStepTakesWhatItsLearnerDoes(t *testing.T) {
	at := time.Unix(0, 0)
	m := cost.NewMeter(func() time.Time { return at }, generative.Config{})
	slice := func(p knob.Phase, d time.Duration) { slice(&m, &at, p, d) }
	for step := range 400 {
		m.Begin(true)
		at = at.Add(10 * time.Millisecond)
		if step%2 == 0 {
			slice(knob.Learn, 60*time.Millisecond)
			slice(knob.Learn, 20*time.Millisecond)
		}
		slice(knob.Evaluate, time.Second)
	}
	if d := time.Duration(m.Step() * float64(time.Second)); d < 45*time.Millisecond || d > 55*time.Millisecond {
		t.Errorf("an env step takes %s, want 10 ms and half of 80 ms", d)
	}
}

// The time of an env step whose batch will have fewer rows that cost anything is predicted before
// there is such a step, and after the first one the means are those of such steps.
func TestBatchesThatBecomeQuicker(t *testing.T) {
	at := time.Unix(0, 0)
	m := cost.NewMeter(func() time.Time { return at }, generative.Config{})
	s := knob.Settings{SamplerSteps: 1}
	step := func(rows float64, learn time.Duration) {
		at = at.Add(20 * time.Millisecond) // acting
		n := 1
		end := m.Measure(knob.Learn, &n)
		at = at.Add(learn)
		end()
		m.Weigh(rows)
		m.Begin(true)
	}
	m.Begin(false)
	for range 30 {
		step(128, 400*time.Millisecond)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-6 {
			t.Errorf("%s takes %g s, want %g", what, got, want)
		}
	}
	b := cost.Batches{Real: 128, Mixed: 64}
	near("a step with D_syn", m.Units(&s, b, 1).Step, 0.22)
	near("a step before it", m.Units(&s, b, 1).First, 0.42)
	near("a step where rows are alike", m.Units(&s, cost.Batches{}, 1).Step, 0.42)
	kept := m.Kept()
	step(64, 200*time.Millisecond)
	near("a step with D_syn, seen once", m.Units(&s, b, 1).Step, 0.22)
	near("a step before it, of the past", m.Units(&s, b, 1).First, 0.42)
	near("a step", m.Step(), 0.22)
	m.Weigh(0) // an env step without a batch
	near("a step", m.Step(), 0.22)
	again := cost.NewMeter(func() time.Time { return at }, generative.Config{})
	again.Restore(kept)
	near("a step with D_syn, of a run that goes on", again.Units(&s, b, 1).Step, 0.22)
}

// An iteration after many env steps is as much of each as its time divided by their number, however
// much longer it takes than a step; so it is for a run that was resumed between two of them, or was
// paused in one.
func TestARolloutIsLearnedFromNowAndThen(t *testing.T) {
	at := time.Unix(0, 0)
	m := cost.NewMeter(func() time.Time { return at }, generative.Config{})
	slice := func(p knob.Phase, d time.Duration) { slice(&m, &at, p, d) }
	step := 0
	steps := func(n int) {
		for range n {
			m.Begin(true)
			at = at.Add(10 * time.Millisecond)
			if step++; step%128 == 0 {
				slice(knob.Learn, 10*time.Second)
			}
			if step%384 == 0 {
				slice(knob.Reach, 30*time.Second)
			}
		}
	}
	const want = 0.010 + 10./128 + 30./384
	takes := func(what string, want float64) {
		t.Helper()
		if d := m.Step(); math.Abs(d-want) > 1e-3*want { // a step in which there was a break does not count
			t.Errorf("%s an env step takes %g s, want %g", what, d, want)
		}
	}
	steps(100)
	if takes("in the first rollout", 0.010); m.Seen(knob.Learn) {
		t.Error("learned before the first rollout was full")
	}
	steps(29)
	if takes("after the first rollout", 0.010+10./128); !m.Seen(knob.Learn) {
		t.Error("an iteration is not known")
	}
	steps(3*384 + 50 - step)
	takes("after nine rollouts", want)
	kept := m.Kept()
	m = cost.NewMeter(func() time.Time { return at }, generative.Config{})
	m.Restore(kept)
	steps(4*384 + 1 - step)
	takes("after a break", want)
	steps(5*384 - step)
	m.Pause()
	at = at.Add(time.Hour)
	steps(20 * 384)
	takes("after a pause", want)
}

// One slice that stood still for an hour changes the expected time of others only a little, and a
// permanent change to ten times the time is detected.
func TestASliceThatStoodStill(t *testing.T) {
	at := time.Unix(0, 0)
	m := cost.NewMeter(func() time.Time { return at }, generative.Config{})
	fit := func(times int, d time.Duration) float64 {
		for range times {
			n := 1
			end := m.Measure(knob.Fit, &n)
			at = at.Add(d)
			end()
		}
		return m.PhaseTakes(knob.Position{Step: 1, Phase: knob.Fit}, 1, 0).Seconds()
	}
	if fit(100, time.Second); fit(1, time.Hour) > 1.2 {
		t.Errorf("after an hour a second is expected to take %s", m.PhaseTakes(knob.Position{Step: 1, Phase: knob.Fit}, 1, 0))
	}
	if s := fit(60, 10*time.Second); s < 9 || s > 10 {
		t.Errorf("after sixty slices of 10 s one is expected to take %g s", s)
	}
}

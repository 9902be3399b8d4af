package cost

import (
	"runtime"
	"slices"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/knob"
	"pgrlab/core/run"
)

// Meter measures the units of one run while it goes on. It belongs to the goroutine that trains.
type Meter struct {
	now     func() time.Time
	sampler generative.Config // says how many estimates a transition takes
	// Episode is how many env steps the mean of an env step follows a changed pace within, for a run in
	// which F takes longer the more an episode has met; 0: as few as the other means.
	Episode int
	State

	work       time.Duration // in slices of the present refit
	generating time.Duration // in slices of the present generation
	estimates  float64       // of the present generation
	processor  time.Duration // of this process at the last journal line perf

	last    time.Time     // beginning of the present env step; zero after a pause
	apart   time.Duration // time of the present env step in slices
	window  []moment
	steps   float64 // env steps per second
	updates float64 // critic updates per second
}

// State is the part of a Meter that a checkpoint saves, so that estimates do not start afresh after
// every break. Its names, and those of its parts, are in checkpoints.
type State struct {
	Phases   []Average // seconds of a unit of each phase; for Collect, of an env step that trains, without phases in it
	Estimate Average   // seconds of one estimate for one transition that is generated
	Scoring  string    // the relevance function that was measured last
	Of       []Function
	InSteps  []Occasions     // the phases of env steps, as inSteps has them
	Rows     float64         // weighted number of rows in the batch of phase Learn: see Weigh
	Times    []time.Duration // by part, since the last journal line perf
}

// NewMeter returns a meter of a run with that generator, which reads the time from now.
func NewMeter(now func() time.Time, sampler generative.Config) Meter {
	return Meter{now: now, sampler: sampler, State: newState(), processor: ProcessTime()}
}

func newState() State {
	return State{Phases: make([]Average, knob.Phases), InSteps: make([]Occasions, len(inSteps)), Times: make([]time.Duration, partCount)}
}

// Part is an activity that takes time.
type Part int

// The parts. Parts that are phases have the order of the phases.
const (
	Act      Part = iota // policy and environment
	Score                // relevance of real transitions
	Fit                  // the generator
	Generate             // synthetic transitions
	Evaluate
	Analyse
	Agent  // updates of the agent, with their batches
	Models // updates of relevance models
	partCount
)

// On adds the time since begin to a part and returns the present time.
func (m *Meter) On(p Part, begin time.Time) time.Time {
	now := m.now()
	m.Times[p] += now.Sub(begin)
	return now
}

// Share is the time of a part, by its own clock, within a span that several parts share.
type Share struct {
	Part
	Own time.Duration
}

// Together divides the time since begin among parts that took turns or ran side by side, in
// proportion to their own times.
func (m *Meter) Together(begin time.Time, shares ...Share) {
	var own time.Duration
	for _, s := range shares {
		own += s.Own
	}
	if own <= 0 {
		return
	}
	took := m.now().Sub(begin).Seconds() / own.Seconds()
	for _, s := range shares {
		m.Times[s.Part] += seconds(took * s.Own.Seconds())
	}
}

// spentOn returns the times of the parts since its last call.
func (m *Meter) spentOn() event.SpentOn {
	s := func(p Part) run.Float { return run.Float(m.Times[p].Seconds()) }
	out := event.SpentOn{
		Act: s(Act), Agent: s(Agent), Models: s(Models), Score: s(Score), Fit: s(Fit),
		Generate: s(Generate), Evaluate: s(Evaluate), Analyse: s(Analyse),
	}
	clear(m.Times)
	return out
}

// moment is the progress of a run at a time.
type moment struct {
	at      time.Time
	step    int
	updates uint64
}

// span is the period over which the rates are taken.
const span = 5 * time.Second

// Average is an exponentially weighted mean. The very first value, which has building and compiling in
// it, hardly counts once there is another; the next ones count in full. Later values are limited to
// outlier times the mean: a unit during which the machine was busy with something else, or asleep,
// says nothing about the units to come. The mean still follows a changed pace within about twenty
// units.
type Average struct{ Value, Weight float64 }

func (a *Average) add(v float64) { a.addTo(v, 20) }

// addTo is add for a mean that follows a changed pace within about that many units.
func (a *Average) addTo(v, units float64) {
	const first, outlier, few = 0.05, 4, 4
	switch {
	case a.Weight == 0:
		*a = Average{v, first}
		return
	case a.Weight > few && a.Value > 0:
		v = min(v, outlier*a.Value)
	}
	a.Weight = (1-1/units)*a.Weight + 1
	a.Value += (v - a.Value) / a.Weight
}

// Measure times a slice of n units, from now until the returned function is called. That
// function reads n.
func (m *Meter) Measure(p knob.Phase, n *int) func() { return m.measure(p, n, &m.Phases[p]) }

// Measured is Measure of a slice of n units that began at begin and ends now. It allocates nothing, for
// slices that every env step has.
func (m *Meter) Measured(p knob.Phase, begin time.Time, n int) {
	m.slice(p, m.now().Sub(begin), n, &m.Phases[p])
}

func (m *Meter) measure(p knob.Phase, n *int, costs ...*Average) func() {
	begin := m.now()
	return func() { m.slice(p, m.now().Sub(begin), *n, costs...) }
}

// slice adds a slice of n units that took d.
func (m *Meter) slice(p knob.Phase, d time.Duration, n int, costs ...*Average) {
	m.apart += d
	if o := m.occasionsOf(p); o != nil {
		o.spent += d
	}
	m.Times[partOf(p)] += d
	if p == knob.Encode || p.Before(knob.Evaluate) && !p.Before(knob.Score) {
		m.work += d
	}
	if p == knob.Generate {
		m.generating += d
	}
	for _, cost := range costs {
		if n > 0 {
			cost.add(d.Seconds() / float64(n))
		}
	}
}

// partOf returns the part to which slices of a phase belong. The phases of a learner belong to
// Agent, Reach and Model to Models; the other phases have the numbers of their parts.
func partOf(p knob.Phase) Part {
	switch {
	case p == knob.Reach || p == knob.Model:
		return Models
	case p > knob.AfterStep:
		return Agent
	}
	return Part(p)
}

// Took records that a unit of an analysis in a phase took d.
func (m *Meter) Took(p knob.Phase, d time.Duration) {
	m.apart += d
	m.Times[Analyse] += d
	m.Phases[p].add(d.Seconds())
}

// Elsewhere records time that has nothing to do with training.
func (m *Meter) Elsewhere(d time.Duration) { m.apart += d }

// Begin is called at the beginning of each env step; trained says whether the previous
// one made updates.
func (m *Meter) Begin(trained bool) {
	now := m.now()
	counted := trained && !m.last.IsZero()
	if counted {
		m.Phases[knob.Collect].addTo((now.Sub(m.last) - m.apart).Seconds(), float64(max(20, m.Episode)))
	}
	for i := range m.InSteps {
		m.InSteps[i].end(counted)
	}
	m.last, m.apart, m.work = now, 0, 0
}

// Weigh records the weighted number of rows in a batch of the env step that just ended. The time
// of phase Learn is proportional to it, so if it has changed, Weigh adjusts the mean. rows is 0
// if there was no batch, or if it makes no difference.
func (m *Meter) Weigh(rows float64) {
	if rows <= 0 {
		return
	}
	if m.Rows > 0 && rows != m.Rows {
		m.occasionsOf(knob.Learn).Time.Value *= rows / m.Rows
	}
	m.Rows = rows
}

// stepOf estimates the seconds of an env step whose batch has that weighted number of rows; 0: as
// now.
func (m *Meter) stepOf(rows float64) float64 {
	step := m.Step()
	if rows <= 0 || m.Rows <= 0 {
		return step
	}
	return step + m.occasionsOf(knob.Learn).perStep()*(rows/m.Rows-1)
}

// Generation is called when a generation begins.
func (m *Meter) Generation(k generative.GenKnobs) {
	m.generating, m.estimates = 0, float64(k.Samples)*float64(m.sampler.Estimates(k))
}

// Generated is called when a generation is complete.
func (m *Meter) Generated() {
	if m.estimates > 0 { // a generation that was resumed from a checkpoint has no cost
		m.Estimate.add(m.generating.Seconds() / m.estimates)
	}
}

// sample estimates the seconds of a transition that is generated under s.
func (m *Meter) sample(s *knob.Settings) float64 {
	return m.Estimate.Value * float64(m.sampler.Estimates(s.Generation()))
}

// Spent returns the time of the env step's refit so far.
func (m *Meter) Spent() time.Duration { return m.work }

// Generating returns the time of the last generation begun so far, in however many env steps.
func (m *Meter) Generating() time.Duration { return m.generating }

// Pause resets the starting times, so that a pause does not count.
func (m *Meter) Pause() {
	m.window = m.window[:0]
	m.last = time.Time{}
	m.steps, m.updates = 0, 0
}

// Look updates the rates with the progress at now.
func (m *Meter) Look(now time.Time, step int, updates uint64) {
	m.window = append(m.window, moment{now, step, updates})
	old := 0
	for old < len(m.window)-2 && now.Sub(m.window[old+1].at) >= span {
		old++
	}
	m.window = append(m.window[:0], m.window[old:]...)
	first := m.window[0]
	if d := now.Sub(first.at).Seconds(); d > 0 {
		m.steps = float64(step-first.step) / d
		m.updates = float64(updates-first.updates) / d
	}
}

// PhaseTakes estimates the time until the present phase, with that many units, ends. The first owed units of
// phase Score are those of MeasureWarming.
func (m *Meter) PhaseTakes(at knob.Position, units, owed int) time.Duration {
	switch at.Phase {
	case knob.Collect, knob.AfterStep:
		return 0
	case knob.Score:
		score, warm := m.scores(m.Scoring)
		return seconds(warm*float64(max(0, owed-at.I)) + score*float64(units-max(owed, at.I)))
	}
	return seconds(m.Phases[at.Phase].Value * float64(units-at.I))
}

// Rates returns env steps and critic updates per second.
func (m *Meter) Rates() (steps, updates float64) { return m.steps, m.updates }

// Batches holds the weighted numbers of rows in a batch, as in Weigh: before the first
// generation, and with D_syn; 0 if it makes no difference.
type Batches struct{ Real, Mixed float64 }

// Units returns what units of the run have taken so far, under s and for evaluations whose episodes
// have that many steps.
func (m *Meter) Units(s *knob.Settings, b Batches, episode int) Units {
	score, warm := m.scores(s.Relevance)
	return Units{
		Step: m.stepOf(b.Mixed), First: m.stepOf(b.Real), Score: m.Phases[knob.Encode].Value + score, Warm: warm, FitStep: m.Phases[knob.Fit].Value,
		Sample:     m.sample(s),
		Evaluation: m.Phases[knob.Evaluate].Value * float64(episode),
	}
}

// Perf returns the rates, units and memory of the run, and the times of its parts and of the process
// since the last call.
func (m *Meter) Perf(s *knob.Settings) event.Perf {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	before := m.processor
	m.processor = ProcessTime()
	return event.Perf{
		StepsPerSec: run.Float(m.steps), UpdatesPerSec: run.Float(m.updates),
		StepS: run.Float(m.Step()), FitStepS: run.Float(m.Phases[knob.Fit].Value),
		SampleS:     run.Float(m.sample(s)),
		MemoryBytes: memory.Sys - memory.HeapReleased, Processor: run.Float((m.processor - before).Seconds()), Spent: m.spentOn(),
	}
}

// Kept returns a copy of the state.
func (m *Meter) Kept() State {
	s := m.State
	s.Phases, s.Of, s.InSteps, s.Times = slices.Clone(s.Phases), slices.Clone(s.Of), slices.Clone(s.InSteps), slices.Clone(s.Times)
	return s
}

// Restore continues with a state, unless it has other phases or parts than this version.
func (m *Meter) Restore(s State) {
	if len(s.Phases) == len(m.Phases) && len(s.InSteps) == len(m.InSteps) && len(s.Times) == len(m.Times) {
		m.State = s
	}
}

// Forget drops all averages, which do not hold where a run is resumed with other kernels.
func (m *Meter) Forget() {
	times := m.Times
	m.State = newState()
	m.Times = times
}

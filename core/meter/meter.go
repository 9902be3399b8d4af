// Package meter measures how long the parts of a run take. The measurements are for
// people; no decision of the run depends on them.
package meter

import (
	"runtime"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/knob"
	"pgrlab/core/run"
)

// Meter measures one run. It belongs to the goroutine that trains.
type Meter struct {
	now  func() time.Time
	cost [knob.Phases]average // seconds of a unit of each phase; for Collect, of an env step that trains, without phases in it
	// perEstimate is the seconds of one estimate for one transition that is generated.
	perEstimate average
	sampler     generative.Config // says how many estimates a transition takes
	functions   []*function       // what relevance functions take, by name
	scoring     string            // the one that was measured last

	within [len(inSteps)]occasions // the phases of env steps
	rows   float64                 // weighted number of rows in the batch of phase Learn: see Weigh

	parts [partCount]time.Duration // since the last journal line perf

	work       time.Duration // in slices of the present refit
	generating time.Duration // in slices of the present generation
	estimates  float64       // of the present generation

	last    time.Time     // beginning of the present env step; zero after a pause
	apart   time.Duration // time of the present env step in slices
	window  []moment
	steps   float64 // env steps per second
	updates float64 // critic updates per second
}

// New returns a meter of a run with that generator, which reads the time from now.
func New(now func() time.Time, sampler generative.Config) Meter {
	return Meter{now: now, sampler: sampler}
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
	m.parts[p] += now.Sub(begin)
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
		m.parts[s.Part] += seconds(took * s.Own.Seconds())
	}
}

// spentOn returns the times of the parts since its last call.
func (m *Meter) spentOn() event.SpentOn {
	s := func(p Part) run.Float { return run.Float(m.parts[p].Seconds()) }
	out := event.SpentOn{
		Act: s(Act), Agent: s(Agent), Models: s(Models), Score: s(Score), Fit: s(Fit),
		Generate: s(Generate), Evaluate: s(Evaluate), Analyse: s(Analyse),
	}
	m.parts = [partCount]time.Duration{}
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

// average is an exponentially weighted mean; the first values count in full. Later values are
// limited to outlier times the mean: a unit during which the machine was busy with something else,
// or asleep, says nothing about the units to come. The mean still follows a changed pace within
// about twenty units.
type average struct{ value, weight float64 }

func (a *average) add(v float64) {
	const memory, outlier, few = 0.95, 4, 4
	if a.weight > few && a.value > 0 {
		v = min(v, outlier*a.value)
	}
	a.weight = memory*a.weight + 1
	a.value += (v - a.value) / a.weight
}

// Measure times a slice of n units, from now until the returned function is called. That
// function reads n.
func (m *Meter) Measure(p knob.Phase, n *int) func() { return m.measure(p, n, &m.cost[p]) }

// Measured is Measure of a slice of n units that began at begin and ends now. It allocates nothing, for
// slices that every env step has.
func (m *Meter) Measured(p knob.Phase, begin time.Time, n int) {
	m.slice(p, m.now().Sub(begin), n, &m.cost[p])
}

func (m *Meter) measure(p knob.Phase, n *int, costs ...*average) func() {
	begin := m.now()
	return func() { m.slice(p, m.now().Sub(begin), *n, costs...) }
}

// slice adds a slice of n units that took d.
func (m *Meter) slice(p knob.Phase, d time.Duration, n int, costs ...*average) {
	m.apart += d
	if o := m.occasionsOf(p); o != nil {
		o.spent += d
	}
	m.parts[partOf(p)] += d
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
	m.parts[Analyse] += d
	m.cost[p].add(d.Seconds())
}

// Elsewhere records time that has nothing to do with training.
func (m *Meter) Elsewhere(d time.Duration) { m.apart += d }

// Begin is called at the beginning of each env step; trained says whether the previous
// one made updates.
func (m *Meter) Begin(trained bool) {
	now := m.now()
	counted := trained && !m.last.IsZero()
	if counted {
		m.cost[knob.Collect].add((now.Sub(m.last) - m.apart).Seconds())
	}
	for i := range m.within {
		m.within[i].end(counted)
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
	if m.rows > 0 && rows != m.rows {
		m.occasionsOf(knob.Learn).time.value *= rows / m.rows
	}
	m.rows = rows
}

// stepOf estimates the seconds of an env step whose batch has that weighted number of rows; 0: as
// now.
func (m *Meter) stepOf(rows float64) float64 {
	step := m.step()
	if rows <= 0 || m.rows <= 0 {
		return step
	}
	return step + m.occasionsOf(knob.Learn).perStep()*(rows/m.rows-1)
}

// Generation is called when a generation begins.
func (m *Meter) Generation(k generative.GenKnobs) {
	m.generating, m.estimates = 0, float64(k.Samples)*float64(m.sampler.Estimates(k))
}

// Generated is called when a generation is complete.
func (m *Meter) Generated() {
	if m.estimates > 0 { // a generation that was resumed from a checkpoint has no cost
		m.perEstimate.add(m.generating.Seconds() / m.estimates)
	}
}

// sample estimates the seconds of a transition that is generated under s.
func (m *Meter) sample(s *knob.Settings) float64 {
	return m.perEstimate.value * float64(m.sampler.Estimates(s.Generation()))
}

// Spent returns the time of the env step's refit so far.
func (m *Meter) Spent() time.Duration { return m.work }

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

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// GenerationTakes estimates the time of a generation under s; 0 if it is not known yet.
func (m *Meter) GenerationTakes(s *knob.Settings) time.Duration {
	return seconds(m.sample(s) * float64(s.Samples))
}

// RefitTakes estimates the time of a refit under s to real transitions, which a learner may have
// to make anew first, with a model that owes that many units of work; 0 if it is not known yet.
func (m *Meter) RefitTakes(s *knob.Settings, real, owed int) time.Duration {
	generate := m.GenerationTakes(s)
	if generate == 0 {
		return 0
	}
	one, unit := m.scores(s.Relevance)
	score := (m.cost[knob.Encode].value+one)*float64(real) + unit*float64(owed)
	fit := m.cost[knob.Fit].value * float64(s.GeneratorSteps)
	return seconds(score+fit) + generate
}

// PhaseTakes estimates the time until the present phase, with that many units, ends.
func (m *Meter) PhaseTakes(at knob.Position, units int) time.Duration {
	if at.Phase == knob.Collect || at.Phase == knob.AfterStep {
		return 0
	}
	each := m.cost[at.Phase].value
	if at.Phase == knob.Score {
		each, _ = m.scores(m.scoring)
	}
	return seconds(each * float64(units-at.I))
}

// StepTakes estimates the time of an env step that trains; 0 if it is not known yet.
func (m *Meter) StepTakes() time.Duration { return seconds(m.step()) }

// Rates returns env steps and critic updates per second.
func (m *Meter) Rates() (steps, updates float64) { return m.steps, m.updates }

// Batches holds the weighted numbers of rows in a batch, as in Weigh: before the first
// generation, and with D_syn; 0 if it makes no difference.
type Batches struct{ Real, Mixed float64 }

// Costs returns what the parts of the run have taken so far, under s and for evaluations whose
// episodes have that many steps.
func (m *Meter) Costs(s *knob.Settings, b Batches, episode int) config.Costs {
	score, warm := m.scores(s.Relevance)
	return config.Costs{
		Step: m.stepOf(b.Mixed), First: m.stepOf(b.Real), Score: m.cost[knob.Encode].value + score, Warm: warm, FitStep: m.cost[knob.Fit].value,
		Sample:     m.sample(s),
		Evaluation: m.cost[knob.Evaluate].value * float64(episode),
	}
}

// Perf returns the rates, costs and memory of the run, and the times of its parts since the last
// call.
func (m *Meter) Perf(s *knob.Settings) event.Perf {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return event.Perf{
		StepsPerSec: run.Float(m.steps), UpdatesPerSec: run.Float(m.updates),
		StepS: run.Float(m.step()), FitStepS: run.Float(m.cost[knob.Fit].value),
		SampleS:     run.Float(m.sample(s)),
		MemoryBytes: memory.Sys - memory.HeapReleased, Spent: m.spentOn(),
	}
}

// State is the part of a Meter that a checkpoint saves, so that estimates do not start
// afresh after every break. It holds the value and weight of each average.
type State struct {
	Cost        []float64
	PerEstimate []float64 // missing in checkpoints before there was one
	Within      []OccasionState
	Rows        float64
	Functions   []FunctionState
	Scoring     string // the relevance function that was measured last
	Parts       []time.Duration
}

func (m *Meter) State() State {
	s := State{PerEstimate: []float64{m.perEstimate.value, m.perEstimate.weight},
		Within: m.occasionStates(), Rows: m.rows, Parts: append([]time.Duration(nil), m.parts[:]...), Functions: m.functionStates(), Scoring: m.scoring}
	for _, a := range m.cost {
		s.Cost = append(s.Cost, a.value, a.weight)
	}
	return s
}

// Restore restores what State returned, and ignores a State of another shape.
func (m *Meter) Restore(s State) {
	if len(s.Cost) != 2*len(m.cost) || len(s.Parts) != len(m.parts) {
		return
	}
	for i := range m.cost {
		m.cost[i] = average{s.Cost[2*i], s.Cost[2*i+1]}
	}
	if len(s.PerEstimate) == 2 {
		m.perEstimate = average{s.PerEstimate[0], s.PerEstimate[1]}
	}
	m.restoreFunctions(s.Functions)
	m.scoring = s.Scoring
	m.restoreOccasions(s.Within)
	m.rows = s.Rows
	copy(m.parts[:], s.Parts)
}

// Forget drops all averages, which do not hold where a run is resumed with other kernels.
func (m *Meter) Forget() {
	m.cost, m.perEstimate, m.within = [len(m.cost)]average{}, average{}, [len(m.within)]occasions{}
	m.functions, m.scoring = nil, ""
}

// Package meter measures how long the parts of a run take: for people, never for a
// decision of the run.
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

// Meter is that of one run, for the goroutine that trains.
type Meter struct {
	now  func() time.Time
	cost [knob.Phases]average // seconds of a unit of each phase; of Collect: of an env step that trains
	// perSample is the seconds of one transition at one noise level.
	perSample average
	// warm is the seconds of a unit of work that a relevance model owes before a scoring.
	warm average

	// learn is how much of an env step that trains goes into phase Learn, and rows what the
	// real rows of its batch and a share of the others come to: see Weigh.
	learn average
	rows  float64

	parts [partCount]time.Duration // since the last line perf

	work       time.Duration // in slices of the present refit
	generating time.Duration // in slices of the present generation
	samples    float64       // transitions × noise levels of the present generation

	learning time.Duration // of the present env step in phase Learn
	last     time.Time     // the present env step's begin; zero after a pause
	apart    time.Duration // of the present env step in slices with a cost of their own
	window   []moment
	steps    float64 // env steps per second
	updates  float64 // critic updates per second
}

// New is a meter that reads the time from now.
func New(now func() time.Time) Meter { return Meter{now: now} }

// Part is what time goes into.
type Part int

// The parts. Those of the phases have the order of the phases.
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

// On adds the time since begin to a part; it returns the present one.
func (m *Meter) On(p Part, begin time.Time) time.Time {
	now := m.now()
	m.parts[p] += now.Sub(begin)
	return now
}

// Share is what a part takes of some time in which several went on, by its own clock.
type Share struct {
	Part
	Own time.Duration
}

// Together divides the time since begin among parts that took turns in it, or went on side by
// side, as their own times are to each other.
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

// spentOn is what the parts took since it was called last.
func (m *Meter) spentOn() event.SpentOn {
	s := func(p Part) run.Float { return run.Float(m.parts[p].Seconds()) }
	out := event.SpentOn{
		Act: s(Act), Agent: s(Agent), Models: s(Models), Score: s(Score), Fit: s(Fit),
		Generate: s(Generate), Evaluate: s(Evaluate), Analyse: s(Analyse),
	}
	m.parts = [partCount]time.Duration{}
	return out
}

// moment is where a run was at a time.
type moment struct {
	at      time.Time
	step    int
	updates uint64
}

// span is how far back the rates look.
const span = 5 * time.Second

// average is an exponentially weighted mean; the first values count in full. A value that stands
// out counts as outlier times the mean: one unit in which the machine was lent to somebody else,
// or asleep, says nothing of those to come, and a pace that has changed is followed within
// some twenty units all the same.
type average struct{ value, weight float64 }

func (a *average) add(v float64) {
	const memory, outlier, few = 0.95, 4, 4
	if a.weight > few && a.value > 0 {
		v = min(v, outlier*a.value)
	}
	a.weight = memory*a.weight + 1
	a.value += (v - a.value) / a.weight
}

// Measure times a slice of n units; the function that it returns ends it. n is
// read then.
func (m *Meter) Measure(p knob.Phase, n *int) func() { return m.measure(p, &m.cost[p], n) }

// MeasureWarming is Measure of phase score where a model makes up for what it owes: a unit of
// that takes something else than a transition's F.
func (m *Meter) MeasureWarming(n *int) func() { return m.measure(knob.Score, &m.warm, n) }

func (m *Meter) measure(p knob.Phase, cost *average, n *int) func() {
	begin := m.now()
	return func() {
		d := m.now().Sub(begin)
		if p == knob.Learn {
			m.learning += d
		}
		if p != knob.Rollout && p != knob.Learn && p != knob.Reach { // which an env step has for its updates
			m.apart += d
		}
		m.parts[partOf(p)] += d
		if p == knob.Encode || p.Before(knob.Evaluate) && !p.Before(knob.Score) {
			m.work += d
		}
		if p == knob.Generate {
			m.generating += d
		}
		if *n > 0 {
			cost.add(d.Seconds() / float64(*n))
		}
	}
}

// partOf is the part that slices of a phase belong to: a learner's are the agent's, those
// of the others have their numbers.
func partOf(p knob.Phase) Part {
	switch {
	case p == knob.Reach:
		return Models
	case p > knob.AfterStep:
		return Agent
	}
	return Part(p)
}

// Took is a unit of an analysis in a phase.
func (m *Meter) Took(p knob.Phase, d time.Duration) {
	m.apart += d
	m.parts[Analyse] += d
	m.cost[p].add(d.Seconds())
}

// Elsewhere is time that has nothing to do with training.
func (m *Meter) Elsewhere(d time.Duration) { m.apart += d }

// Begin is called at the begin of each env step; trained says whether the one
// before made updates.
func (m *Meter) Begin(trained bool) {
	now := m.now()
	if trained && !m.last.IsZero() {
		m.cost[knob.Collect].add((now.Sub(m.last) - m.apart).Seconds())
		m.learn.add(m.learning.Seconds())
	}
	m.last, m.apart, m.work, m.learning = now, 0, 0, 0
}

// Weigh says what the rows of a batch of the env step that is over come to, as phase Learn is
// as long as they are many: where that has changed, so have the means. It is 0 where there
// was no batch.
func (m *Meter) Weigh(rows float64) {
	if rows <= 0 {
		return
	}
	if m.rows > 0 && rows != m.rows {
		change := m.learn.value * (rows/m.rows - 1)
		m.cost[knob.Collect].value += change
		m.learn.value += change
	}
	m.rows = rows
}

// stepOf is what an env step takes whose batch comes to so many rows; 0: as now.
func (m *Meter) stepOf(rows float64) float64 {
	step := m.cost[knob.Collect].value
	if rows <= 0 || m.rows <= 0 {
		return step
	}
	return step + m.learn.value*(rows/m.rows-1)
}

// Generation is called when a generation begins.
func (m *Meter) Generation(k generative.GenKnobs) {
	m.generating, m.samples = 0, float64(k.Samples)*float64(k.Steps)
}

// Generated is called when it is complete.
func (m *Meter) Generated() {
	if m.samples > 0 { // a generation that was saved half done has no cost
		m.perSample.add(m.generating.Seconds() / m.samples)
	}
}

// Spent is the time of the env step's refit so far.
func (m *Meter) Spent() time.Duration { return m.work }

// Pause forgets where time was counted from, so that a pause does not count.
func (m *Meter) Pause() {
	m.window = m.window[:0]
	m.last = time.Time{}
	m.steps, m.updates = 0, 0
}

// Look updates the rates.
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

// GenerationTakes estimates a generation under s; 0 where that is not known yet.
func (m *Meter) GenerationTakes(s *knob.Settings) time.Duration {
	return seconds(m.perSample.value * float64(s.Samples) * float64(s.SamplerSteps))
}

// RefitTakes estimates a refit under s to so many real transitions, which a learner may have
// to make anew first, with a model that owes so many units; 0 where that is not known yet.
func (m *Meter) RefitTakes(s *knob.Settings, real, owed int) time.Duration {
	generate := m.GenerationTakes(s)
	if generate == 0 {
		return 0
	}
	score := (m.cost[knob.Encode].value+m.cost[knob.Score].value)*float64(real) + m.warm.value*float64(owed)
	fit := m.cost[knob.Fit].value * float64(s.GeneratorSteps)
	return seconds(score+fit) + generate
}

// PhaseTakes is the time until the phase ends that the run is in, of so many units.
func (m *Meter) PhaseTakes(at knob.Position, units int) time.Duration {
	if at.Phase == knob.Collect || at.Phase == knob.AfterStep {
		return 0
	}
	return seconds(m.cost[at.Phase].value * float64(units-at.I))
}

// StepTakes is an env step that trains; 0 where that is not known yet.
func (m *Meter) StepTakes() time.Duration { return seconds(m.cost[knob.Collect].value) }

// Rates are env steps and critic updates per second.
func (m *Meter) Rates() (steps, updates float64) { return m.steps, m.updates }

// Batches are what the rows of a batch come to, as Weigh has it: before the first generation,
// and with D_syn; 0 where it makes no difference.
type Batches struct{ Real, Mixed float64 }

// Costs are what the parts of the run have taken so far under s, and an evaluation whose
// episodes have so many steps.
func (m *Meter) Costs(s *knob.Settings, b Batches, episode int) config.Costs {
	return config.Costs{
		Step: m.stepOf(b.Mixed), First: m.stepOf(b.Real), Score: m.cost[knob.Encode].value + m.cost[knob.Score].value, Warm: m.warm.value, FitStep: m.cost[knob.Fit].value,
		Sample:     m.perSample.value * float64(s.SamplerSteps),
		Evaluation: m.cost[knob.Evaluate].value * float64(episode),
	}
}

// Perf is how fast the run is and what it takes, since it was called last.
func (m *Meter) Perf(s *knob.Settings) event.Perf {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return event.Perf{
		StepsPerSec: run.Float(m.steps), UpdatesPerSec: run.Float(m.updates),
		StepS: run.Float(m.cost[knob.Collect].value), FitStepS: run.Float(m.cost[knob.Fit].value),
		SampleS:     run.Float(m.perSample.value * float64(s.SamplerSteps)),
		MemoryBytes: memory.Sys - memory.HeapReleased, Spent: m.spentOn(),
	}
}

// State is what things took in a run so far: an estimate of what they will take must
// not begin anew with every break. Of each average it holds value and weight.
type State struct {
	Cost, PerSample []float64
	Warm            []float64 // missing in checkpoints of older builds, as the next one
	Learn           []float64 // with the rows behind it
	Parts           []time.Duration
}

func (m *Meter) State() State {
	s := State{PerSample: []float64{m.perSample.value, m.perSample.weight}, Warm: []float64{m.warm.value, m.warm.weight},
		Learn: []float64{m.learn.value, m.learn.weight, m.rows}, Parts: append([]time.Duration(nil), m.parts[:]...)}
	for _, a := range m.cost {
		s.Cost = append(s.Cost, a.value, a.weight)
	}
	return s
}

// Restore takes what saved gave; what is not of this version's shape is nothing. A version
// with fewer phases had the first of these.
func (m *Meter) Restore(s State) {
	if len(s.Cost) > 2*len(m.cost) || len(s.Cost)%2 != 0 || len(s.PerSample) != 2 || len(s.Parts) != len(m.parts) {
		return
	}
	for i := range len(s.Cost) / 2 {
		m.cost[i] = average{s.Cost[2*i], s.Cost[2*i+1]}
	}
	m.perSample = average{s.PerSample[0], s.PerSample[1]}
	if len(s.Warm) == 2 {
		m.warm = average{s.Warm[0], s.Warm[1]}
	}
	if len(s.Learn) == 3 {
		m.learn, m.rows = average{s.Learn[0], s.Learn[1]}, s.Learn[2]
	}
	copy(m.parts[:], s.Parts)
}

// Forget drops what things took: they take something else here.
func (m *Meter) Forget() {
	m.cost, m.perSample, m.warm, m.learn = [len(m.cost)]average{}, average{}, average{}, average{}
}

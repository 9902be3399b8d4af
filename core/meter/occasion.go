package meter

import (
	"time"

	"pgrlab/core/knob"
)

// occasions measures a phase of env steps that only some of them have, such as the iteration of PPO
// behind each rollout. A mean over env steps would take an iteration for an outlier, so its time and
// the number of env steps from one to the next are averaged apart.
type occasions struct {
	time  average       // seconds of one
	apart average       // env steps from one to the next
	since int           // env steps since the last one, or since measuring began
	spent time.Duration // in the present env step
}

// inSteps are the phases that are part of an env step and have no cost of their own.
var inSteps = [...]knob.Phase{knob.Rollout, knob.Learn, knob.Reach, knob.Model}

// occasionsOf returns where the time of a phase belongs; nil if it is a phase with a cost of its own.
func (m *Meter) occasionsOf(p knob.Phase) *occasions {
	for i, in := range inSteps {
		if in == p {
			return &m.within[i]
		}
	}
	return nil
}

// end is called behind an env step; counted says whether its time counts.
func (o *occasions) end(counted bool) {
	if counted {
		o.since++
	}
	if o.spent == 0 {
		return
	}
	if counted {
		o.time.add(o.spent.Seconds())
		o.apart.add(float64(o.since))
	}
	o.since, o.spent = 0, 0
}

// perStep is the seconds of an env step; 0 if there was none yet.
func (o *occasions) perStep() float64 {
	if o.apart.weight == 0 {
		return 0
	}
	return o.time.value / o.apart.value
}

// step is the seconds of an env step that trains, with all that belongs to it.
func (m *Meter) step() float64 {
	s := m.cost[knob.Collect].value
	for i := range m.within {
		s += m.within[i].perStep()
	}
	return s
}

// Seen says whether a phase that is part of env steps was measured.
func (m *Meter) Seen(p knob.Phase) bool { return m.occasionsOf(p).apart.weight > 0 }

// OccasionState is what a State holds of the occasions of a phase: the value and weight of each
// average, and the env steps since the last one.
type OccasionState struct {
	Phase       knob.Phase
	Time, Apart []float64
	Since       int
}

func (m *Meter) occasionStates() (all []OccasionState) {
	for i, o := range m.within {
		all = append(all, OccasionState{inSteps[i], []float64{o.time.value, o.time.weight}, []float64{o.apart.value, o.apart.weight}, o.since})
	}
	return all
}

// restoreOccasions restores what occasionStates returned.
func (m *Meter) restoreOccasions(all []OccasionState) {
	for _, s := range all {
		if o := m.occasionsOf(s.Phase); o != nil && len(s.Time) == 2 && len(s.Apart) == 2 {
			o.time, o.apart, o.since = average{s.Time[0], s.Time[1]}, average{s.Apart[0], s.Apart[1]}, s.Since
		}
	}
}

package cost

import (
	"time"

	"pgrlab/core/knob"
)

// Occasions measures a phase of env steps that only some of them have, such as the iteration of PPO
// after each rollout. A mean over env steps would take an iteration for an outlier, so its time and
// the number of env steps from one to the next are averaged separately.
type Occasions struct {
	Time  Average       // seconds of one
	Apart Average       // env steps from one to the next
	Since int           // env steps since the last one, or since measuring began
	spent time.Duration // in the present env step
}

// inSteps are the phases that are part of an env step and have no cost of their own.
var inSteps = [...]knob.Phase{knob.Rollout, knob.Learn, knob.Reach, knob.Model}

// occasionsOf returns where the time of a phase belongs; nil if it is a phase with a cost of its own.
func (m *Meter) occasionsOf(p knob.Phase) *Occasions {
	for i, in := range inSteps {
		if in == p {
			return &m.InSteps[i]
		}
	}
	return nil
}

// end is called after an env step; counted says whether its time counts.
func (o *Occasions) end(counted bool) {
	if counted {
		o.Since++
	}
	if o.spent == 0 {
		return
	}
	if counted {
		o.Time.add(o.spent.Seconds())
		o.Apart.add(float64(o.Since))
	}
	o.Since, o.spent = 0, 0
}

// Once says that a phase of env steps that was measured in the present one has no other occasion.
func (m *Meter) Once(p knob.Phase) { m.occasionsOf(p).spent = 0 }

// perStep is the seconds of an env step; 0 if there was none yet.
func (o *Occasions) perStep() float64 {
	if o.Apart.Weight == 0 {
		return 0
	}
	return o.Time.Value / o.Apart.Value
}

// Step is the seconds of an env step that trains, with all that belongs to it; 0: unknown.
func (m *Meter) Step() float64 {
	s := m.Phases[knob.Collect].Value
	for i := range m.InSteps {
		s += m.InSteps[i].perStep()
	}
	return s
}

// Seen says whether a phase that is part of env steps was measured.
func (m *Meter) Seen(p knob.Phase) bool { return m.occasionsOf(p).Apart.Weight > 0 }

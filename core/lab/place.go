package lab

import "pgrlab/core/knob"

// place is where a run is. The driver moves it from place to place, and the phases say how
// much of their work there is; everything else only reads it.
type place struct {
	Step     int // env steps made, the present one included
	position knob.Position
	total    int           // units of the phase
	inSlice  bool          // work is being done: the state is no whole one
	entry    knob.Position // where a loaded run goes on, if inside of an env step; else zero
}

// entered says whether the run goes on inside of an env step, where it was saved.
func (p *place) entered() bool { return p.entry.Step > 0 }

// entersAt says whether it goes on in that phase.
func (p *place) entersAt(phase knob.Phase) bool { return p.entered() && p.entry.Phase == phase }

// enter is where a phase begins: at 0, or where the run was saved.
func (p *place) enter(phase knob.Phase) int {
	if !p.entersAt(phase) {
		return 0
	}
	i := p.entry.I
	p.entry = knob.Position{}
	return i
}

// load puts a run that has not begun where it was saved.
func (p *place) load(step int, at knob.Position, total int) {
	*p = place{Step: step, position: at, total: total}
	if at.Phase != knob.AfterStep {
		p.entry = at
	}
}

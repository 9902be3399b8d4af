package lab

import (
	"fmt"
	"runtime/debug"
	"strings"

	"pgrlab/core/knob"
)

// place is where a run is. The driver moves it, and the phases set how many units they have;
// everything else only reads it.
type place struct {
	Step     int // steps made in all copies of the environment, those of the present env step included
	position knob.Position
	total    int           // units of the phase
	inSlice  bool          // work is being done: the state is not consistent
	entry    knob.Position // where a loaded run goes on, if within an env step; else zero
}

// entered says whether the run goes on within an env step, where it was saved.
func (p *place) entered() bool { return p.entry.Step > 0 }

// entersAt says whether the run goes on in that phase.
func (p *place) entersAt(phase knob.Phase) bool { return p.entered() && p.entry.Phase == phase }

// refitting says whether a refit or a generation is under way.
func (p *place) refitting() bool {
	switch p.position.Phase {
	case knob.Encode, knob.Score, knob.Fit, knob.Generate:
		return true
	}
	return false
}

// enter returns the unit at which a phase begins: 0, or where the run was saved.
func (p *place) enter(phase knob.Phase) int {
	if !p.entersAt(phase) {
		return 0
	}
	i := p.entry.I
	p.entry = knob.Position{}
	return i
}

// load puts a run that has not begun at the place where it was saved.
func (p *place) load(step int, at knob.Position, total int) {
	*p = place{Step: step, position: at, total: total}
	if at.Phase != knob.AfterStep {
		p.entry = at
	}
}

// guarded turns the panics of f into errors.
func (p *place) guarded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("step %d: %s: panic: %v%s", p.Step, p.position.Phase, v, where(debug.Stack()))
		}
	}()
	return f()
}

// where is the place of a panic: the innermost function of this program below
// the panic itself, as " (file.go:12)".
func where(stack []byte) string {
	_, below, _ := strings.Cut(string(stack), "\npanic(")
	lines := strings.Split(below, "\n")
	for i, line := range lines[:len(lines)-1] {
		if strings.HasPrefix(line, "pgrlab/") || strings.HasPrefix(line, "main.") {
			place, _, _ := strings.Cut(lines[i+1], " +0x")
			return " (" + place[strings.LastIndexByte(place, '/')+1:] + ")"
		}
	}
	return ""
}

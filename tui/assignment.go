package tui

import (
	"fmt"
	"pgrlab/core/knob"
	"strings"
)

// assignment is a knob, its value, and when.
type assignment struct {
	knob  knob.Knob
	value knob.Value
	now   bool
	at    *knob.Position
}

// parseAssignment reads "guidance 3", "ω=3!", "ratio 0.75 @20000".
func (m *steering) parseAssignment(text string) (assignment, error) {
	var a assignment
	text, at, scheduled := strings.Cut(text, "@")
	fields := strings.Fields(strings.Replace(text, "=", " ", 1))
	if len(fields) == 0 {
		return a, fmt.Errorf("which knob? for example: guidance 3")
	}
	var err error
	if a.knob, err = m.findKnob(fields[0]); err != nil {
		return a, err
	}
	if len(fields) != 2 {
		return a, fmt.Errorf("%s: want one value: %s", a.knob.Name, a.knob.Range())
	}
	if err = m.about.Config.Uses(a.knob); err != nil {
		return a, err
	}
	value, now := strings.CutSuffix(fields[1], "!")
	a.now = now
	if a.value, err = a.knob.Parse(value); err != nil {
		return a, err
	}
	if scheduled {
		p, err := knob.ParsePosition(strings.TrimSpace(at))
		if err != nil {
			return a, err
		}
		if m.snap != nil && p.Before(knob.After(m.snap.Step)) {
			return a, fmt.Errorf("step %s has passed: the run is at %s", count(p.Step), count(m.snap.Step))
		}
		a.at = &p
	}
	return a, nil
}

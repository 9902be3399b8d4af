package steer

import (
	"fmt"
	"strings"

	"pgrlab/core/knob"
)

// assignment is a knob, its value, and when to apply it.
type assignment struct {
	Knob  knob.Knob
	Value knob.Value
	Now   bool
	At    *knob.Position
}

// ParseAssignment reads "guidance 3", "ω=3!", "ratio 0.75 @20000".
func (s *Steering) ParseAssignment(text string) (assignment, error) {
	var a assignment
	text, at, scheduled := strings.Cut(text, "@")
	fields := strings.Fields(strings.Replace(text, "=", " ", 1))
	if len(fields) == 0 {
		return a, fmt.Errorf("which knob? for example: guidance 3")
	}
	var err error
	if a.Knob, err = s.FindKnob(fields[0]); err != nil {
		return a, err
	}
	if len(fields) != 2 {
		return a, fmt.Errorf("%s: want one value: %s", a.Knob.Name, a.Knob.Range())
	}
	if err = s.About.Config.Uses(a.Knob); err != nil {
		return a, err
	}
	value, now := strings.CutSuffix(fields[1], "!")
	a.Now = now
	if a.Value, err = a.Knob.Parse(value); err != nil {
		return a, err
	}
	if scheduled {
		p, err := s.position(strings.TrimSpace(at))
		if err != nil {
			return a, err
		}
		a.At = &p
	}
	return a, nil
}

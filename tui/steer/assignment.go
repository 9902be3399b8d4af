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
	name, value := assigned(text)
	if name == "" {
		return a, fmt.Errorf("which knob? for example: guidance 3")
	}
	var err error
	if a.Knob, err = s.FindKnob(name); err != nil {
		return a, err
	}
	if value == "" || strings.Contains(value, " ") && !a.Knob.TakesFormulas() {
		return a, fmt.Errorf("%s: want one value: %s", a.Knob.Name, a.Knob.Range())
	}
	if err = s.About.Config.Uses(a.Knob); err != nil {
		return a, err
	}
	value, a.Now = strings.CutSuffix(value, "!")
	if a.Value, err = a.Knob.Parse(s.About.Config.Written(a.Knob.Name, strings.TrimSpace(value))); err != nil {
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

// assigned takes "ω = 3", "guidance=3" and "guidance 3" apart.
func assigned(text string) (name, value string) {
	text = strings.TrimSpace(text)
	end := strings.IndexAny(text, " =")
	if end < 0 {
		return text, ""
	}
	return text[:end], strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text[end:]), "="))
}

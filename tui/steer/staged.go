package steer

import (
	"fmt"
	"strings"

	"pgrlab/core/knob"
	"pgrlab/tui/format"
	"pgrlab/tui/pane"
)

// StagedEffect says what enter will do.
func (s *Steering) StagedEffect() string {
	class := s.stagedClass()
	text := s.StagedText() + ": "
	switch cost, known := s.Cost(class); {
	case class == knob.ClassBatch:
		return text + "from the next update"
	case !s.Generated():
		return text + strings.Replace(s.atNextRefit(), "next", "first", 1)
	case known && cost < patience:
		return text + "now, " + format.Lasting(cost)
	case known:
		return text + "at the next refit, or now in about " + format.Duration(cost)
	default:
		return text + "at the next refit, or now"
	}
}

// StagedText names the staged changes.
func (s *Steering) StagedText() string {
	var parts []string
	for _, k := range s.KnobList {
		if v, ok := s.Staged[k.Name]; ok {
			parts = append(parts, fmt.Sprintf("%s %s %s %s", pane.Symbol(k), pane.Readable(s.Effective(k.Name)), s.Theme.Glyphs.Arrow, pane.Readable(v)))
		}
	}
	return strings.Join(parts, ", ")
}

// stagedClass is the most expensive class among the staged changes.
func (s *Steering) stagedClass() knob.Class {
	class := knob.ClassBatch
	for _, k := range s.KnobList {
		if _, ok := s.Staged[k.Name]; ok {
			class = max(class, k.Class)
		}
	}
	return class
}

// Wanted is the staged value of a knob, or the effective one.
func (s *Steering) Wanted(name string) knob.Value {
	if v, ok := s.Staged[name]; ok {
		return v
	}
	return s.Effective(name)
}

// Usable says, under the knobs, why a knob cannot be changed.
func (s *Steering) Usable(k knob.Knob) bool {
	if s.About.Replay {
		s.Refuse(pane.ErrReplay.Error())
		return false
	}
	if err := s.KnobUse(k); err != nil {
		s.Refuse(err.Error())
		return false
	}
	if s.Ended() {
		s.Refuse("the run has ended")
		return false
	}
	return true
}

// Stage remembers a value to send; the effective one is nothing to send.
func (s *Steering) Stage(k knob.Knob, v knob.Value) {
	if v == s.Effective(k.Name) {
		delete(s.Staged, k.Name)
	} else {
		s.Staged[k.Name] = v
	}
	s.Say("")
	s.askPreview(k, v)
}

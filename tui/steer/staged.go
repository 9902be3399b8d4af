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
	class := s.classOf(s.Staged)
	text := s.StagedText() + ": "
	switch cost, known := s.Cost(class); {
	case class == knob.ClassBatch:
		return text + "from the next update"
	case s.underWay(s.Staged):
		return text + "with the refit under way"
	case !s.Generated() && s.Remaking(): // the first refit has read the value that was
		return text + s.atNextRefit()
	case !s.Generated():
		return text + strings.Replace(s.atNextRefit(), "next", "first", 1)
	case known && cost < patience && class == knob.ClassGeneration && s.RollSteps() > 0:
		return text + "now, " + format.Lasting(cost) + "; all of D_syn " + format.Count(s.RollSteps()) + " steps later"
	case known && cost < patience:
		return text + "now, " + format.Lasting(cost)
	case known:
		return text + "at the next refit, or now in about " + format.Duration(cost)
	default:
		return text + "at the next refit, or now"
	}
}

// StagedText names the staged changes.
func (s *Steering) StagedText() string { return s.textOf(s.Staged) }

// textOf names changes.
func (s *Steering) textOf(values map[string]knob.Value) string {
	var parts []string
	for _, k := range s.KnobList {
		if v, ok := values[k.Name]; ok {
			parts = append(parts, fmt.Sprintf("%s %s %s %s", pane.Symbol(k), pane.Readable(s.Effective(k.Name)), s.Theme.Glyphs.Arrow, pane.Readable(v)))
		}
	}
	return strings.Join(parts, ", ")
}

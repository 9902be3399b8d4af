package pane

import "pgrlab/core/knob"

// UnitOf is the unit of a knob in brackets; "" if it has none.
func UnitOf(k knob.Knob) string {
	if k.Unit == "" {
		return ""
	}
	return " (" + k.Unit + ")"
}

// TakesEffect says when a change of a knob of class c takes effect.
func TakesEffect(c knob.Class) string {
	switch c {
	case knob.ClassBatch:
		return "in force from the next update"
	case knob.ClassGeneration:
		return "in force from the next generation"
	case knob.ClassRefit:
		return "in force from the next refit"
	default:
		return "fixed for a run"
	}
}

// UsedKnobs is how many knobs the method uses: the first ones of KnobList.
func (r *Run) UsedKnobs() int {
	n := 0
	for n < len(r.KnobList) && r.KnobUse(r.KnobList[n]) == nil {
		n++
	}
	return n
}

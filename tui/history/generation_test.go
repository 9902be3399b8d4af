package history

import (
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/knob"
)

// A D_syn has the values of the knobs that its refit and its generation began with: changes that come later in
// that step are of the next one, but for those that make it give up what had begun.
func TestChangesThatComeTooLateForAGeneration(t *testing.T) {
	omega, steps, f := "guidance", "generator_steps", "relevance"
	for _, c := range []struct {
		name  string
		class knob.Class
		at    knob.Position
		now   bool
		want  bool
	}{
		{omega, knob.ClassGeneration, knob.At(5000, knob.Fit, 100), false, true},
		{omega, knob.ClassGeneration, knob.At(5000, knob.Generate, 0), false, true},
		{omega, knob.ClassGeneration, knob.At(5000, knob.Generate, 1), false, false},
		{omega, knob.ClassGeneration, knob.At(5000, knob.Generate, 1), true, true},
		{omega, knob.ClassGeneration, knob.At(4000, knob.Generate, 1), false, true},
		{steps, knob.ClassRefit, knob.At(5000, knob.Fit, 0), false, true},
		{steps, knob.ClassRefit, knob.At(5000, knob.Fit, 100), false, false},
		{f, knob.ClassRefit, knob.At(5000, knob.Score, 7), false, false},
		{f, knob.ClassRefit, knob.At(5000, knob.Learn, 7), false, true},
	} {
		h := New(0, 0)
		h.Take(event.Event{Step: 5000, Member: event.NoMember, Body: event.KnobChanged{ID: 1, Knob: c.name, Class: c.class, To: knob.Number(3), Position: c.at, Now: c.now}})
		h.Take(event.Event{Step: 5000, Body: event.Refit{Steps: 8400, Generated: 10}})
		if _, is := h.Syntheses[0].Changed[c.name]; is != c.want {
			t.Errorf("%+v: the generation of step 5,000 has it: %v", c, is)
		}
		h.Take(event.Event{Step: 10_000, Body: event.Refit{Steps: 8400, Generated: 10}})
		if _, is := h.Syntheses[1].Changed[c.name]; !is {
			t.Errorf("%+v: the next generation lacks it", c)
		}
	}
}

package lab

import (
	"slices"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/testing/tiny"
)

// A refit that comes before there are rows to fit to is left out, and a line says so; what was
// changed for it comes into force with the next one.
func TestARefitBeforeThereAreRowsIsLeftOut(t *testing.T) {
	for _, of := range []struct {
		name    string
		config  config.Config
		leftOut []int
	}{
		{"rows of states", tiny.Config(), []int{1}},
		{"rows of three frames' features", tiny.Latents(), []int{1, 2, 3}},
	} {
		c := of.config
		c.Steps, c.StartSteps, c.Knobs.RefitEvery, c.Knobs.GeneratorSteps = 6, 4, 1, 2
		c.Generator.Normaliser = generative.NormaliserStandard // has no deviation of a single row
		c.Schedule = []string{"1/score:0:lr_generator=0.001"}
		begin := func(r record) *Lab { return framesLabOf(t, c, tiny.Task(), 1, r) }
		l := begin(&memoryFolder{})
		if err := l.Run(t.Context()); err != nil {
			t.Errorf("%s: %v", of.name, err)
			continue
		}
		notes, at := bodies[event.Noted](l)
		if !slices.Equal(at, of.leftOut) || !strings.Contains(notes[0].Text, "this refit is left out") {
			t.Errorf("%s: left out at %v, want %v: %+v", of.name, at, of.leftOut, notes)
		}
		_, refits := bodies[event.Refit](l)
		_, inForce := bodies[event.InForce](l)
		if first := len(of.leftOut) + 1; len(refits) == 0 || refits[0] != first || len(inForce) != 1 || inForce[0] <= first {
			t.Errorf("%s: refits at %v, changes in force at %v", of.name, refits, inForce)
		}
		resumeEverywhere(t, 9, begin)
	}
}

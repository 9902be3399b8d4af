package generative

import (
	"slices"
	"testing"

	"pgrlab/core/op"
	"pgrlab/core/replay"
)

func numbers(tensors []*op.Tensor) (all []float32) {
	for _, t := range tensors {
		all = append(all, t.Data...)
	}
	return all
}

// A refit starts from fresh weights or from the served ones; an abandoned fit in between leaves no
// trace.
func TestRefitsStartWhereInitSays(t *testing.T) {
	rows, scores := randomRows(40)
	for _, init := range []string{"", InitScratch, InitPrevious} {
		c := tiny()
		c.Init = init
		d := newDiffusion(t, c, tinyShape)
		startFit(t, d, rows, scores, tinyFit, 1)
		first := numbers(d.model.State())
		finishFit(t, d, 20)
		served := numbers(d.served.State())
		if slices.Equal(first, served) {
			t.Fatal("the fit moved nothing")
		}
		startFit(t, d, rows, scores, tinyFit, 2)
		if _, _, err := d.FitSteps(3); err != nil {
			t.Fatal(err)
		}
		d.Cancel()
		startFit(t, d, rows, scores, tinyFit, 2)
		again := numbers(d.model.State())
		if previous := slices.Equal(again, served); previous != (init == InitPrevious) {
			t.Errorf("init %q: the second fit starts from what is served: %v", init, previous)
		}
		if slices.Equal(again, first) || !slices.Equal(again, numbers(d.average.State())) {
			t.Errorf("init %q: the second fit starts as the first, or with another average", init)
		}
	}
}

// A modelled terminal is thresholded at one half, or stays the number that was sampled; one that is
// not modelled is 0.
func TestTerminalsByHand(t *testing.T) {
	shape := replay.Shape{Obs: 1, Act: 1}
	for _, c := range []struct {
		modelled   bool
		terminals  string
		from, want float32
	}{
		{true, TerminalsThreshold, 0.51, 1}, {true, TerminalsThreshold, 0.5, 0}, {true, "", 1.2, 1}, {true, TerminalsRaw, 0.51, 0.51},
		{true, TerminalsRaw, -0.03, -0.03}, {true, TerminalsRaw, 1.2, 1.2}, {false, TerminalsRaw, 0.7, 0}, {false, "", 0.7, 0},
	} {
		config := Default()
		config.ModelTerminals, config.Terminals = c.modelled, c.terminals
		row := []float32{0, 2, 0, 0, c.from}
		newLayout(config, shape).finish(row, &normaliser{})
		if row[4] != c.want || row[1] != 1 {
			t.Errorf("%+v: %v", c, row)
		}
	}
}

package plan

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/op"
	"pgrlab/core/testing/cputest"
)

// A learning rate throws the weights out of float32's range. The run that detects this changes
// nothing, and says which product overflowed, on every device.
func TestARunThatDivergesChangesNothing(t *testing.T) {
	var said []string
	for _, threads := range []int{1, 2} {
		dev := cputest.New(t, cpu.Options{Threads: threads})
		d := wide()
		rate, average, share := op.NewTensor("rate", 1), op.NewTensor("average", 40, 96), op.NewTensor("share", 1)
		rate.Data[0], share.Data[0] = 1e30, 0.5
		var s Spec
		g, err := op.Build(d.Name, func(g *op.Graph) { s.Loss, s.Outputs = d.Build(g) })
		if err != nil {
			t.Fatal(err)
		}
		s.Optimiser = NewAdam(d.Wrt, DefaultAdam, rate)
		s.Lerps = []Lerp{{Dst: average, Src: d.Wrt[0], Rate: share}}
		p, err := Compile(g, s, dev)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Run(0); err != nil {
			t.Fatal(err)
		}
		all := append(append(append([]*op.Tensor{average}, d.Wrt...), s.Optimiser.M...), s.Optimiser.V...)
		var before [][]float32
		for _, x := range all {
			before = append(before, slices.Clone(x.Data))
		}
		rate.Data[0] = 1e-3
		for range 2 { // the result stays the same
			err = p.Run(1)
			var e *NotFinite
			if !errors.As(err, &e) || e.Program != "wide" || e.Op != "linear" || e.Step > 1 || !math.IsInf(e.Value, 0) && !math.IsNaN(e.Value) ||
				!strings.Contains(e.From, ".w[1,") {
				t.Fatalf("%d threads: %v", threads, err)
			}
		}
		said = append(said, err.Error())
		for i, x := range all {
			if !slices.Equal(x.Data, before[i]) {
				t.Errorf("%d threads: %s was changed", threads, x.Name)
			}
		}
		if s.Optimiser.T != 1 {
			t.Errorf("%d steps are counted, want 1", s.Optimiser.T)
		}
	}
	if said[0] != said[1] {
		t.Errorf("one worker says %q, two %q", said[0], said[1])
	}
}

// A value that was not finite before the run is named as such.
func TestWhatComesInIsNamed(t *testing.T) {
	x, y := random("observations", 4, 3), random("y", 4, 3)
	x.Data[7] = float32(math.NaN())
	var s Spec
	g, err := op.Build("named", func(g *op.Graph) {
		out := g.Tanh(g.Mul(g.Bind(x), g.Bind(y)))
		s.Outputs, s.Finite = []*op.Node{out}, []*op.Node{out}
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(g, s, machine(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Run(0); err == nil || err.Error() != "named: observations[1,4,3] is NaN at [0,2,1]" {
		t.Errorf("%v", err)
	}
	x.Data[7] = 0
	if err := p.Run(0); err != nil {
		t.Error(err)
	}
}

// Gradients whose squares would overflow are refused before they spoil the
// moments.
func TestANormTooLargeIsRefused(t *testing.T) {
	w, y, rate := random("w", 1, 3), random("y", 1, 3), op.NewTensor("rate", 1)
	var s Spec
	g, err := op.Build("steep", func(g *op.Graph) {
		s.Loss = g.SquaredError(g.Scale(g.Bind(w), 1e10), g.Bind(y), 3)
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Optimiser = NewAdam([]*op.Tensor{w}, DefaultAdam, rate)
	p, err := Compile(g, s, machine(t))
	if err != nil {
		t.Fatal(err)
	}
	var e *NotFinite
	if err := p.Run(0); !errors.As(err, &e) || e.Op != "" || !(e.Norm > 1.8e19) || !(p.GradientNorm() > 1.8e19) {
		t.Errorf("%v", err)
	}
}

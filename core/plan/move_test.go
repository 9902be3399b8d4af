package plan

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgrlab/core/op"
	"pgrlab/core/rng"
)

// Each run of this program continues from the previous one: x ← x + scale·noise, with the noise
// taken from an item on, or left as it was.
func TestMovesAndItems(t *testing.T) {
	const rows, cols = 45, 9 // on each lane more than a vector of every family
	x, noise, scale := op.NewTensor("x", rows, cols), op.NewTensor("noise", rows, cols), op.NewTensor("scale", cols)
	stream, items := rng.New(4, "moves"), &Items{First: 7}
	var sum *op.Node
	g, err := op.Build("walk", func(g *op.Graph) {
		sum = g.Add(g.Bind(x), g.ColScale(g.Bind(noise), g.Bind(scale)))
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(g, Spec{
		Finite: []*op.Node{sum},
		Fills:  []Fill{{Node: g.Bind(noise), Stream: stream, Items: items}},
		Lerps:  []Lerp{{Dst: x, Node: sum}},
	}, machine(t))
	if err != nil {
		t.Fatal(err)
	}
	want, filled := make([]float32, rows*cols), make([]float32, rows*cols)
	step := func(occasion uint64, by float32) error {
		for j := range scale.Data {
			scale.Data[j] = by
		}
		return p.Run(occasion)
	}
	for occasion := range uint64(4) {
		if items.Idle = occasion == 2; !items.Idle {
			stream.FillNormal(filled, occasion, 7)
		}
		if err := step(occasion, 0.3); err != nil {
			t.Fatal(err)
		}
		for i := range want {
			want[i] += float32(0.3 * filled[i]) // rounded, since some CPUs would fuse the two
		}
		if !slices.Equal(x.Data, want) {
			t.Fatalf("run %d: differs from the sums of its moves", occasion)
		}
	}
	var where *NotFinite
	if err := step(5, float32(math.Inf(1))); !errors.As(err, &where) {
		t.Errorf("error %v, want one of a number that is not finite", err)
	}
	if !slices.Equal(x.Data, want) {
		t.Error("a run that was stopped moved its state")
	}
}

package plan

import (
	"slices"
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/op"
	"pgrlab/core/testing/cputest"
)

// Any number of rows gives the numbers of its rows, and nothing beyond them.
func TestBlocksOfRows(t *testing.T) {
	dev := cputest.New(t, cpu.Options{Threads: 1})
	b, err := NewBlocks("twice", 4, dev, func(g *op.Graph) ([]*op.Node, Spec) {
		x, y := g.Input("x", 4, 2), g.Input("y", 4, 1)
		return []*op.Node{x, y}, Spec{Outputs: []*op.Node{g.Scale(x, 2), g.Scale(y, 3)}}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	x, y := make([]float32, 20), make([]float32, 10)
	for i := range x {
		x[i], y[i/2] = float32(i), float32(i/2)
	}
	for rows := range 11 {
		twice, thrice := make([]float32, 20), make([]float32, 10)
		for _, out := range [][2][]float32{{twice, thrice}, {nil, thrice}} {
			if err := b.Columns(0, rows, [][]float32{x, y}, out[0], out[1]); err != nil {
				t.Fatal(err)
			}
		}
		for i, v := range twice {
			if want := 2 * x[i]; i < 2*rows && v != want || i >= 2*rows && v != 0 {
				t.Errorf("%d rows: twice %v", rows, twice)
			}
		}
		if i := slices.IndexFunc(thrice[rows:], func(v float32) bool { return v != 0 }); i >= 0 || rows > 0 && thrice[rows-1] != 3*y[rows-1] {
			t.Errorf("%d rows: thrice %v", rows, thrice)
		}
	}
}

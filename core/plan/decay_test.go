package plan

import (
	"slices"
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/optest"
)

// Three steps with L2 are those of a loss with the term ½c‖w‖², with a clip and without, for gradients
// that lanes divide by rows, by members and by columns; workers do not change a bit.
func TestDecaysOfParameters(t *testing.T) {
	const c = 0.3
	for _, members := range []int{1, 3} {
		for _, width := range []int{12, 380} {
			for _, clip := range []float64{0, 0.05} {
				after := func(threads int, l2 bool) []float32 {
					dev := cputest.New(t, cpu.Options{Threads: threads, LeastShare: 1})
					net := nn.NewMLP("net", []int{8, width, width, 2}, nn.TorchDefault, nn.Tanh, seed)
					if members > 1 {
						net = nn.NewEnsembleMLP("net", members, []int{8, width, width, 2}, nn.TorchDefault, nn.Tanh, seed)
					}
					x, y, rate := random("x", 70, 8), random("y", 70, 2), op.NewTensor("rate", 1)
					rate.Data[0] = 1e-3
					var loss *op.Node
					g, err := op.Build("decays", func(g *op.Graph) {
						terms := []*op.Node{g.SquaredError(net.Apply(g, g.Bind(x)), g.Bind(y), 70)}
						for _, w := range net.Params() {
							if !l2 {
								terms = append(terms, g.Sum(g.Square(g.Bind(w)), 2/c))
							}
						}
						loss = g.AddScalars(terms...)
					})
					if err != nil {
						t.Fatal(err)
					}
					adam := NewAdam(net.Params(), AdamConfig{Beta1: 0.9, Beta2: 0.99, Eps: 1e-3, ClipNorm: clip}, rate)
					if l2 {
						adam.L2 = slices.Repeat([]float64{c}, len(adam.Params))
					}
					p, err := Compile(g, Spec{Loss: loss, Optimiser: adam}, dev)
					if err != nil {
						t.Fatal(err)
					}
					defer p.Close()
					for i := range uint64(3) {
						if err := p.Run(i); err != nil {
							t.Fatal(err)
						}
					}
					var all []float32
					for _, w := range net.Params() {
						all = append(all, w.Data...)
					}
					return all
				}
				one := after(1, true)
				for _, threads := range []int{2, 5} {
					if !slices.Equal(one, after(threads, true)) {
						t.Errorf("%d members, width %d, clip %g: %d workers change the numbers", members, width, clip, threads)
					}
				}
				var want []float64
				for _, w := range after(1, false) {
					want = append(want, float64(w))
				}
				optest.Near(t, "weights", one, want, 2e-5)
			}
		}
	}
}

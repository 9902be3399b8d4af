package plan

import (
	"strings"
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/testing/cputest"
)

// A dump shows what was fused, how lanes divide each step, where barriers are, and
// which results share memory.
func TestDump(t *testing.T) {
	dev := cputest.New(t, cpu.Options{Threads: 1})
	rate := op.NewTensor("rate", 1)
	twins := nn.NewEnsembleMLP("q", 2, []int{3, 8, 8, 1}, nn.TorchDefault, nn.ReLU, seed)
	x, y, last := random("x", 6, 3), random("y", 6, 1), op.NewTensor("last", 2, 6, 1)
	var q, loss *op.Node
	g, err := op.Build("twins", func(g *op.Graph) {
		q = twins.Apply(g, g.Bind(x))
		loss = g.SquaredError(q, g.Bind(y), 6)
	})
	if err != nil {
		t.Fatal(err)
	}
	learn, err := Compile(g, Spec{Loss: loss, Lerps: []Lerp{{Dst: last, Node: q}},
		Optimiser: NewAdam(twins.Params(), AdamConfig{Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, ClipNorm: 3}, rate)}, dev)
	if err != nil {
		t.Fatal(err)
	}
	var out *op.Node
	g, err = op.Build("chain", func(g *op.Graph) {
		out = g.Bind(x)
		for range 4 {
			out = g.Tanh(g.SiLU(out))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	chain, err := Compile(g, Spec{Outputs: []*op.Node{out}}, dev)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		p    *Program
		want []string
	}{
		{learn, []string{"+ relu ", "+ relu mask of b", "by members", "segment 1", "+ clip at 3", "move", "last[2,6,1]", "gradient of q.1.w[2,3,8]"}},
		{chain, []string{"chain: 8 instructions", "1 segments", "by rows", "in the memory of b", "mb for results of"}},
	} {
		text := c.p.String()
		for _, part := range c.want {
			if !strings.Contains(strings.ToLower(text), part) {
				t.Errorf("no %q in\n%s", part, text)
			}
		}
	}
}

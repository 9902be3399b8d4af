package plan

import (
	"slices"
	"strings"
	"testing"

	"pgrlab/core/nn"
	"pgrlab/core/op"
)

// What a gradient ends at is made first, then the layers that keep something for the way back, on
// which the last layer's gradients come first. So a target's results are released before others
// begin, and those reuse their memory.
func TestTargetsComeFirst(t *testing.T) {
	sizes := []int{3, 8, 8, 1}
	learner := nn.NewEnsembleMLP("q", 2, sizes, nn.TorchDefault, nn.ReLU, seed)
	target := nn.NewEnsembleMLP("t", 2, sizes, nn.TorchDefault, nn.ReLU, seed)
	x, next := random("x", 6, 3), random("next", 6, 3)
	var loss *op.Node
	g, err := op.Build("target and learner", func(g *op.Graph) {
		q := learner.Apply(g, g.Bind(x)) // it is built before its target
		loss = g.SquaredError(q, g.StopGradient(g.MinMembers(target.Apply(g, g.Bind(next)))), 6)
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(g, Spec{Loss: loss, Optimiser: NewAdam(learner.Params(), DefaultAdam, op.NewTensor("rate", 1))}, machine(t))
	if err != nil {
		t.Fatal(err)
	}
	text := p.String()
	var at []int
	for _, what := range []string{"t.1.w", "t.2.w", "t.3.w", "min members", ", q.1.w", ", q.2.w", ", q.3.w",
		"gradient of q.3.w", "gradient of q.2.w", "gradient of q.1.w"} {
		at = append(at, strings.Index(text, what))
	}
	if slices.Contains(at, -1) || !slices.IsSorted(at) {
		t.Errorf("out of order:\n%s", text)
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, ", q.1.w") && !strings.Contains(line, "in the memory of") {
			t.Errorf("the learner's first layer has memory of its own:\n%s", text)
		}
	}
}

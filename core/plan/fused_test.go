package plan

import (
	"slices"
	"strings"
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/device/cpu/kernel"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/testing/allocs"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/optest"
)

// trunk is a residual network as a sampler calls it: only layers read its activations, and it adds
// what they return.
func trunk(name string, act nn.Activation, width int) optest.Example {
	in, out := nn.NewLinear("in", 9, width, nn.TorchDefault, seed), nn.NewLinear("out", width, 50, nn.TorchDefault, seed)
	first, second := nn.NewLinear("1", width, width, nn.TorchDefault, seed), nn.NewLinear("2", width, width, nn.TorchDefault, seed)
	x := random("x", 131, 9)
	return optest.Example{Name: name, Build: func(g *op.Graph) (*op.Node, []*op.Node) {
		h := in.Apply(g, g.Bind(x))
		h = g.Add(h, first.Apply(g, act(g, h)))
		h = g.Add(second.Apply(g, act(g, h)), h)
		return nil, []*op.Node{out.Apply(g, act(g, h))}
	}}
}

// learned is trunk with a loss, with two heads on one activation and one on none.
func learned(name string, act nn.Activation, width int) optest.Example {
	d := trunk(name, act, width)
	in, block := nn.NewLinear("in", 9, width, nn.TorchDefault, seed), nn.NewLinear("1", width, width, nn.TorchDefault, seed)
	a, b := nn.NewLinear("a", width, 51, nn.TorchDefault, seed), nn.NewLinear("b", width, 51, nn.TorchDefault, seed)
	x, y := random("x", 131, 9), random("y", 131, 51)
	d.Wrt = slices.Concat(in.Params(), block.Params(), a.Params())
	d.Build = func(g *op.Graph) (*op.Node, []*op.Node) {
		h := in.Apply(g, g.Bind(x))
		h = g.Add(h, block.Apply(g, act(g, h)))
		r := act(g, g.StopGradient(h))
		other := g.Add(b.Apply(g, r), a.Apply(g, r))
		return g.SquaredError(g.Add(a.Apply(g, act(g, h)), other), g.Bind(y), 131), []*op.Node{h}
	}
	return d
}

func trunks() (all []optest.Example) {
	for name, act := range map[string]nn.Activation{
		"relu": nn.ReLU, "mish": nn.Mish, "silu": (*op.Graph).SiLU, "elu": (*op.Graph).ELU, "tanh": nn.Tanh,
	} {
		all = append(all, trunk("trunk of "+name, act, 70), learned("learned trunk of "+name, act, 70))
	}
	return append(all, trunk("large trunk", nn.ReLU, 390), trunk("large trunk of mish", nn.Mish, 390))
}

// Layers that read through an activation and start from a sum agree with the reference, and with
// themselves when other workers compute them; they allocate nothing.
func TestFusedLayersAgreeWithTheTapeMachine(t *testing.T) {
	for _, family := range kernel.Available() {
		one := cputest.New(t, cpu.Options{Threads: 1, Family: family})
		two := cputest.New(t, cpu.Options{Threads: 2, Family: family})
		for _, d := range trunks() {
			t.Run(family+"/"+d.Name, func(t *testing.T) {
				agree(t, d, two)
				var outputs [][]float32
				for _, dev := range []*cpu.Device{one, two} {
					p, nodes := compile(t, d, dev, nil)
					if n := allocs.Least(1, func() {
						if err := p.Run(0); err != nil {
							t.Error(err)
						}
					}); n > 0 {
						t.Errorf("%v allocations a run", n)
					}
					outputs = append(outputs, p.Data(nodes[0]))
				}
				if !slices.Equal(outputs[0], outputs[1]) {
					t.Error("the output differs between one worker and two")
				}
			})
		}
	}
}

// A fused step is named in the dump at both places.
func TestDumpOfFusedLayers(t *testing.T) {
	p, _ := compile(t, trunk("trunk", nn.Mish, 70), machine(t), nil)
	text := p.String()
	for _, want := range []string{"in step 3", "with mish of step 1, with linear of step 2", "with mish of step 7"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	profile, err := p.Profile(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(profile, "linear of mish + add") {
		t.Errorf("the profile does not say what was fused:\n%s", profile)
	}
	// An activation with another user is not fused.
	p, _ = compile(t, learned("learned", nn.Mish, 70), machine(t), nil)
	if text = p.String(); strings.Contains(text, "with mish") || !strings.Contains(text, "with linear of step") {
		t.Errorf("not what was to be fused:\n%s", text)
	}
}

// A step of a recurrent state in blocks copies nothing between members and columns side by side, except
// before its gates.
func TestDumpOfMembersSideBySide(t *testing.T) {
	for _, c := range optest.All() {
		if c.Name != "step of a recurrent state in blocks" {
			continue
		}
		var out *op.Node
		p, err := Build(c.Name, machine(t), func(g *op.Graph) Spec {
			_, out = c.At(optest.Shape{B: 6, C: 3}).Build(g)
			return Spec{Outputs: []*op.Node{out}}
		})
		if err != nil {
			t.Fatal(err)
		}
		copies := 0
		for _, line := range strings.Split(p.String(), "\n") {
			if f := strings.Fields(line); len(f) > 1 && slices.Contains([]string{"split", "members", "join"}, f[1]) && !strings.Contains(line, "in step") {
				copies++
			}
		}
		if copies != 1 {
			t.Errorf("%d copies, want 1:\n%v", copies, p)
		}
		return
	}
	t.Error("the table of operations lacks the case")
}

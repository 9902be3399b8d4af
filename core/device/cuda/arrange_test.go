package cuda

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/device/cuda/kernel"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/rng"
)

// deep is a network with layers of one shape, two critics beside it, and a layer that is used twice.
type deep struct {
	x       *op.Tensor
	params  []*op.Tensor
	program *plan.Program
}

func newDeep(t *testing.T, dev device.Device) *deep {
	t.Helper()
	const batch, width = 16, 64
	d := &deep{x: tensor("x", batch, width)}
	main := nn.NewMLP("main", []int{width, width, width, width, width}, nn.XavierUniform, nn.SiLU, rng.New(1, "main"))
	pair := nn.NewEnsembleMLP("pair", 2, []int{width, width, width, 1}, nn.XavierUniform, nn.ReLU, rng.New(1, "pair"))
	twice := nn.NewLinear("twice", width, width, nn.TorchDefault, rng.New(1, "twice"))
	d.params = slices.Concat(main.Params(), pair.Params(), twice.Params())
	rate := op.NewTensor("rate", 1)
	rate.Data[0] = 0.01
	var loss *op.Node
	g, err := op.Build("deep", func(g *op.Graph) {
		h := main.Apply(g, g.Bind(d.x))
		h = twice.Apply(g, g.SiLU(twice.Apply(g, h)))
		loss = g.AddScalars(g.SquaredError(h, g.Bind(tensor("y", batch, width)), batch), g.SquaredError(pair.Apply(g, h), g.Bind(tensor("z", batch, 1)), batch))
	})
	if err != nil {
		t.Fatal(err)
	}
	smooth := plan.DefaultAdam
	smooth.Eps = 1 // otherwise the sign of a gradient near 0 is a whole step
	d.program, err = plan.Compile(g, plan.Spec{Loss: loss, Optimiser: plan.NewAdam(d.params, smooth, rate)}, dev)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// launchesOf counts the launches of the only program of a device by kernel.
func launchesOf(dev *Device) map[string]int {
	n := map[string]int{}
	for x := range dev.executables {
		for _, s := range x.steps {
			for _, l := range s.recipe.Launches {
				n[l.Kernel]++
			}
		}
	}
	return n
}

// Gradients that are made together are those that are made one by one, but for the order of the sums in tiles of another size, and
// the optimiser steps alike.
func TestGradientsTogether(t *testing.T) {
	one, many := card(t, Options{Chain: alone}), card(t, Options{})
	want, got := newDeep(t, one), newDeep(t, many)
	if was, is := launchesOf(one), launchesOf(many); was["column_sum"] != 10 || is["column_sum"] != 0 || is["sums"] != 1 || was["productTN_16x32"] != 8 || is["productTN_16x32"] != 1 || is["productsTN_32x32"] != 1 {
		t.Errorf("launches %v, together %v", was, is)
	}
	for i := range uint64(3) {
		for _, d := range []*deep{want, got} {
			if err := d.program.Run(i); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, p := range want.params {
		for dev, all := range map[*Device][]*op.Tensor{one: want.params, many: got.params} {
			if err := plan.Fetch(dev, all[i]); err != nil {
				t.Fatal(err)
			}
		}
		close32(t, p.Name, got.params[i].Data, p.Data, 1e-6)
	}
}

// Large gradients of weights that are made together have the bits of those that are made one by one in the same tiles, at every
// precision.
func TestStacksOfLargeGradients(t *testing.T) {
	for _, tile := range []string{"packed_TF32_128x256", "direct_TF32_128x128", "packed_BF16_128x256"} {
		precision := kernel.TF32
		if strings.Contains(tile, "BF16") {
			precision = kernel.BF16
		}
		one := hopper(t, Options{Precision: precision, Tile: tile, Without: "stacks"})
		many := hopper(t, Options{Precision: precision, Tile: tile})
		want, got := newDeep(t, one), newDeep(t, many)
		stacks := 0
		for x := range many.executables {
			for _, s := range x.steps {
				stacks += len(s.stacks)
			}
		}
		if stacks != 3 {
			t.Errorf("%s: %d lists of buffers stand together", tile, stacks)
		}
		for _, d := range []*deep{want, got} {
			if err := d.program.Run(1); err != nil {
				t.Fatal(err)
			}
		}
		for i, p := range want.params {
			for dev, all := range map[*Device][]*op.Tensor{one: want.params, many: got.params} {
				if err := plan.Fetch(dev, all[i]); err != nil {
					t.Fatal(err)
				}
			}
			close32(t, tile+": "+p.Name, got.params[i].Data, p.Data, 0)
		}
		if a, b := got.program.GradientNorm(), want.program.GradientNorm(); !(math.Abs(a-b) <= 1e-12*b) || b == 0 {
			t.Errorf("%s: the norm of the gradients is %v, of the same one by one %v", tile, a, b)
		}
		if summed := squared(many); summed != strings.HasPrefix(tile, "packed") {
			t.Errorf("%s: squares are summed where gradients are made: %t", tile, summed)
		}
		got.x.Data[70] = float32(math.Inf(1))
		var where *plan.NotFinite
		if err := got.program.Run(2); !errors.As(err, &where) {
			t.Errorf("%s: %v", tile, err)
		}
	}
}

// squared reports whether a program of a device sums squares where gradients are made.
func squared(dev *Device) bool {
	for x := range dev.executables {
		if slices.ContainsFunc(x.program.Instrs, func(in device.Instr) bool { return in.Code == kernel.Squares }) {
			return true
		}
	}
	return false
}

// Small gradients of which there are enough in large tiles agree with the CPU, in the largest tile on a card
// of few multiprocessors.
func TestLargeTilesOfSmallGradients(t *testing.T) {
	const rows, in, out = 6, 256, 896
	x, layers := tensor("x", rows, in), []nn.Linear{}
	for _, name := range []string{"a", "b"} {
		layers = append(layers, nn.NewLinear(name, in, out, nn.TorchDefault, rng.New(1, name)))
	}
	gradients := func(dev device.Device) (all [][]float32) {
		p, err := plan.Build("tiles", dev, func(g *op.Graph) plan.Spec {
			y := g.Mul(layers[0].Apply(g, g.Bind(x)), layers[1].Apply(g, g.Bind(x)))
			return plan.Spec{Loss: g.Sum(y, 1), Gradients: []*op.Tensor{layers[0].W, layers[1].W}}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if err := p.Run(0); err != nil {
			t.Fatal(err)
		}
		for _, l := range layers {
			dw, err := p.Gradient(l.W)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, slices.Clone(dw))
		}
		return all
	}
	want, got := gradients(onCPU(t)), gradients(unchecked(t, Options{}))
	for i := range want {
		close32(t, layers[i].W.Name, got[i], want[i], 1e-6)
	}
}

// A number that is not finite is found where the CPU finds it, in a program whose instructions are arranged.
func TestNotFiniteInAnArrangedProgram(t *testing.T) {
	var all []plan.NotFinite
	for _, dev := range []device.Device{onCPU(t), card(t, Options{})} {
		d := newDeep(t, dev)
		d.x.Data[70] = float32(math.MaxFloat32)
		var where *plan.NotFinite
		if err := d.program.Run(1); !errors.As(err, &where) {
			t.Fatalf("%v", err)
		}
		all = append(all, *where)
	}
	if a, b := all[0], all[1]; a.Step != b.Step || a.Op != b.Op || a.Tensor != b.Tensor {
		t.Errorf("%+v, the CPU says %+v", b, a)
	}
}

// Buffers of a stack stand one after the other, and share no memory with anything that lives at the same time.
func TestStacksStandTogether(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 2))
		p, steps := anyProgram(r, 3+r.IntN(40))
		stack := stackOf(p, r)
		steps[len(steps)-1].stacks = [][]device.Ref{stack}
		l, err := arrange(p, steps, func([]float32) bool { return false })
		if err != nil {
			t.Fatal(err)
		}
		for i, ref := range stack {
			if want := l.places[stack[0]].offset + i*padded(4*p.Buffers[ref].Len()); l.places[ref].offset != want {
				t.Errorf("seed %d: buffer %d of a stack is at %d, want %d", seed, i, l.places[ref].offset, want)
			}
		}
		livingApart(t, seed, p, steps, l)
	}
}

// stackOf makes some of a program's own buffers alike and returns them.
func stackOf(p *device.Program, r *rand.Rand) (stack []device.Ref) {
	whole := map[device.Ref]bool{}
	for _, b := range p.Buffers {
		if b.Part != nil {
			whole[b.Part.Of] = true
		}
	}
	for i, b := range p.Buffers {
		if ref := device.Ref(i); b.Host == nil && b.Part == nil && !whole[ref] && !slices.Contains(p.Keep, ref) && r.IntN(3) == 0 {
			p.Buffers[i].Members, p.Buffers[i].Rows, p.Buffers[i].Cols = 1, 4, 64
			stack = append(stack, ref)
		}
	}
	return stack
}

package plan

import (
	"fmt"
	"math"
	"os"
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/device/cpu/kernel"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/optest"

	"gorgonia.org/gorgonia"
)

// whole is a program that learns, at a size, with new data at each update.
type whole struct {
	optest.Example
	// data is refilled before each update.
	data []*op.Tensor
	// still maps a parameter whose gradient is zero up to rounding to one whose gradient shows how
	// large the terms were that cancelled.
	still map[string]string
	rate  float32
}

func (w whole) feed(update int) {
	for _, t := range w.data {
		seed.Sub(w.Name).Sub(t.Name).FillNormal(t.Data, uint64(update), 0)
	}
}

// draw feeds an update such that the oracle, which then has run, comes no closer to the corner of a ReLU than
// rounding reaches: there it would decide on the gradient.
func (w whole) draw(t *testing.T, o *oracle, update, updates int) (loss float64) {
	t.Helper()
	o.copy()
	for try := range 40 {
		w.feed(update + try*updates)
		o.copy(w.data...)
		if loss = o.run(t); o.corner(t) >= 1e-6 {
			return loss
		}
	}
	t.Fatalf("update %d: all data have a number next to ReLU's corner", update)
	return 0
}

// Whole updates agree with the TapeMachine in float64: a hundred updates, each from the state that
// the previous ones left, with every output and every gradient within 1e-5 of the tensor's largest
// magnitude.
func TestUpdatesAgreeWithTheTapeMachine(t *testing.T) {
	for _, family := range kernel.Available() {
		dev := cputest.New(t, cpu.Options{Threads: 2, Family: family})
		for _, w := range []whole{critics(64, 48), actors(64, 48), denoising(64, 32, 2), inverse(48, 16)} {
			updates := 100
			if family == "go" && os.Getenv("PGRLAB_SOAK") == "" {
				updates = 20
			}
			t.Run(family+"/"+w.Name, func(t *testing.T) { follow(t, w, dev, updates) })
		}
	}
}

// One update agrees at the size that the methods use; the large ones take the TapeMachine minutes.
func TestFullSizeUpdatesAgreeWithTheTapeMachine(t *testing.T) {
	programs := []whole{critics(256, 256)}
	if os.Getenv("PGRLAB_SOAK") != "" {
		programs = append(programs, actors(256, 256), denoising(1024, 256, 6), inverse(512, 256))
	}
	for _, w := range programs {
		t.Run(w.Name, func(t *testing.T) { follow(t, w, machine(t), 1) })
	}
}

func follow(t *testing.T, w whole, dev *cpu.Device, updates int) {
	rate := op.NewTensor("rate", 1)
	rate.Data[0] = w.rate
	o := newOracle(t, w.Example)
	p, nodes := compile(t, w.Example, dev, NewAdam(w.Wrt, DefaultAdam, rate))
	for u := range updates {
		loss := w.draw(t, o, u, updates)
		if err := p.Run(uint64(u)); err != nil {
			t.Fatal(err)
		}
		if got := p.Loss(); !(math.Abs(got-loss) <= 1e-5*math.Abs(loss)) {
			t.Fatalf("update %d: loss is %v, the TapeMachine says %v", u, got, loss)
		}
		for i, n := range nodes {
			optest.Near(t, fmt.Sprintf("update %d: output %d", u, i), p.Data(n), optest.Numbers[float64](o.outputs[i]), 1e-5)
		}
		largest := map[string]float64{}
		for i, x := range w.Wrt {
			for _, v := range optest.Numbers[float64](o.grads[i]) {
				largest[x.Name] = max(largest[x.Name], math.Abs(v))
			}
		}
		for i, x := range w.Wrt {
			got, err := p.Gradient(x)
			if err != nil {
				t.Fatal(err)
			}
			tolerance := 1e-5
			if like, ok := w.still[x.Name]; ok {
				tolerance *= max(1, largest[like]/(largest[x.Name]+1e-300))
			}
			optest.Near(t, fmt.Sprintf("update %d: gradient of %s", u, x.Name), got, optest.Numbers[float64](o.grads[i]), tolerance)
		}
		if t.Failed() {
			return
		}
	}
}

// Running freely, the plan in float32 and the TapeMachine with Adam in float64 have the same first
// ten losses to a thousandth.
func TestFirstLossesFreeRunning(t *testing.T) {
	dev := machine(t)
	for _, w := range []whole{critics(64, 48), actors(64, 48), denoising(64, 32, 2), inverse(48, 16)} {
		t.Run(w.Name, func(t *testing.T) {
			rate := op.NewTensor("rate", 1)
			rate.Data[0] = w.rate
			o := newOracle(t, w.Example)
			p, _ := compile(t, w.Example, dev, NewAdam(w.Wrt, DefaultAdam, rate))
			for u := range 10 {
				w.feed(u)
				o.copy(w.data...)
				if err := p.Run(uint64(u)); err != nil {
					t.Fatal(err)
				}
				if loss := o.run(t); !(math.Abs(p.Loss()-loss) <= 1e-3*math.Abs(loss)) {
					t.Errorf("loss %d is %v, the TapeMachine says %v", u, p.Loss(), loss)
				}
				o.step(float64(w.rate))
			}
		})
	}
}

// oracle is an example in float64, run by the TapeMachine.
type oracle struct {
	loss           *op.Node
	outputs, grads []*op.Node
	g              *op.Graph
	vm             gorgonia.VM
	wrt            []*op.Tensor
	tensors        map[*op.Tensor][]float64
	m, v           [][]float64
	steps          int
}

func newOracle(t *testing.T, d optest.Example) *oracle {
	t.Helper()
	o := &oracle{wrt: d.Wrt, tensors: map[*op.Tensor][]float64{}}
	o.loss, o.outputs, o.grads, o.g = d.Reference(t)
	for _, n := range o.g.Expr().AllNodes() {
		if x := o.g.Tensor(n); x != nil {
			o.tensors[x] = n.Value().Data().([]float64)
		}
	}
	o.vm = gorgonia.NewTapeMachine(o.g.Expr())
	t.Cleanup(func() { o.vm.Close() })
	for _, x := range d.Wrt {
		o.m, o.v = append(o.m, make([]float64, len(x.Data))), append(o.v, make([]float64, len(x.Data)))
	}
	return o
}

// copy takes over the present numbers of tensors, or of all if none are named.
func (o *oracle) copy(only ...*op.Tensor) {
	if len(only) == 0 {
		for x := range o.tensors {
			only = append(only, x)
		}
	}
	for _, x := range only {
		for i, v := range x.Data {
			o.tensors[x][i] = float64(v)
		}
	}
}

func (o *oracle) run(t *testing.T) (loss float64) {
	t.Helper()
	o.vm.Reset()
	if err := o.vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	return o.loss.Value().Data().(float64)
}

// corner returns how close the last run came to the corner of a ReLU, as a share of its largest
// operand.
func (o *oracle) corner(t *testing.T) float64 {
	t.Helper()
	closest := 1.0
	for _, n := range o.g.Expr().AllNodes() {
		if k, ours := n.Op().(*op.Op); !ours || k.Kind != op.ReLU {
			continue
		}
		z, largest := optest.Numbers[float64](op.Children(n)[0]), 0.0
		for _, v := range z {
			largest = max(largest, math.Abs(v))
		}
		for _, v := range z {
			closest = min(closest, math.Abs(v)/largest)
		}
	}
	return closest
}

// step is Adam in the order of PyTorch.
func (o *oracle) step(rate float64) {
	o.steps++
	c := DefaultAdam
	c1, c2 := 1-math.Pow(c.Beta1, float64(o.steps)), 1-math.Pow(c.Beta2, float64(o.steps))
	for i, x := range o.wrt {
		w, m, v := o.tensors[x], o.m[i], o.v[i]
		for j, g := range optest.Numbers[float64](o.grads[i]) {
			m[j] = c.Beta1*m[j] + (1-c.Beta1)*g
			v[j] = c.Beta2*v[j] + (1-c.Beta2)*g*g
			w[j] -= rate / c1 * m[j] / (math.Sqrt(v[j])/math.Sqrt(c2) + c.Eps)
		}
	}
}

// critics is the twin critics' regression on fixed-width states of 17 numbers and
// 6 actions.
func critics(width, rows int) whole {
	net := nn.NewEnsembleMLP("q", 2, []int{23, width, width, 1}, nn.XavierUniform, nn.ReLU, seed)
	s, a, y := random("s", rows, 17), random("a", rows, 6), random("y", rows, 1)
	return whole{rate: 3e-4, data: []*op.Tensor{s, a, y}, Example: optest.Example{
		Name: fmt.Sprintf("twin critics of %d", width), Wrt: net.Params(), Build: func(g *op.Graph) (*op.Node, []*op.Node) {
			q := net.Apply(g, g.Concat(g.Bind(s), g.Bind(a)))
			return g.SquaredError(q, g.Bind(y), float64(rows)), []*op.Node{q}
		}}}
}

// actors is the policy's step with fixed twin critics.
func actors(width, rows int) whole {
	pi := nn.NewMLP("pi", []int{17, width, width, 12}, nn.XavierUniform, nn.ReLU, seed)
	q := nn.NewEnsembleMLP("q", 2, []int{23, width, width, 1}, nn.XavierUniform, nn.ReLU, seed)
	s, eps, alpha := random("s", rows, 17), random("eps", rows, 6), op.NewTensor("alpha", 1)
	alpha.Data[0] = 0.1
	return whole{rate: 3e-4, data: []*op.Tensor{s, eps}, Example: optest.Example{
		Name: fmt.Sprintf("actor of %d", width), Wrt: pi.Params(), Build: func(g *op.Graph) (*op.Node, []*op.Node) {
			obs := g.Bind(s)
			sample := g.TanhGaussian(pi.Apply(g, obs), g.Bind(eps))
			a, logp := g.Slice(sample, 0, 6), g.Slice(sample, 6, 7)
			least := g.MinMembers(q.Apply(g, g.Concat(obs, a)))
			return g.EntropyLoss(logp, least, g.Bind(alpha)), []*op.Node{sample, least}
		}}}
}

// denoising is one step of score matching for the residual denoiser with its time embedding and
// condition.
func denoising(width, rows, blocks int) whole {
	const d = 41
	layer := func(name string, in, out int) nn.Linear {
		return nn.NewLinear(name, in, out, nn.TorchDefault, seed)
	}
	in, time, condition, out := layer("in", d, width), layer("time", 17, width), layer("condition", 1, width), layer("out", width, d)
	var net []nn.Linear
	for i := range blocks {
		net = append(net, layer(fmt.Sprintf("block%d", i), width, width))
	}
	x, n, z, c := random("x", rows, d), random("n", rows, d), random("z", rows, 1), random("c", rows, 1)
	freq, keep, spread := random("freq", 8), op.NewTensor("keep", rows, 1), op.NewTensor("spread", d)
	for j := range spread.Data {
		spread.Data[j] = 1
	}
	for i := range keep.Data {
		keep.Data[i] = float32(i % 2)
	}
	var wrt []*op.Tensor
	for _, l := range append([]nn.Linear{in, time, condition, out}, net...) {
		wrt = append(wrt, l.Params()...)
	}
	return whole{rate: 3e-4, data: []*op.Tensor{x, n, z, c}, Example: optest.Example{
		Name: fmt.Sprintf("denoiser of %d", width), Wrt: wrt, Build: func(g *op.Graph) (*op.Node, []*op.Node) {
			noised := g.EDMNoised(g.Bind(x), g.Bind(n), g.Bind(z), g.Bind(spread), -1.2, 1.2)
			t := g.Mish(time.Apply(g, g.Fourier(g.Slice(noised, 2*d, 2*d+1), g.Bind(freq))))
			prompt := g.RowScale(g.Mish(condition.Apply(g, g.Bind(c))), g.Bind(keep))
			h := g.Add(g.Add(in.Apply(g, g.Slice(noised, 0, d)), t), prompt)
			for _, l := range net {
				h = g.Add(h, l.Apply(g, g.Mish(h)))
			}
			f := out.Apply(g, g.Mish(h))
			return g.SquaredError(f, g.Slice(noised, d, 2*d), float64(rows*d)), []*op.Node{f}
		}}}
}

// inverse is the intrinsic curiosity model: an encoder, a forward model, and an inverse model of
// residual blocks with batch normalisation, in which one pair of layers serves two places.
func inverse(width, rows int) whole {
	encoder := nn.NewMLP("h", []int{17, width, width}, nn.TorchDefault, nn.SiLU, seed)
	forward := nn.NewMLP("g", []int{width + 6, width, width}, nn.TorchDefault, nn.SiLU, seed)
	first := nn.NewLinear("first", 2*width, width, nn.TorchDefault, seed)
	shared := nn.NewLinear("shared", width, width, nn.TorchDefault, seed)
	last := nn.NewLinear("last", width, 6, nn.TorchDefault, seed)
	wrt := append(append(encoder.Params(), forward.Params()...), first.Params()...)
	wrt = append(append(wrt, shared.Params()...), last.Params()...)
	gamma, beta := op.NewTensor("gamma", width), op.NewTensor("beta", width)
	for i := range gamma.Data {
		gamma.Data[i] = 1
	}
	wrt = append(wrt, gamma, beta)
	s, a, next := random("s", rows, 17), random("a", rows, 6), random("next", rows, 17)
	return whole{rate: 1e-3, data: []*op.Tensor{s, a, next}, still: map[string]string{"shared.b": "shared.w"}, Example: optest.Example{
		Name: fmt.Sprintf("curiosity of %d", width), Wrt: wrt, Build: func(g *op.Graph) (*op.Node, []*op.Node) {
			h, h2, act := encoder.Apply(g, g.Bind(s)), encoder.Apply(g, g.Bind(next)), g.Bind(a)
			predicted := forward.Apply(g, g.Concat(h, act))
			z := first.Apply(g, g.Concat(h, h2))
			for range 2 {
				y := shared.Apply(g, z)
				y = g.BatchNorm(y, g.Bind(gamma), g.Bind(beta), g.BatchStats(y))
				z = g.Add(z, g.SiLU(y))
			}
			action := last.Apply(g, z)
			loss := g.AddScalars(g.SquaredError(predicted, g.StopGradient(h2), float64(rows*width)), g.SquaredError(action, act, float64(rows*6)))
			return loss, []*op.Node{predicted, action}
		}}}
}

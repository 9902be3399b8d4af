package plan

import (
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/rng"
	"pgrlab/core/testing/optest"
	"pgrlab/core/window"
)

var seed = rng.New(1, "plan test")

func random(name string, shape ...int) *op.Tensor {
	t := op.NewTensor(name, shape...)
	seed.Sub(name).FillNormal(t.Data, 0, 0)
	return t
}

// examples are the kinds of programs that the methods use, at small widths with awkward sizes.
func examples() []optest.Example {
	return []optest.Example{critic(), twin(), actor(), target(), curiosity(), denoiser(), misfits(), large(), pixels()}
}

func critic() optest.Example {
	net := nn.NewMLP("q", []int{7, 33, 17, 1}, nn.XavierUniform, nn.ReLU, seed)
	x, y := random("x", 29, 7), random("y", 29, 1)
	return optest.Example{Name: "critic", Wrt: net.Params(), Build: func(g *op.Graph) (*op.Node, []*op.Node) {
		q := net.Apply(g, g.Bind(x))
		return g.SquaredError(q, g.Bind(y), 29), []*op.Node{q}
	}}
}

func twin() optest.Example {
	net := nn.NewEnsembleMLP("q", 3, []int{7, 18, 16, 1}, nn.TorchDefault, nn.ReLU, seed)
	x, y := random("x", 30, 7), random("y", 30, 1)
	return optest.Example{Name: "three critics", Wrt: net.Params(), Build: func(g *op.Graph) (*op.Node, []*op.Node) {
		q := net.Apply(g, g.Bind(x))
		return g.SquaredError(q, g.Bind(y), 30), []*op.Node{q}
	}}
}

func actor() optest.Example {
	pi := nn.NewMLP("pi", []int{5, 19, 19, 6}, nn.XavierUniform, nn.ReLU, seed)
	q := nn.NewEnsembleMLP("q", 2, []int{8, 17, 1}, nn.XavierUniform, nn.ReLU, seed)
	s, eps, alpha := random("s", 21, 5), random("eps", 21, 3), random("alpha", 1)
	return optest.Example{Name: "actor", Wrt: pi.Params(), Build: func(g *op.Graph) (*op.Node, []*op.Node) {
		obs := g.Bind(s)
		sample := g.TanhGaussian(pi.Apply(g, obs), g.Bind(eps))
		a, logp := g.Slice(sample, 0, 3), g.Slice(sample, 3, 4)
		value := g.MeanMembers(q.Apply(g, g.Concat(obs, a)))
		return g.EntropyLoss(logp, value, g.Bind(alpha)), []*op.Node{sample, value}
	}}
}

func target() optest.Example {
	pi := nn.NewMLP("pi", []int{5, 16, 4}, nn.XavierUniform, nn.ReLU, seed)
	q := nn.NewEnsembleMLP("q", 4, []int{7, 16, 1}, nn.XavierUniform, nn.ReLU, seed)
	s, eps := random("s", 9, 5), random("eps", 9, 2)
	r, d, gamma, alpha := random("r", 9, 1), op.NewTensor("d", 9, 1), random("gamma", 1), random("alpha", 1)
	members := op.NewTensor("members", 2)
	members.Data[0], members.Data[1], d.Data[3] = 3, 1, 1
	return optest.Example{Name: "target", Build: func(g *op.Graph) (*op.Node, []*op.Node) {
		obs := g.Bind(s)
		sample := g.TanhGaussian(pi.Apply(g, obs), g.Bind(eps))
		a, logp := g.Slice(sample, 0, 2), g.Slice(sample, 2, 3)
		least := g.MinMembers(q.ApplyAt(g, g.Concat(obs, a), g.Bind(members)))
		return nil, []*op.Node{g.TDTarget(g.Bind(r), g.Bind(d), least, logp, g.Bind(gamma), g.Bind(alpha)), least}
	}}
}

func curiosity() optest.Example {
	net := nn.NewMLP("h", []int{6, 10, 12}, nn.TorchDefault, nn.SiLU, seed)
	head := nn.NewLinear("head", 12, 4, nn.TorchDefault, seed)
	gamma, beta := random("gamma", 12), random("beta", 12)
	s, next, y := random("s", 23, 6), random("next", 23, 6), random("y", 23, 4)
	wrt := append(append(net.Params(), head.Params()...), gamma, beta)
	// A bias below batch normalisation receives a sum that cancels: its gradient is small compared
	// with the terms that are rounded.
	return optest.Example{Name: "curiosity", Tolerance: 3e-5, Wrt: wrt, Build: func(g *op.Graph) (*op.Node, []*op.Node) {
		z, z2 := net.Apply(g, g.Bind(s)), net.Apply(g, g.Bind(next))
		stats := g.BatchStats(z)
		normal := g.BatchNorm(z, g.Bind(gamma), g.Bind(beta), stats)
		forward := g.SquaredError(normal, g.StopGradient(z2), 23)
		inverse := g.SquaredError(head.Apply(g, g.SiLU(g.Add(normal, z2))), g.Bind(y), 23*4)
		return g.AddScalars(forward, inverse), []*op.Node{stats, normal, g.RowMeanSquare(z, z2)}
	}}
}

func denoiser() optest.Example {
	in := nn.NewLinear("in", 7, 24, nn.TorchDefault, seed)
	time := nn.NewLinear("time", 9, 24, nn.TorchDefault, seed)
	block := nn.NewLinear("block", 24, 24, nn.TorchDefault, seed)
	out := nn.NewLinear("out", 24, 7, nn.TorchDefault, seed)
	x, n, z, w, keep := random("x", 31, 7), random("n", 31, 7), random("z", 31, 1), random("w", 4), random("keep", 31, 1)
	spread := op.NewTensor("spread", 7)
	for j := range spread.Data {
		spread.Data[j] = 0.1 + 0.3*float32(j/2)
	}
	var wrt []*op.Tensor
	for _, l := range []nn.Linear{in, time, block, out} {
		wrt = append(wrt, l.Params()...)
	}
	return optest.Example{Name: "denoiser", Wrt: wrt, Build: func(g *op.Graph) (*op.Node, []*op.Node) {
		noised := g.EDMNoised(g.Bind(x), g.Bind(n), g.Bind(z), g.Bind(spread), -1.2, 1.2)
		embedding := g.RowScale(g.Mish(time.Apply(g, g.Fourier(g.Slice(noised, 14, 15), g.Bind(w)))), g.Bind(keep))
		h := g.Add(in.Apply(g, g.Slice(noised, 0, 7)), embedding)
		h = g.Add(h, block.Apply(g, g.Mish(h)))
		f := out.Apply(g, g.Mish(h))
		return g.SquaredError(f, g.Slice(noised, 7, 14), 31*7), []*op.Node{f}
	}}
}

// misfits holds what the other examples leave out, with a single row, of which one lane gets none.
func misfits() optest.Example {
	a, b, w := random("a", 1, 5), random("b", 1, 5), random("w", 1, 1)
	net := nn.NewLinear("net", 10, 3, nn.TorchDefault, seed)
	wrt := append(net.Params(), a, b)
	y := random("y", 1, 3)
	return optest.Example{Name: "misfits", Wrt: wrt, Build: func(g *op.Graph) (*op.Node, []*op.Node) {
		x, z := g.Bind(a), g.Bind(b)
		all := g.Concat(g.Mul(g.ELU(x), g.Tanh(z)), g.Scale(g.Sub(x, z), 0.3))
		p := net.Apply(g, all)
		return g.AddScalars(g.WeightedSquaredError(p, g.Bind(y), g.Bind(w), 2), g.SquaredError(all, g.Input("zero", 1, 10), 4)), []*op.Node{p}
	}}
}

// large has layers whose weights are divided between lanes, beside one whose weights are not.
func large() optest.Example {
	first, second, last := nn.NewLinear("1", 370, 390, nn.TorchDefault, seed), nn.NewLinear("2", 390, 390, nn.TorchDefault, seed), nn.NewLinear("3", 390, 5, nn.TorchDefault, seed)
	x, y := random("x", 11, 370), random("y", 11, 5)
	return optest.Example{Name: "large", Wrt: append(append(first.Params(), second.Params()...), last.Params()...), Build: func(g *op.Graph) (*op.Node, []*op.Node) {
		h := g.ReLU(first.Apply(g, g.Bind(x)))
		h = g.Add(h, second.Apply(g, g.Mish(h)))
		out := last.Apply(g, g.ReLU(h))
		return g.SquaredError(out, g.Bind(y), 55), []*op.Node{out, h}
	}}
}

// wide is large enough to be given to both workers.
func wide() optest.Example {
	net := nn.NewMLP("q", []int{40, 96, 1}, nn.XavierUniform, nn.ReLU, seed)
	x, y := random("x", 64, 40), random("y", 64, 1)
	return optest.Example{Name: "wide", Wrt: net.Params(), Build: func(g *op.Graph) (*op.Node, []*op.Node) {
		q := net.Apply(g, g.Bind(x))
		return g.SquaredError(q, g.Bind(y), 64), []*op.Node{q}
	}}
}

// pixels is an encoder with padding and pooling, followed by a head.
func pixels() optest.Example {
	first := nn.NewConv("c1", window.Geometry{Height: 13, Width: 12, Channels: 3, Kernel: 3, Stride: 2}, 16, nn.Orthogonal(1.4), seed)
	second := nn.NewConv("c2", first.Next(3, 1, 1), 33, nn.Orthogonal(1.4), seed)
	pool := second.Next(2, 2, 0)
	third := window.Geometry{Height: 3, Width: 2, Channels: 33, Kernel: 1, Stride: 1}
	last := nn.NewConv("c3", third, 8, nn.Orthogonal(1), seed)
	head, norm := nn.NewLinear("head", 48, 5, nn.Orthogonal(1), seed), nn.NewLayerNorm("norm", 1e-5, 5)
	x, y := random("x", 11, first.Over.Size()), random("y", 11, 5)
	var wrt []*op.Tensor
	for _, l := range [][]*op.Tensor{first.Params(), second.Params(), last.Params(), head.Params(), norm.Params()} {
		wrt = append(wrt, l...)
	}
	return optest.Example{Name: "pixels", Wrt: wrt, Tolerance: 3e-5, Build: func(g *op.Graph) (*op.Node, []*op.Node) {
		h := g.ReLU(first.Apply(g, g.Bind(x)))
		h = g.MaxPool(g.ReLU(second.Apply(g, h)), pool)
		h = g.ReLU(last.Apply(g, h))
		z := g.Tanh(norm.Apply(g, head.Apply(g, h)))
		return g.SquaredError(z, g.Bind(y), 11), []*op.Node{z}
	}}
}

package main

// hyper is the parameters of an Adam step as the assembly takes them: r1 and r2 are 1−β, inverse is
// 1/√(1−β2ᵗ), keep is 1 − decay.
const hyper = "b1, r1, b2, r2, step, inverse, eps, keep, scale float32"

// optimiser emits Adam with one gradient and with two.
func (g *gen) optimiser() {
	g.begin("Adam1", "func(n int, w, m, v, g0 *float32, "+hyper+")")
	g.adam("g0")
	g.begin("Adam2", "func(n int, w, m, v, g0, g1 *float32, "+hyper+")")
	g.adam("g0", "g1")
}

func (g *gen) adam(gradients ...string) {
	h := map[string]vec{}
	for _, name := range []string{"b1", "r1", "b2", "r2", "step", "inverse", "eps"} {
		h[name] = g.spread(g.address(name))
	}
	in := append([]string{"w", "m", "v"}, gradients...)
	g.loop(1, in, []string{"w", "m", "v"}, func(in []vec) []vec {
		w, m, v, d := in[0], in[1], in[2], in[3]
		if len(in) == 5 {
			d = g.add(d, in[4])
		}
		d = g.mul(d, g.spread(g.address("scale")))
		m = g.normal(g.fma(g.mul(m, h["b1"]), d, h["r1"]))
		v = g.normal(g.fma(g.mul(v, h["b2"]), g.mul(d, d), h["r2"]))
		root := g.sqrt(v)
		g.VFMADD213PS(h["eps"], h["inverse"], root)
		w = g.mul(w, g.spread(g.address("keep")))
		return []vec{g.fnma(w, g.div(m, root), h["step"]), m, v}
	})
	g.end()
}

// normal is a, with 0 in place of numbers smaller than the least normal number.
func (g *gen) normal(a vec) vec {
	size := g.and(a, g.bits(0x7fffffff))
	return g.choose(g.less(size, g.c(0x1p-126)), g.zero(), a)
}

package main

// hyper is the parameters of a step as the assembly takes them: r1 and r2 are 1−β, inverse is
// 1/√(1−β2ᵗ), keep is 1 − decay.
const hyper = "b1, r1, b2, r2, step, inverse, eps, keep, scale float32"

// optimiser emits the steps of each rule, with one gradient and with two.
func (g *gen) optimiser() {
	for _, of := range []struct {
		name string
		rule rule
	}{{"Adam", g.adam}, {"LaProp", g.laprop}} {
		g.begin(of.name+"1", "func(n int, w, m, v, g0 *float32, "+hyper+")")
		g.step(of.rule, "g0")
		g.begin(of.name+"2", "func(n int, w, m, v, g0, g1 *float32, "+hyper+")")
		g.step(of.rule, "g0", "g1")
	}
}

// rule returns the moments after a step along gradient d, and by what w falls in units of the step.
type rule func(h map[string]vec, m, v, d vec) (down, m1, v1 vec)

func (g *gen) adam(h map[string]vec, m, v, d vec) (down, m1, v1 vec) {
	m = g.normal(g.fma(g.mul(m, h["b1"]), d, h["r1"]))
	v = g.normal(g.fma(g.mul(v, h["b2"]), g.mul(d, d), h["r2"]))
	return g.div(m, g.root(h, v)), m, v
}

// laprop keeps a v below the normal numbers: in its place 0 would let d/eps be a large step.
func (g *gen) laprop(h map[string]vec, m, v, d vec) (down, m1, v1 vec) {
	v = g.fma(g.mul(v, h["b2"]), g.mul(d, d), h["r2"])
	m = g.normal(g.fma(g.mul(m, h["b1"]), g.div(d, g.root(h, v)), h["r1"]))
	return m, m, v
}

// root is √v·inverse + eps.
func (g *gen) root(h map[string]vec, v vec) vec {
	root := g.sqrt(v)
	g.VFMADD213PS(h["eps"], h["inverse"], root)
	return root
}

func (g *gen) step(of rule, gradients ...string) {
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
		down, m, v := of(h, m, v, d)
		w = g.mul(w, g.spread(g.address("keep")))
		return []vec{g.fnma(w, down, h["step"]), m, v}
	})
	g.end()
}

// normal is a, with 0 in place of numbers smaller than the least normal number.
func (g *gen) normal(a vec) vec {
	size := g.and(a, g.bits(0x7fffffff))
	return g.choose(g.less(size, g.c(0x1p-126)), g.zero(), a)
}

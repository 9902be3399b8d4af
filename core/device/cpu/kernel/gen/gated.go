package main

// gatedUpdate emits the end of a recurrent step, h + u(t−h) with t = tanh(σ(r)·c) and u = σ(u−1), and its
// gradients. Each function has the roundings of the functions that it is made of.
func (g *gen) gatedUpdate() {
	g.begin("GatedUpdate", "func(n int, dst, r, c, u, h *float32)")
	g.loop(1, []string{"r", "c", "u", "h"}, []string{"dst"}, func(in []vec) []vec {
		h := in[3]
		_, t := g.candidate(in[0], in[1])
		return []vec{g.add(h, g.mul(g.update(in[2]), g.sub(t, h)))}
	})
	g.end()
	g.begin("GatedGrad", "func(n int, dr, dc, du, r, c, u, h, d *float32)")
	g.loop(1, []string{"r", "c", "u", "h", "d"}, []string{"dr", "dc", "du"}, func(in []vec) []vec {
		c, d := in[1], in[4]
		r, t := g.candidate(in[0], c)
		u := g.update(in[2])
		du := g.mul(g.mul(d, g.sub(t, in[3])), g.slope(u))
		dt := g.mul(g.mul(d, u), g.fnma(g.load(g.c(1)), t, t))
		return []vec{g.mul(g.mul(dt, c), g.slope(r)), g.mul(dt, r), du}
	})
	g.end()
	g.begin("GatedKeep", "func(n int, dst, u, d *float32)")
	g.loop(1, []string{"u", "d"}, []string{"dst"}, func(in []vec) []vec {
		return []vec{g.fnma(g.copy(in[1]), in[1], g.update(in[0]))}
	})
	g.end()
}

// candidate is σ(r) and tanh(σ(r)·c).
func (g *gen) candidate(r, c vec) (reset, t vec) {
	reset = g.sigmoid(r)
	return reset, g.tanh(g.mul(reset, c))
}

func (g *gen) update(u vec) vec { return g.sigmoid(g.add(u, g.c(-1))) }

// slope is y(1−y), that of a sigmoid y.
func (g *gen) slope(y vec) vec { return g.fnma(g.copy(y), y, y) }

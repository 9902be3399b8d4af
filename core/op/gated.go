package op

import (
	"errors"
	"math"

	"gorgonia.org/tensor"
)

// GatedUpdate is the end of a step of a gated recurrent unit: u⊙tanh(σ(r)⊙c) + (1−u)⊙h with u = σ(y_u − 1),
// for y = [r | c | y_u], [B,3C] or [N,B,3C], and the state h before, [B,C] or [N,B,C] (Hafner et al. 2025,
// Nature; danijar/dreamerv3 dreamerv3/rssm.py _core; the gates are those of Cho et al. 2014).
func (g *Graph) GatedUpdate(y, h *Node) *Node { return g.apply(GatedUpdate, Attr{}, y, h) }

func init() {
	rules[GatedUpdate] = rule{name: "GatedUpdate", wrt: []bool{true, true},
		shape: func(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
			y, h := in[0], in[1]
			if matrix(h) != nil || !y.Eq(withColumns(h, 3*h[len(h)-1])) {
				return nil, errors.New("want y with three times the columns of h")
			}
			return h.Clone(), nil
		}, do32: gatedUpdate[float32], do64: gatedUpdate[float64],
		grad: func(d derivation) []*Node {
			return []*Node{d.apply(GatedUpdateGrad, Attr{}, d.in[0], d.in[1], d.dout), d.apply(GatedUpdateKeep, Attr{}, d.in[0], d.dout)}
		}}
	rules[GatedUpdateGrad] = rule{name: "GatedUpdateGrad", shape: first, do32: gatedUpdateGrad[float32], do64: gatedUpdateGrad[float64]}
	rules[GatedUpdateKeep] = rule{name: "GatedUpdateKeep",
		shape: func(_ Attr, in []tensor.Shape) (tensor.Shape, error) { return in[1].Clone(), nil },
		do32:  gatedUpdateKeep[float32], do64: gatedUpdateKeep[float64]}
}

// gates visits the elements of h: at is the place of r in y, whose c and u are cols and 2·cols further.
func gates[T float](c call[T], h tensor.Shape, visit func(i, at, cols int, reset, candidate, update float64)) {
	_, _, cols := dims(h)
	y := c.in[0]
	for i := range h.TotalSize() {
		at := i/cols*3*cols + i%cols
		reset := sigmoid(float64(y[at]))
		visit(i, at, cols, reset, math.Tanh(reset*float64(y[at+cols])), sigmoid(float64(y[at+2*cols])-1))
	}
}

func gatedUpdate[T float](c call[T]) {
	gates(c, c.shape, func(i, _, _ int, _, candidate, update float64) {
		h := float64(c.in[1][i])
		c.out[i] = T(h + update*(candidate-h))
	})
}

func gatedUpdateGrad[T float](c call[T]) {
	gates(c, c.ins[1], func(i, at, cols int, reset, candidate, update float64) {
		d := float64(c.in[2][i])
		of := d * update * (1 - candidate*candidate)
		c.out[at] = T(of * float64(c.in[0][at+cols]) * reset * (1 - reset))
		c.out[at+cols] = T(of * reset)
		c.out[at+2*cols] = T(d * (candidate - float64(c.in[1][i])) * update * (1 - update))
	})
}

func gatedUpdateKeep[T float](c call[T]) {
	gates(c, c.shape, func(i, _, _ int, _, _, update float64) {
		c.out[i] = T(float64(c.in[1][i]) * (1 - update))
	})
}

package op

import (
	"errors"
	"math"

	"gorgonia.org/tensor"
)

// Fourier is the time embedding [t | sin 2πtw | cos 2πtw] of t [B,1] with fixed frequencies w [F];
// the result is [B,1+2F]. t may have members, [N,B,1]. Fourier has no derivative.
func (g *Graph) Fourier(t, w *Node) *Node { return g.apply(Fourier, Attr{}, t, w) }

// EDMNoised builds the training example of EDM (Karras et al. 2022, table 1, §5) from data x [B,D]
// and standard normal noise n [B,D] and z [B,1]; all three may have members. With σ = exp(pMean +
// pStd·z) and σ_d = spread[j] for coordinate j, spread [D], the result [B,2D+1] is
//
//	[ c_in(x+σn) | (x − c_skip(x+σn))/c_out | ln σ/4 ]
//
// that is, the network's input, its target and its noise level. EDM has one σ_d for all
// coordinates. Since λ(σ) = 1/c_out², the loss λ|D−x|² is the plain squared error between network
// and target.
func (g *Graph) EDMNoised(x, n, z, spread *Node, pMean, pStd float64) *Node {
	return g.apply(EDMNoised, Attr{F: [3]float64{pMean, pStd}}, x, n, z, spread)
}

func init() {
	rules[Fourier] = rule{name: "Fourier", wrt: []bool{false, false},
		shape: func(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
			t, w := in[0], in[1]
			if rowsOf("t", t, t) != nil || len(w) != 1 {
				return nil, errors.New("want t [B,1] or [N,B,1] and w [F]")
			}
			return withColumns(t, 1+2*w[0]), nil
		}, do32: fourier[float32], do64: fourier[float64]}
	rules[EDMNoised] = rule{name: "EDMNoised", wrt: []bool{false, false, false, false},
		shape: func(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
			x, n, z := in[0], in[1], in[2]
			if matrix(x) != nil || !n.Eq(x) || !z.Eq(withColumns(x, 1)) {
				return nil, errors.New("want x and n [B,D] and z [B,1], or each with members")
			}
			if spread := in[3]; len(spread) != 1 || spread[0] != x[len(x)-1] {
				return nil, errors.New("want spread [D]")
			}
			return withColumns(x, 2*x[len(x)-1]+1), nil
		}, do32: edmNoised[float32], do64: edmNoised[float64]}
}

func fourier[T float](c call[T]) {
	w := c.in[1]
	width := 1 + 2*len(w)
	for i, t := range c.in[0] {
		out := c.out[i*width:]
		out[0] = t
		for k, f := range w {
			sin, cos := math.Sincos(2 * math.Pi * float64(t) * float64(f))
			out[1+k], out[1+len(w)+k] = T(sin), T(cos)
		}
	}
}

func edmNoised[T float](c call[T]) {
	pMean, pStd := c.a.F[0], c.a.F[1]
	members, rows, d := dims(c.ins[0])
	for i := range members * rows {
		x, n, out := c.in[0][i*d:], c.in[1][i*d:], c.out[i*(2*d+1):]
		logSigma := pMean + pStd*float64(c.in[2][i])
		sigma := math.Exp(logSigma)
		for j := range d {
			spread := float64(c.in[3][j])
			total := sigma*sigma + spread*spread
			in, skip, scale := 1/math.Sqrt(total), spread*spread/total, sigma*spread/math.Sqrt(total)
			noisy := float64(x[j]) + sigma*float64(n[j])
			out[j] = T(in * noisy)
			out[d+j] = T((float64(x[j]) - skip*noisy) / scale)
		}
		out[2*d] = T(logSigma / 4)
	}
}

// Package align keeps generated latents up to date. A generator produces latents of the network
// that encoded its training data. That network keeps learning, so that the readers of its latents
// come to expect different ones. An affine map, fitted on rows that were encoded both ways, takes
// the old latents to those of the present network.
package align

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"pgrlab/core/op"
)

// Map is z·W + B.
type Map struct {
	W, B *op.Tensor // [D,D], [D]
}

// New returns the identity on latents of that size.
func New(name string, size int) *Map {
	m := &Map{W: op.NewTensor(name+".w", size, size), B: op.NewTensor(name+".b", size)}
	m.Reset()
	return m
}

// Size is how many numbers a latent has.
func (m *Map) Size() int { return len(m.B.Data) }

// Params returns the map's tensors, in the order of a file.
func (m *Map) Params() []*op.Tensor { return []*op.Tensor{m.W, m.B} }

// Reset makes m the identity.
func (m *Map) Reset() {
	clear(m.W.Data)
	clear(m.B.Data)
	for i := range m.B.Data {
		m.W.Data[i*m.Size()+i] = 1
	}
}

// LeastRows is how many rows a fit needs: as many as one number of the output has weights.
func (m *Map) LeastRows() int { return m.Size() + 1 }

// Fit makes m the least-squares map from then to now, rows [n,D] each. Because latents vary along
// a few directions only, the difference from the identity is shrunk in every direction, as if a
// thousandth more rows had shown no difference.
func (m *Map) Fit(then, now []float32) error {
	d := m.Size()
	n := len(then) / d
	x, moved := mat.NewDense(n, d+1, nil), mat.NewDense(n, d, nil)
	for i := range n {
		x.Set(i, d, 1)
		for j := range d {
			x.Set(i, j, float64(then[i*d+j]))
			moved.Set(i, j, float64(now[i*d+j])-float64(then[i*d+j]))
		}
	}
	squares := mat.NewSymDense(d+1, nil)
	squares.SymOuterK(1, x.T())
	for i := range d + 1 {
		squares.SetSym(i, i, squares.At(i, i)+float64(n)/1000)
	}
	var products, solved mat.Dense
	products.Mul(x.T(), moved)
	var c mat.Cholesky
	if !c.Factorize(squares) {
		return fmt.Errorf("align: no map of %d rows of latents", n)
	}
	if err := c.SolveTo(&solved, &products); err != nil {
		return fmt.Errorf("align: %w", err)
	}
	m.Reset()
	for j := range d {
		for i := range d {
			m.W.Data[i*d+j] += float32(solved.At(i, j))
		}
		m.B.Data[j] = float32(solved.At(d, j))
	}
	return nil
}

// Apply returns the map of rows [n,D].
func (m *Map) Apply(z []float32) []float32 {
	d := m.Size()
	out := make([]float32, len(z))
	for first := 0; first < len(z); first += d {
		row := out[first : first+d]
		copy(row, m.B.Data)
		for i, v := range z[first : first+d] {
			for j, w := range m.W.Data[i*d : (i+1)*d] {
				row[j] += float32(v * w)
			}
		}
	}
	return out
}

// Of returns the map of z [B,D] as a node of g.
func (m *Map) Of(g *op.Graph, z *op.Node) *op.Node { return g.Linear(z, g.Bind(m.W), g.Bind(m.B)) }

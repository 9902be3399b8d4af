// Package align keeps generated latents up to date. A generator produces latents of the network
// that encoded its training data. That network keeps learning, so that the readers of its latents
// come to expect different ones. An affine map, fitted on rows that were encoded both ways, takes
// the old latents to those of the present network.
package align

import (
	"fmt"

	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"pgrlab/core/op"
)

// Map is z·W + B.
type Map struct {
	W, B *op.Tensor // [D,D], [D]
	fit  fitting
}

// fitting is the memory of a fit, kept for the next one.
type fitting struct {
	x, moved *mat.Dense    // [n,D+1], rows and a 1; [n,D], by how much they have moved
	turned   mat.Matrix    // xᵀ
	squares  *mat.SymDense // [D+1,D+1], xᵀ·x and the shrinkage, then their factors
	solved   mat.Dense     // [D+1,D], xᵀ·moved, then the map less the identity
	work     []float64     // [3(D+1)], of the condition number, like places
	places   []int         // [D+1]
}

// of makes room for n rows of d numbers.
func (f *fitting) of(n, d int) {
	if f.squares == nil {
		f.squares, f.work, f.places = mat.NewSymDense(d+1, nil), make([]float64, 3*(d+1)), make([]int, d+1)
	}
	if f.x == nil || f.x.RawMatrix().Rows != n {
		f.x, f.moved = mat.NewDense(n, d+1, nil), mat.NewDense(n, d, nil)
		f.turned = f.x.T()
	}
}

// solve divides solved by squares, in place and as mat.Cholesky does, which allocates.
func (f *fitting) solve() error {
	squares := f.squares.RawSymmetric()
	norm := lapack64.Lansy(mat.CondNorm, squares, f.work)
	factors, definite := lapack64.Potrf(squares)
	if !definite {
		return fmt.Errorf("align: no map of %d rows of latents", f.x.RawMatrix().Rows)
	}
	if condition := 1 / lapack64.Pocon(squares, norm, f.work, f.places); condition > mat.ConditionTolerance {
		return fmt.Errorf("align: %w", mat.Condition(condition))
	}
	lapack64.Potrs(factors, f.solved.RawMatrix())
	return nil
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
// thousandth more rows had shown no difference. An error says that there is no such map; m is then
// unchanged. A fit to as many rows as the last one allocates nothing if latents have at most 64
// numbers; for longer ones gonum divides its products among goroutines.
func (m *Map) Fit(then, now []float32) error {
	d := m.Size()
	n := len(then) / d
	f := &m.fit
	f.of(n, d)
	for i := range n {
		f.x.Set(i, d, 1)
		for j := range d {
			f.x.Set(i, j, float64(then[i*d+j]))
			f.moved.Set(i, j, float64(now[i*d+j])-float64(then[i*d+j]))
		}
	}
	f.squares.SymOuterK(1, f.turned)
	for i := range d + 1 {
		f.squares.SetSym(i, i, f.squares.At(i, i)+float64(n)/1000)
	}
	f.solved.Mul(f.turned, f.moved)
	if err := f.solve(); err != nil {
		return err
	}
	m.Reset()
	for j := range d {
		for i := range d {
			m.W.Data[i*d+j] += float32(f.solved.At(i, j))
		}
		m.B.Data[j] = float32(f.solved.At(d, j))
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

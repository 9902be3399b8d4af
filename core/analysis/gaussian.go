package analysis

import (
	"errors"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Gaussian is the normal distribution that fits rows best: the least that a generator
// has to beat.
type Gaussian struct {
	mean   []float64
	factor mat.TriDense
}

// FitGaussian takes mean and covariance of the first width columns.
func FitGaussian(rows [][]float32, width int) (*Gaussian, error) {
	x := mat.NewDense(len(rows), width, nil)
	for i, row := range rows {
		for k, v := range row[:width] {
			x.Set(i, k, float64(v))
		}
	}
	g := &Gaussian{mean: make([]float64, width)}
	var covariance mat.SymDense
	stat.CovarianceMatrix(&covariance, x, nil)
	for k := range width {
		g.mean[k] = stat.Mean(mat.Col(nil, k, x), nil)
		covariance.SetSym(k, k, covariance.At(k, k)*(1+1e-9)+1e-12) // columns may depend on each other
	}
	var c mat.Cholesky
	if !c.Factorize(&covariance) {
		return nil, errors.New("fit a Gaussian: the covariance of the rows is singular")
	}
	c.LTo(&g.factor)
	return g, nil
}

// Draw makes a row of width numbers N(0,1).
func (g *Gaussian) Draw(normal []float32) []float32 {
	out := make([]float32, len(normal))
	for i := range out {
		v := g.mean[i]
		for k := range i + 1 {
			v += g.factor.At(i, k) * float64(normal[k])
		}
		out[i] = float32(v)
	}
	return out
}

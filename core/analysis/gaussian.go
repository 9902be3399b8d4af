package analysis

import (
	"errors"

	"gonum.org/v1/gonum/mat"
)

// Gaussian is the normal distribution that fits rows best: the baseline that a generator
// has to beat.
type Gaussian struct {
	mean   []float64
	factor [][]float64 // rows of L, the lower triangle with covariance LLᵀ
}

// FitGaussian fits the mean and covariance of the first width columns. breathe is called
// after every piece of the work; its error ends the work.
func FitGaussian(rows [][]float32, width int, breathe func() error) (*Gaussian, error) {
	g := &Gaussian{mean: Spread(len(rows), width, func(i int) []float32 { return rows[i] }).Mean}
	if err := breathe(); err != nil {
		return nil, err
	}
	covariance, err := covarianceOf(len(rows), width, func(z []float64, i int) {
		for k, v := range rows[i][:width] {
			z[k] = float64(v) - g.mean[k]
		}
	}, breathe)
	if err != nil {
		return nil, err
	}
	for k := range width {
		covariance.SetSym(k, k, covariance.At(k, k)*(1+1e-9)+1e-12) // columns may depend on each other
	}
	var c mat.Cholesky
	if !c.Factorize(covariance) {
		return nil, ErrSingular
	}
	var l mat.TriDense
	c.LTo(&l)
	for i := range width {
		row := make([]float64, i+1)
		for k := range row {
			row[k] = l.At(i, k)
		}
		g.factor = append(g.factor, row)
	}
	return g, breathe()
}

// ErrSingular is the error of FitGaussian if the covariance cannot be factorised in spite of
// the small ridge on its diagonal.
var ErrSingular = errors.New("fit a Gaussian: the covariance of the rows is singular")

// Sample turns width numbers from N(0,1) into a row.
func (g *Gaussian) Sample(normal []float32) []float32 {
	out := make([]float32, len(normal))
	for i, row := range g.factor {
		v := g.mean[i]
		for k, l := range row {
			v += l * float64(normal[k])
		}
		out[i] = float32(v)
	}
	return out
}

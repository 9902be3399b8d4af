package analysis

import (
	"errors"
	"fmt"
	"math"

	"github.com/danaugrs/go-tsne/tsne"
	"gonum.org/v1/gonum/mat"
)

// MaxEmbedded is the largest number n of rows that Embed takes: it holds n × n matrices,
// and its time grows with their size.
const MaxEmbedded = 2000

// The parameters of t-SNE. Perplexity, momentum and early exaggeration are as in van der
// Maaten and Hinton 2008; the learning rate is a share of the number of rows, as in
// Belkina et al. 2019.
const (
	perplexity     = 30
	embeddingSteps = 500
	exaggerated    = 125 // steps with exaggeration
	exaggeration   = 12
	minPerplexity  = 3 * perplexity // least number of rows for this perplexity
)

// Embed maps the first width columns of rows into a plane in which neighbours stay
// neighbours (t-SNE, van der Maaten and Hinton 2008). Columns are scaled to [0,1]. The
// search starts from the principal components (Kobak and Berens 2019), so that it gives
// the same picture each time. Distances between far groups mean nothing. breathe is called
// after each step; its error ends the search.
func Embed(rows [][]float32, width int, breathe func() error) ([][2]float64, error) {
	n := len(rows)
	if n < minPerplexity || n > MaxEmbedded {
		return nil, fmt.Errorf("t-SNE: %d rows, want %d to %d", n, minPerplexity, MaxEmbedded)
	}
	near, err := affinities(rows, width)
	if err != nil {
		return nil, err
	}
	y, err := beginning(rows, width)
	if err != nil {
		return nil, err
	}
	velocity, gain := make([][2]float64, n), make([][2]float64, n)
	for i := range gain {
		gain[i] = [2]float64{1, 1}
	}
	weights, forces := make([]float64, n*n), make([][2]float64, n)
	for step := range embeddingSteps {
		strength, momentum := 1.0, 0.8
		if step < exaggerated {
			strength, momentum = exaggeration, 0.5
		}
		pull(forces, weights, near, y, strength)
		for i := range y {
			for d := range 2 {
				// Gains rise while the direction stays the same, as in the authors' code.
				if (forces[i][d] > 0) != (velocity[i][d] > 0) {
					gain[i][d] += 0.2
				} else {
					gain[i][d] = math.Max(0.01, 0.8*gain[i][d])
				}
				velocity[i][d] = momentum*velocity[i][d] - float64(n)/exaggeration*gain[i][d]*forces[i][d]
				y[i][d] += velocity[i][d]
			}
		}
		if err := breathe(); err != nil {
			return nil, err
		}
	}
	return y, nil
}

// affinities returns the joint probabilities [n,n] that rows are neighbours. We use the
// library for these only: its own descent starts from the program's shared random numbers.
func affinities(rows [][]float32, width int) ([]float64, error) {
	bounds := NewBounds(width)
	for _, row := range rows {
		bounds.Add(row)
	}
	x := mat.NewDense(len(rows), width, nil)
	for i, row := range rows {
		for k, v := range row[:width] {
			if high, low := bounds.High[k], bounds.Low[k]; high > low {
				x.Set(i, k, float64((v-low)/(high-low)))
			}
		}
	}
	t := tsne.NewTSNE(2, perplexity, 0, 0, false)
	t.EmbedData(x, nil)
	p := t.P.RawMatrix().Data
	for _, v := range p {
		if math.IsNaN(v) {
			return nil, errors.New("t-SNE: the rows have no distances")
		}
	}
	return p, nil
}

// beginning returns the principal components, scaled to deviation 10⁻⁴ along the first.
func beginning(rows [][]float32, width int) ([][2]float64, error) {
	plane, err := PCA(rows, width, func() error { return nil })
	if err != nil {
		return nil, err
	}
	y, square := make([][2]float64, len(rows)), 0.0
	for i, row := range rows {
		y[i] = plane.At(row)
		square += y[i][0] * y[i][0] / float64(len(rows))
	}
	scale := 1e-4 / math.Sqrt(square)
	for i := range y {
		y[i][0], y[i][1] = y[i][0]*scale, y[i][1]*scale
	}
	return y, nil
}

// pull writes the gradient of the divergence, 4Σⱼ(pᵢⱼ − qᵢⱼ)(yᵢ − yⱼ)/(1 + |yᵢ − yⱼ|²),
// with p multiplied by strength; weights is scratch space [n,n].
func pull(forces [][2]float64, weights, near []float64, y [][2]float64, strength float64) {
	n, sum := len(y), 0.0
	for i, a := range y {
		row := weights[i*n : (i+1)*n]
		for j, b := range y[:i] {
			d0, d1 := a[0]-b[0], a[1]-b[1]
			row[j] = 1 / (1 + d0*d0 + d1*d1)
			sum += 2 * row[j]
		}
	}
	clear(forces)
	for i, a := range y {
		row, p := weights[i*n:(i+1)*n], near[i*n:(i+1)*n]
		for j, b := range y[:i] {
			w := row[j]
			f := 4 * (strength*p[j] - w/sum) * w
			f0, f1 := f*(a[0]-b[0]), f*(a[1]-b[1])
			forces[i][0], forces[i][1] = forces[i][0]+f0, forces[i][1]+f1
			forces[j][0], forces[j][1] = forces[j][0]-f0, forces[j][1]-f1
		}
	}
}

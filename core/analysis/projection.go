package analysis

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Projection maps rows onto the plane in which some of them lie widest, with every
// dimension in units of its standard deviation.
type Projection struct {
	scatter    Scatter
	directions [2][]float64
	Explained  [2]float64 // share of the variance along each direction
}

// PCA fits the plane to rows (Pearson 1901), whose first width columns count. Signs
// are such that the largest component of a direction is positive.
func PCA(rows [][]float32, width int) (*Projection, error) {
	if len(rows) < 3 || width < 2 {
		return nil, fmt.Errorf("projection: %d rows of %d columns, want at least 3 of 2", len(rows), width)
	}
	p := &Projection{scatter: Spread(len(rows), width, func(i int) []float32 { return rows[i] })}
	x := mat.NewDense(len(rows), width, nil)
	for i, row := range rows {
		x.SetRow(i, p.standard(row))
	}
	var pc stat.PC
	if !pc.PrincipalComponents(x, nil) {
		return nil, errors.New("projection: the rows have no principal components")
	}
	var vectors mat.Dense
	pc.VectorsTo(&vectors)
	total := 0.0
	for _, v := range pc.VarsTo(nil) {
		total += v
	}
	for d := range 2 {
		p.directions[d] = make([]float64, width)
		mat.Col(p.directions[d], d, &vectors)
		p.Explained[d] = pc.VarsTo(nil)[d] / total
		largest := 0.0
		for _, v := range p.directions[d] {
			if math.Abs(v) > math.Abs(largest) {
				largest = v
			}
		}
		for k := range p.directions[d] {
			p.directions[d][k] = math.Copysign(1, largest) * p.directions[d][k]
		}
	}
	return p, nil
}

// standard is a row in units of the standard deviations; a dimension without one is 0.
func (p *Projection) standard(row []float32) []float64 {
	z := make([]float64, len(p.scatter.Mean))
	for k, v := range p.scatter.Variance {
		if v > 0 {
			z[k] = (float64(row[k]) - p.scatter.Mean[k]) / math.Sqrt(v)
		}
	}
	return z
}

// At is where a row lies.
func (p *Projection) At(row []float32) [2]float64 {
	z, at := p.standard(row), [2]float64{}
	for d, direction := range p.directions {
		for k, v := range direction {
			at[d] += v * z[k]
		}
	}
	return at
}

// Overlap is how much of two clouds of points is in the same places: Σ min(p, q) over
// the cells of a cells × cells grid that spans both, where p and q are the clouds'
// shares of a cell. It is 1 for equal clouds, 0 for separate ones, and NaN where one
// is empty.
func Overlap(a, b [][2]float64, cells int) float64 {
	if len(a) == 0 || len(b) == 0 {
		return math.NaN()
	}
	var low, high [2]float64
	for d := range 2 {
		low[d], high[d] = math.Inf(1), math.Inf(-1)
		for _, cloud := range [][][2]float64{a, b} {
			for _, p := range cloud {
				low[d], high[d] = min(low[d], p[d]), max(high[d], p[d])
			}
		}
	}
	shares := func(cloud [][2]float64) map[[2]int]float64 {
		out := map[[2]int]float64{}
		for _, p := range cloud {
			var cell [2]int
			for d := range 2 {
				if high[d] > low[d] {
					cell[d] = min(int(float64(cells)*(p[d]-low[d])/(high[d]-low[d])), cells-1)
				}
			}
			out[cell] += 1 / float64(len(cloud))
		}
		return out
	}
	p, q, sum := shares(a), shares(b), 0.0
	for cell, share := range p {
		sum += min(share, q[cell])
	}
	return sum
}

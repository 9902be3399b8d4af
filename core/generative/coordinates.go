package generative

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"pgrlab/core/device"
	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// coordinates are the coordinates in which noise is added and the network works:
// either the normalised dimensions themselves, or the principal axes of the normalised
// data. A rotation does not change noise of equal strength in all directions, so noise
// levels mean the same in both.
//
// Spread is σ_d of each coordinate. EDM has one σ_d for all of them. Then c_skip·x is
// the best estimate of data without correlations, and the network must learn the
// covariance. In transitions the covariance is nearly everything: s' is nearly linear
// in s and a, along directions of small spread. On the principal axes, each with its
// own spread, c_skip·x is the best linear estimate (the Wiener filter), so the network
// starts from a Gaussian fitted to the data and learns what is not linear. With
// λ = 1/c_out² per axis, directions of small spread count as much as directions of
// large spread.
type coordinates struct {
	spread []float64 // [D]
	mean   []float64 // [D], of the normalised data; nil: coordinates are not rotated
	basis  []float64 // [D,D], axis k is column k; nil as mean is
}

// covarianceRows is the default of Config.CovarianceRows. The error of the covariance falls with
// the square root of the number of rows, and its time grows with the number. Features that are 0
// in nearly all transitions need all rows: if the sampled rows never have the feature, the rows
// that have it lie far outside the estimated spread.
const covarianceRows = 16_384

// minSpread keeps the spread above zero for axes along which the data do not vary;
// estimates along these axes stay at the mean.
const minSpread = 1e-4

// fitCoordinates returns the coordinates for data that n normalises.
func fitCoordinates(c Config, rows Rows, n normaliser) (coordinates, error) {
	width := len(n.centre)
	if c.Preconditioning != PreconditioningCovariance {
		same := coordinates{spread: make([]float64, width)}
		for j := range same.spread {
			same.spread[j] = c.SigmaData
		}
		return same, nil
	}
	mean, covariance := secondMoments(rows, n, cmp.Or(c.CovarianceRows, covarianceRows))
	var eigen mat.EigenSym
	if !eigen.Factorize(covariance, true) {
		return coordinates{}, errors.New("the covariance of the real transitions has no principal axes")
	}
	var axes mat.Dense
	eigen.VectorsTo(&axes)
	turned := coordinates{mean: mean, spread: eigen.Values(nil), basis: make([]float64, width*width)}
	for k, variance := range turned.spread {
		turned.spread[k] = math.Max(minSpread, math.Sqrt(math.Max(0, variance)))
		for i := range width {
			turned.basis[i*width+k] = axes.At(i, k)
		}
	}
	return turned, nil
}

// follow gives each axis the place and the sign of that axis of before with which it overlaps most; the
// largest overlaps come first. Principal axes have no sign of their own and come in the order of
// their spreads, which changes with the data, but weights that were learned in the coordinates of
// before take each axis for the one in its place.
func (c coordinates) follow(before coordinates) {
	if c.basis == nil {
		return
	}
	width := len(c.spread)
	var overlaps mat.Dense // [D,D] of an axis of before and one of c
	overlaps.Mul(mat.NewDense(width, width, before.basis).T(), mat.NewDense(width, width, c.basis))
	pairs := make([]int, width*width)
	for i := range pairs {
		pairs[i] = i
	}
	overlap := func(pair int) float64 { return overlaps.At(pair/width, pair%width) }
	slices.SortStableFunc(pairs, func(p, q int) int { return cmp.Compare(math.Abs(overlap(q)), math.Abs(overlap(p))) })
	spread, basis := slices.Clone(c.spread), slices.Clone(c.basis)
	filled, used := make([]bool, width), make([]bool, width)
	for _, pair := range pairs {
		to, from := pair/width, pair%width
		if filled[to] || used[from] {
			continue
		}
		filled[to], used[from] = true, true
		c.spread[to] = spread[from]
		for i := range width {
			c.basis[i*width+to] = math.Copysign(1, overlap(pair)) * basis[i*width+from]
		}
	}
}

// secondMoments returns the mean and the covariance of the normalised transitions. It
// uses at most most of them, evenly spread (see oneOf).
func secondMoments(rows Rows, n normaliser, most int) (mean []float64, covariance *mat.SymDense) {
	width := len(n.centre)
	every := (rows.Len() + most - 1) / most
	x, mean, count := make([]float32, width), make([]float64, width), 0.0
	for i := 0; i < rows.Len(); i += every {
		n.normalise(x, rows.Row(oneOf(i, every, rows.Len())))
		for j, v := range x {
			mean[j] += float64(v)
		}
		count++
	}
	for j := range mean {
		mean[j] /= count
	}
	sums := make([]float64, width*width)
	deviation := make([]float64, width)
	for i := 0; i < rows.Len(); i += every {
		n.normalise(x, rows.Row(oneOf(i, every, rows.Len())))
		for j, v := range x {
			deviation[j] = float64(v) - mean[j]
		}
		for j, d := range deviation {
			for k, e := range deviation[:j+1] {
				sums[j*width+k] += d * e
			}
		}
	}
	covariance = mat.NewSymDense(width, nil)
	for j := range width {
		for k := range j + 1 {
			covariance.SetSym(j, k, sums[j*width+k]/count)
		}
	}
	return mean, covariance
}

// oneOf returns the row that stands for the rows i to i+every−1, where i is a multiple of every
// (replay.OneOf).
func oneOf(i, every, rows int) int { return min(rows-1, replay.OneOf(i/every, i, i+every)) }

// leave writes the normalised vector whose coordinates are x.
func (c coordinates) leave(dst, x []float32) {
	if c.basis == nil {
		copy(dst, x)
		return
	}
	width := len(x)
	for i := range dst {
		sum := c.mean[i]
		for k, v := range x {
			sum += float64(v) * c.basis[i*width+k]
		}
		dst[i] = float32(sum)
	}
}

// frame holds the tensors through which graphs use coordinates.
type frame struct {
	spread       *op.Tensor // [D]
	enter, leave *nn.Linear // between normalised vectors and the axes, [D,D] and [D]; nil: not rotated
}

func newFrame(c Config, name string, width int) *frame {
	f := &frame{spread: op.NewTensor(name+".spread", width)}
	if c.Preconditioning == PreconditioningCovariance {
		layer := func(part string) *nn.Linear {
			return &nn.Linear{W: op.NewTensor(name+"."+part+".W", width, width), B: op.NewTensor(name+"."+part+".b", width)}
		}
		f.enter, f.leave = layer("enter"), layer("leave")
	}
	return f
}

// set writes coordinates of the same kind into the frame, for programs of that
// device.
func (f *frame) set(dev device.Device, c coordinates) error {
	for j, s := range c.spread {
		f.spread.Data[j] = float32(s)
	}
	if f.enter == nil {
		return plan.Push(dev, f.spread)
	}
	width := len(c.spread)
	for k := range width {
		shift := 0.0
		for i := range width {
			b := c.basis[i*width+k]
			f.enter.W.Data[i*width+k] = float32(b)
			f.leave.W.Data[k*width+i] = float32(b)
			shift -= c.mean[i] * b
		}
		f.enter.B.Data[k] = float32(shift)
		f.leave.B.Data[k] = float32(c.mean[k])
	}
	return plan.Push(dev, f.spread, f.enter.W, f.enter.B, f.leave.W, f.leave.B)
}

// entered builds the normalised x [B,D] in these coordinates.
func (f *frame) entered(g *op.Graph, x *op.Node) *op.Node {
	if f.enter == nil {
		return x
	}
	return f.enter.Apply(g, x)
}

// clamped limits the normalised vectors whose coordinates are x [B,D] to [-1,1].
func (f *frame) clamped(g *op.Graph, x *op.Node) *op.Node {
	if f.enter == nil {
		return g.Clamp(x, -1, 1)
	}
	return f.enter.Apply(g, g.Clamp(f.leave.Apply(g, x), -1, 1))
}

package op

import (
	"errors"
	"math"

	"gorgonia.org/tensor"
)

// TwoHotAt spreads each number of x [B,1] or [N,B,1] over the two nearest of the bins [K], which
// ascend, so that the bins' weighted mean is the number; a number on a bin has that bin alone, and a
// number beyond them the outermost one (Hafner et al. 2025, Nature; danijar/dreamerv3
// embodied/jax/outs.py TwoHot). The result is [B,K] or [N,B,K], the target of a CrossEntropy.
// TwoHotAt has no derivative.
func (g *Graph) TwoHotAt(x, bins *Node) *Node { return g.apply(TwoHotAt, Attr{}, x, bins) }

// BinMean is the mean Σ softmax(z)·bins of the distribution of logits z [B,K] or [N,B,K] over bins
// [K], as [B,1] or [N,B,1]. The sum goes from the middle outwards, bins of equal distance from it
// first added to each other: with equal logits, bins that are symmetric about 0 give exactly 0
// (Hafner et al. 2025, Nature; danijar/dreamerv3 embodied/jax/outs.py TwoHot). BinMean has no
// derivative.
func (g *Graph) BinMean(z, bins *Node) *Node { return g.apply(BinMean, Attr{}, z, bins) }

func init() {
	rules[TwoHotAt] = rule{name: "TwoHotAt", wrt: []bool{false, false},
		shape: func(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
			if matrix(in[0]) != nil || in[0][len(in[0])-1] != 1 || len(in[1]) != 1 || in[1][0] < 1 {
				return nil, errors.New("want one column, [B,1] or [N,B,1], and bins [K]")
			}
			return withColumns(in[0], in[1][0]), nil
		}, do32: twoHotAt[float32], do64: twoHotAt[float64]}
	rules[BinMean] = rule{name: "BinMean", wrt: []bool{false, false},
		shape: func(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
			if matrix(in[0]) != nil || len(in[1]) != 1 || in[1][0] != in[0][len(in[0])-1] {
				return nil, errors.New("want logits [B,K] or [N,B,K] and bins [K]")
			}
			return withColumns(in[0], 1), nil
		}, do32: binMean[float32], do64: binMean[float64]}
}

func twoHotAt[T float](c call[T]) {
	bins := c.in[1]
	k := len(bins)
	for i, x := range c.in[0] {
		row := c.out[i*k : (i+1)*k]
		above := 0 // the first bin above x
		for above < k && bins[above] <= x {
			above++
		}
		switch {
		case x != x: // keep NaN visible
			row[0] = x
		case above == 0:
			row[0] = 1
		case above == k:
			row[k-1] = 1
		default:
			low, high := float64(bins[above-1]), float64(bins[above])
			row[above-1] = T((high - float64(x)) / (high - low))
			row[above] = T((float64(x) - low) / (high - low))
		}
	}
}

func binMean[T float](c call[T]) {
	bins := c.in[1]
	k := len(bins)
	for i := range c.out {
		row := c.in[0][i*k : (i+1)*k]
		lse := logSum(row)
		term := func(j int) float64 { return math.Exp(float64(row[j])-lse) * float64(bins[j]) }
		sum := 0.0
		if k%2 == 1 {
			sum = term(k / 2)
		}
		for j := (k + 1) / 2; j < k; j++ {
			sum += term(k-1-j) + term(j)
		}
		c.out[i] = T(sum)
	}
}

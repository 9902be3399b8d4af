package analysis

import (
	"math"
	"slices"
)

// Summary holds the quantiles of a sample. All are NaN for a sample without a
// number.
type Summary struct {
	Count                      int // numbers; NaNs do not count
	Min, Q10, Median, Q90, Max float64
	Mean                       float64
}

// Summarise returns the summary of the values. NaNs are left out; infinities count.
func Summarise(values []float32) Summary {
	sorted := make([]float32, 0, len(values))
	sum := 0.0
	for _, v := range values {
		if v == v {
			sorted = append(sorted, v)
			sum += float64(v)
		}
	}
	slices.Sort(sorted)
	at := func(q float64) float64 { return quantile(sorted, q) }
	return Summary{
		Count: len(sorted), Min: at(0), Q10: at(0.1), Median: at(0.5), Q90: at(0.9), Max: at(1),
		Mean: sum / float64(len(sorted)),
	}
}

// Quantile returns the q-quantile of the values, 0 ≤ q ≤ 1. NaNs are left out; it is NaN
// if nothing is left.
func Quantile(values []float32, q float64) float64 {
	sorted := slices.DeleteFunc(slices.Clone(values), func(v float32) bool { return v != v })
	slices.Sort(sorted)
	return quantile(sorted, q)
}

// quantile interpolates linearly between the two nearest values, as numpy does by
// default (type 7 of Hyndman and Fan 1996).
func quantile(sorted []float32, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	place := q * float64(len(sorted)-1)
	low := int(place)
	if low == len(sorted)-1 || place == float64(low) {
		return float64(sorted[low])
	}
	a, b := float64(sorted[low]), float64(sorted[low+1])
	if a == b { // equal infinities have no difference
		return a
	}
	return a + (place-float64(low))*(b-a)
}

// CommonEdges returns bins+1 evenly spaced edges from the least to the largest finite
// value of all samples, so that their histograms can be compared. A range of zero width
// is widened around its value; samples without a finite value have the edges of [0,1].
func CommonEdges(bins int, samples ...[]float32) []float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, sample := range samples {
		for _, v := range sample {
			if x := float64(v); !math.IsNaN(x) && !math.IsInf(x, 0) {
				low, high = min(low, x), max(high, x)
			}
		}
	}
	if low > high {
		low, high = 0, 1
	}
	if low == high {
		half := max(0.5, math.Abs(low)*1e-3)
		low, high = low-half, high+half
	}
	edges := make([]float64, bins+1)
	for i := range edges {
		edges[i] = low + (high-low)*float64(i)/float64(bins)
	}
	edges[bins] = high
	return edges
}

// BodyEdges returns CommonEdges of the bodies of the samples, from the least of their
// first percentiles to the largest of their 99th: a few extreme values would otherwise
// squeeze all others into one bin. Histogram leaves out values beyond these edges. If the
// bodies are positive and so skewed that half of a sample would still lie in the first
// tenth of the range, the edges rise by a constant factor instead.
func BodyEdges(bins int, samples ...[]float32) []float64 {
	var ends []float32
	least := math.Inf(1) // of the medians
	for _, sample := range samples {
		var sorted []float32
		for _, v := range sample {
			if v == v {
				sorted = append(sorted, v)
			}
		}
		slices.Sort(sorted)
		ends = append(ends, float32(quantile(sorted, 0.01)), float32(quantile(sorted, 0.99)))
		if median := quantile(sorted, 0.5); median == median {
			least = min(least, median)
		}
	}
	edges := CommonEdges(bins, ends)
	low, high := edges[0], edges[bins]
	if low > 0 && high >= minDecades*low && least < low+(high-low)/10 {
		for i := range edges {
			edges[i] = low * math.Pow(high/low, float64(i)/float64(bins))
		}
		edges[bins] = high
	}
	return edges
}

// minDecades is the least ratio of the ends of a logarithmic axis.
const minDecades = 30

// Histogram counts values in the bins between edges, which must rise. Bin i holds
// edges[i] ≤ v < edges[i+1]; the last bin also holds its upper edge. Values outside
// and NaNs are not counted.
func Histogram(values []float32, edges []float64) []int {
	bins := len(edges) - 1
	counts := make([]int, bins)
	low, high := edges[0], edges[bins]
	for _, v := range values {
		x := float64(v)
		if !(x >= low && x <= high) {
			continue
		}
		// The first edge above x ends its bin.
		above, _ := slices.BinarySearchFunc(edges, x, func(edge, x float64) int {
			if edge <= x {
				return -1
			}
			return 1
		})
		counts[min(above-1, bins-1)]++
	}
	return counts
}

package analysis

import "math"

// Nearest returns, for each point, the distance to the nearest of the others. Each
// dimension is in units of its standard deviation, and the distance is divided by the
// square root of the number of dimensions, so that it does not grow with them. Dimensions
// without variance do not count. itself says which of the others is point i itself, −1 if
// none; a nil itself means none for all points. Points are rows of which the first columns
// count, as many as s has.
func Nearest(points, others [][]float32, s Scatter, itself func(i int) int) []float32 {
	columns, scale := measured(s)
	width := len(columns)
	crowd := make([]float32, 0, len(others)*width) // of the others, in units of the deviations
	for _, q := range others {
		crowd = appendScaled(crowd, q, columns, scale)
	}
	out, place := make([]float32, len(points)), make([]float32, 0, width)
	for i, p := range points {
		skip := -1
		if itself != nil {
			skip = itself(i)
		}
		place = appendScaled(place[:0], p, columns, scale)
		best := float32(math.Inf(1))
		for j := range others {
			if j != skip {
				best = min(best, SquareWithin(place, crowd[j*width:(j+1)*width], best))
			}
		}
		out[i] = float32(math.Sqrt(float64(best) / float64(max(width, 1))))
	}
	return out
}

// measured returns the columns with variance, and 1/deviation of each.
func measured(s Scatter) (columns []int, scale []float32) {
	for k, v := range s.Variance {
		if v > 0 {
			columns, scale = append(columns, k), append(scale, float32(1/math.Sqrt(v)))
		}
	}
	return columns, scale
}

func appendScaled(dst, row []float32, columns []int, scale []float32) []float32 {
	for i, k := range columns {
		dst = append(dst, row[k]*scale[i])
	}
	return dst
}

// SquareWithin returns the squared distance, or any number above limit if the distance
// exceeds it. It checks the limit after every eight dimensions: a branch at each one costs
// more than it saves.
func SquareWithin(p, q []float32, limit float32) (sum float32) {
	for len(p) >= 8 && len(q) >= 8 {
		a, b := (*[8]float32)(p), (*[8]float32)(q)
		d0, d1, d2, d3 := a[0]-b[0], a[1]-b[1], a[2]-b[2], a[3]-b[3]
		d4, d5, d6, d7 := a[4]-b[4], a[5]-b[5], a[6]-b[6], a[7]-b[7]
		sum += (d0*d0 + d1*d1 + d2*d2 + d3*d3) + (d4*d4 + d5*d5 + d6*d6 + d7*d7)
		if sum > limit {
			return sum
		}
		p, q = p[8:], q[8:]
	}
	for k, v := range p {
		d := v - q[k]
		sum += d * d
	}
	return sum
}

package analysis

import "math"

// Nearest is, for each of some points, the distance to the nearest of the others, per
// dimension in units of its standard deviation and divided by the root of their
// number, so that it does not grow with them. Dimensions without variance do not
// count. itself says which of the others is point i itself, −1 if none; nil: none
// is. Points are rows whose first columns count.
func Nearest(points, others [][]float32, s Scatter, itself func(i int) int) []float32 {
	scale, used := make([]float32, len(s.Variance)), 0
	for k, v := range s.Variance {
		if v > 0 {
			scale[k] = float32(1 / math.Sqrt(v))
			used++
		}
	}
	out := make([]float32, len(points))
	for i, p := range points {
		skip := -1
		if itself != nil {
			skip = itself(i)
		}
		best := float32(math.Inf(1))
		for j, q := range others {
			if j != skip {
				best = min(best, squareWithin(p, q, scale, best))
			}
		}
		out[i] = float32(math.Sqrt(float64(best) / float64(max(used, 1))))
	}
	return out
}

// squareWithin is the scaled squared distance, or anything above limit.
func squareWithin(p, q, scale []float32, limit float32) (sum float32) {
	for k, c := range scale {
		d := (p[k] - q[k]) * c
		if sum += d * d; sum > limit {
			return sum
		}
	}
	return sum
}

package kernel

import "math"

func plainLargest(x []float32) float32 {
	most := float32(math.Inf(-1))
	for _, v := range x {
		most = max(most, v)
	}
	return most
}

func plainExpSum(dst, x []float32, shift float32) (sum float64) {
	for i, v := range x {
		dst[i] = float32(math.Exp(float64(v - shift)))
		sum += float64(dst[i])
	}
	return sum
}

func plainSum(x []float32) (sum float64) {
	for _, v := range x {
		sum += float64(v)
	}
	return sum
}

func plainDot(a, b []float32) (sum float64) {
	for i, v := range a {
		sum += float64(v) * float64(b[i])
	}
	return sum
}

func plainMirroredDot(a, b []float32) (sum float64) {
	n := len(a)
	if n%2 == 1 {
		sum = float64(a[n/2]) * float64(b[n/2])
	}
	return sum + mirroredFrom(a, b, 0)
}

// mirroredFrom is the sum of the pairs at a distance from the middle, and of those beyond.
func mirroredFrom(a, b []float32, distance int) (sum float64) {
	n := len(a)
	low, high := n/2-1-distance, (n+1)/2+distance
	for ; low >= 0; low, high = low-1, high+1 {
		sum += float64(a[low])*float64(b[low]) + float64(a[high])*float64(b[high])
	}
	return sum
}

func plainGroupSoftmax4(dst, x []float32, rest, even float32) {
	for at := 0; at < len(dst); at += 4 {
		group := dst[at : at+4]
		sum := plainExpSum(group, x[at:at+4], plainLargest(x[at:at+4]))
		for j, v := range group {
			group[j] = float32(float64(v)*(float64(rest)/sum)) + even
		}
	}
}

// gates are σ(r), tanh(σ(r)·c) and σ(u−1).
func gates(r, c, u float32) (reset, candidate, update float32) {
	reset = float32(sigmoid(float64(r)))
	return reset, float32(math.Tanh(float64(reset * c))), float32(sigmoid(float64(u - 1)))
}

func plainGatedUpdate(dst, r, c, u, h []float32) {
	for i := range dst {
		_, t, update := gates(r[i], c[i], u[i])
		dst[i] = h[i] + update*(t-h[i])
	}
}

func plainGatedGrad(dr, dc, du, r, c, u, h, d []float32) {
	for i := range dr {
		reset, t, update := gates(r[i], c[i], u[i])
		ci, dt := c[i], d[i]*update*(1-t*t)
		du[i] = d[i] * (t - h[i]) * (update * (1 - update))
		dr[i], dc[i] = dt*ci*(reset*(1-reset)), dt*reset
	}
}

func plainGatedKeep(dst, u, d []float32) {
	for i := range dst {
		dst[i] = d[i] - d[i]*float32(sigmoid(float64(u[i]-1)))
	}
}

func plainRMSNorm(dst, x, gamma []float32, eps float64) {
	n := len(gamma)
	for at := 0; at < len(dst); at += n {
		row := x[at : at+n]
		inverse := 1 / math.Sqrt(plainSumSquares(row, nil)/float64(n)+eps)
		for j, v := range row {
			dst[at+j] = float32(float64(v) * inverse * float64(gamma[j]))
		}
	}
}

func plainRMSNormDX(dst, x, gamma, dy []float32, eps float64) {
	n := len(gamma)
	for at := 0; at < len(dst); at += n {
		row, slope, along := x[at:at+n], dy[at:at+n], 0.0
		inverse := 1 / math.Sqrt(plainSumSquares(row, nil)/float64(n)+eps)
		for j, v := range row {
			along += float64(gamma[j]) * float64(slope[j]) * float64(v)
		}
		along *= inverse * inverse / float64(n)
		for j, v := range row {
			dst[at+j] = float32((float64(gamma[j])*float64(slope[j]) - float64(v)*along) * inverse)
		}
	}
}

func plainRMSNormDGamma(sums, x, dy []float32, eps float64) {
	n := len(sums)
	for at := 0; at < len(x); at += n {
		row := x[at : at+n]
		inverse := 1 / math.Sqrt(plainSumSquares(row, nil)/float64(n)+eps)
		for j, v := range row {
			sums[j] += dy[at+j] * float32(float64(v)*inverse)
		}
	}
}

package kernel

import "math"

func plainAdd(dst, a, b []float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] + b[i]
	}
}

func plainSub(dst, a, b []float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] - b[i]
	}
}

func plainMul(dst, a, b []float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] * b[i]
	}
}

func plainScale(dst, a []float32, c float32) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = c * a[i]
	}
}

func plainAxpy(dst, a []float32, c float32) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] += c * a[i]
	}
}

func plainLerp(dst, src []float32, t float32) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] += t * (src[i] - dst[i])
	}
}

func plainReLU(dst, z []float32) {
	z = z[:len(dst)]
	for i := range dst {
		x := z[i]
		if x < 0 {
			x = 0
		}
		dst[i] = x
	}
}

func plainReLUGrad(dst, dy, y []float32) {
	dy, y = dy[:len(dst)], y[:len(dst)]
	for i := range dst {
		if y[i] > 0 {
			dst[i] = dy[i]
		} else {
			dst[i] = 0
		}
	}
}

func plainTanhGrad(dst, dy, y []float32) {
	dy, y = dy[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = dy[i] * (1 - y[i]*y[i])
	}
}

func plainSigmoidGrad(dst, dy, y []float32) {
	dy, y = dy[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = dy[i] * (y[i] * (1 - y[i]))
	}
}

func plainAdam(w, m, v, g0, g1 []float32, h AdamStep) {
	b1, b2 := h.Beta1, h.Beta2
	r1, r2 := 1-b1, 1-b2
	keep := 1 - h.Decay
	for i := range w {
		g := g0[i]
		if g1 != nil {
			g += g1[i]
		}
		g *= h.GradScale
		m[i] = normal(b1*m[i] + r1*g)
		v[i] = normal(b2*v[i] + r2*(g*g))
		root := float32(math.Sqrt(float64(v[i])))
		w[i] = keep*w[i] - h.Step*(m[i]/(root*h.InvSqrtC2+h.Eps))
	}
}

func plainLaProp(w, m, v, g0, g1 []float32, h AdamStep) {
	b1, b2 := h.Beta1, h.Beta2
	r1, r2 := 1-b1, 1-b2
	keep := 1 - h.Decay
	for i := range w {
		g := g0[i]
		if g1 != nil {
			g += g1[i]
		}
		g *= h.GradScale
		v[i] = b2*v[i] + r2*(g*g)
		root := float32(math.Sqrt(float64(v[i])))
		m[i] = normal(b1*m[i] + r1*(g/(root*h.InvSqrtC2+h.Eps)))
		w[i] = keep*w[i] - h.Step*m[i]
	}
}

// normal is x, or 0 if x is smaller than the least normal number.
func normal(x float32) float32 {
	if math.Float32bits(x)&0x7fffffff < 0x00800000 {
		return 0
	}
	return x
}

func plainSumSquares(a, b []float32) float64 {
	var s float64
	for i, x := range a {
		if b != nil {
			x += b[i]
		}
		s += float64(x) * float64(x)
	}
	return s
}

func plainSumSquaredDiff(a, b []float32) float64 {
	var s float64
	for i, x := range a {
		d := float64(x - b[i])
		s += d * d
	}
	return s
}

func plainFromBytes(dst []float32, src []byte, offset float32) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = float32(src[i])/255 + offset
	}
}

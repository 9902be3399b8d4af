package cpu

import (
	"math"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu/kernel"
)

func init() {
	for code, f := range map[device.Code]func(k *kernel.Family, dst, z []float32){
		device.Exp: (*kernel.Family).Exp, device.Log: (*kernel.Family).Log,
		device.Softplus: (*kernel.Family).Softplus, device.Sigmoid: (*kernel.Family).Sigmoid,
		device.Square: func(k *kernel.Family, dst, x []float32) { k.Mul(dst, x, x) },
		device.Sqrt:   each(math.Sqrt),
		device.SignedSqrt: each(func(x float64) float64 {
			return math.Copysign(math.Sqrt(math.Abs(x)), x)
		}),
	} {
		lowerings[code] = unary(f)
	}
	for code, f := range map[device.Code]func(k *kernel.Family, dst, a, b []float32){
		device.SoftplusGrad: (*kernel.Family).SoftplusGrad, device.SigmoidGrad: (*kernel.Family).SigmoidGrad,
		device.Minimum: each2(func(a, b float32) float32 { return min(a, b) }),
		device.Maximum: each2(func(a, b float32) float32 { return max(a, b) }),
		device.Div:     each2(func(a, b float32) float32 { return a / b }),
	} {
		lowerings[code] = binary(f)
	}
	lowerings[device.Clamp] = clamp
	lowerings[device.ClampGrad] = clampGrad
	lowerings[device.Keep] = keep
}

func unary(f func(k *kernel.Family, dst, z []float32)) lowering {
	return func(c *compiler, in device.Instr) {
		z, y := c.data[in.In[0]], c.data[in.Out]
		c.elementwise(in, func(lo, hi int) { f(c.k, y[lo:hi], z[lo:hi]) })
	}
}

func binary(f func(k *kernel.Family, dst, a, b []float32)) lowering {
	return func(c *compiler, in device.Instr) {
		a, b, y := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out]
		c.elementwise(in, func(lo, hi int) { f(c.k, y[lo:hi], a[lo:hi], b[lo:hi]) })
	}
}

// each and each2 make kernels of functions that no family implements itself: those that work on
// single columns.
func each(f func(x float64) float64) func(k *kernel.Family, dst, x []float32) {
	return func(_ *kernel.Family, dst, x []float32) {
		for i, v := range x {
			dst[i] = float32(f(float64(v)))
		}
	}
}

func each2(f func(a, b float32) float32) func(k *kernel.Family, dst, a, b []float32) {
	return func(_ *kernel.Family, dst, a, b []float32) {
		for i, v := range a {
			dst[i] = f(v, b[i])
		}
	}
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

func clamp(c *compiler, in device.Instr) {
	x, y, low, high := c.data[in.In[0]], c.data[in.Out], float32(in.F[0]), float32(in.F[1])
	c.elementwise(in, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			y[i] = min(max(x[i], low), high)
		}
	})
}

func clampGrad(c *compiler, in device.Instr) {
	dy, x, dx, low, high := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out], float32(in.F[0]), float32(in.F[1])
	c.elementwise(in, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			dx[i] = 0
			if x[i] >= low && x[i] <= high {
				dx[i] = dy[i]
			}
		}
	})
}

func keep(c *compiler, in device.Instr) {
	dy, a, b, out, equal := c.data[in.In[0]], c.data[in.In[1]], c.data[in.In[2]], c.data[in.Out], in.I[0] == 0
	c.elementwise(in, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out[i] = 0
			if a[i] < b[i] || equal && a[i] == b[i] {
				out[i] = dy[i]
			}
		}
	})
}

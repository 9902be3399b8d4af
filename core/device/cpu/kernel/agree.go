package kernel

import (
	"fmt"
	"math"

	"pgrlab/core/rng"
)

// agrees compares every function of a family with the plain one on shapes with all kinds of tails,
// in less than a millisecond. It does not prove the assembly right, which is the tests' job; it
// prevents training on wrong numbers when a CPU or an emulator runs the assembly wrongly.
func agrees(f *Family) error {
	const m, n, k = 19, 61, 37
	a, b, c := wave(m*k, 1), wave(k*n, 2), wave(m*n, 3)
	for name, call := range map[string]func(f *Family, dst []float32){
		"gemm": func(f *Family, dst []float32) {
			copy(dst, c)
			f.Gemm(m, n, k, a, k, 1, b, n, dst, n, Epilogue{Bias: b[:n], Accumulate: true, ReLU: true, Mask: c})
		},
		"gemm of few rows": func(f *Family, dst []float32) { f.Gemm(3, n, k, a, 1, m, b, n, dst, n, Epilogue{}) },
		"gemm packed":      func(f *Family, dst []float32) { f.Gemm(n, m, k, b, 1, n, a, m, dst, m, Epilogue{}) },
		"gemm with Bᵀ":     func(f *Family, dst []float32) { f.GemmBT(m, n, k, a, k, 1, b, k, dst, n, Epilogue{}) },
		"gemm narrow":      func(f *Family, dst []float32) { f.Gemm(n, 5, k, b, 1, n, a, 5, dst, 5, Epilogue{}) },
		"patches": func(f *Family, dst []float32) {
			panels := make([]float32, f.PanelSize(k, n))
			f.Pack(k, n, b, n, panels)
			ep := Epilogue{Bias: b[:n], ReLU: true}
			f.MulPatches(Patches{2, 5, 9, 3, 1, 0, k, 1}, n, a, panels, dst, 9*n, n, ep)
			ep = Epilogue{Accumulate: true, Mask: c}
			f.MulPatches(Patches{1, 0, 19, 2, 1, 0, k, 5}, n-30, a, panels, dst, 0, n-30, ep)
		},
		"row dot":           func(f *Family, dst []float32) { f.RowDot(m, k, a, k, b, 1, dst, 1) },
		"column sum":        func(f *Family, dst []float32) { f.ColSum(m, n, c, n, dst) },
		"transpose":         func(f *Family, dst []float32) { f.Transpose(m, n, c, n, dst, m) },
		"add":               func(f *Family, dst []float32) { f.Add(dst, c, b) },
		"sub":               func(f *Family, dst []float32) { f.Sub(dst, c, b) },
		"mul":               func(f *Family, dst []float32) { f.Mul(dst, c, b) },
		"scale":             func(f *Family, dst []float32) { f.Scale(dst, c, 0.3) },
		"axpy":              func(f *Family, dst []float32) { copy(dst, c); f.Axpy(dst, 0.3, b) },
		"lerp":              func(f *Family, dst []float32) { copy(dst, c); f.Lerp(dst, b, 0.3) },
		"relu":              func(f *Family, dst []float32) { f.ReLU(dst, c) },
		"relu gradient":     func(f *Family, dst []float32) { f.ReLUGrad(dst, b, c) },
		"tanh":              func(f *Family, dst []float32) { f.Tanh(dst, c) },
		"tanh gradient":     func(f *Family, dst []float32) { f.TanhGrad(dst, b, c) },
		"silu":              func(f *Family, dst []float32) { f.SiLU(dst, c) },
		"silu gradient":     func(f *Family, dst []float32) { f.SiLUGrad(dst, b, c) },
		"mish":              func(f *Family, dst []float32) { f.Mish(dst, c) },
		"mish gradient":     func(f *Family, dst []float32) { f.MishGrad(dst, b, c) },
		"elu":               func(f *Family, dst []float32) { f.ELU(dst, c) },
		"elu gradient":      func(f *Family, dst []float32) { f.ELUGrad(dst, b, c) },
		"exp":               func(f *Family, dst []float32) { f.Exp(dst, c) },
		"log":               func(f *Family, dst []float32) { f.Mul(dst, c, c); f.Log(dst, dst) },
		"sigmoid":           func(f *Family, dst []float32) { f.Sigmoid(dst, c) },
		"sigmoid gradient":  func(f *Family, dst []float32) { f.SigmoidGrad(dst, b, c) },
		"softplus":          func(f *Family, dst []float32) { f.Softplus(dst, c) },
		"softplus gradient": func(f *Family, dst []float32) { f.SoftplusGrad(dst, b, c) },
		"adam": func(f *Family, dst []float32) {
			h := AdamStep{0.9, 0.99, 3e-3, 2, 1e-8, 1e-3, 0.5}
			first, second := wave(len(dst), 4), make([]float32, len(dst))
			copy(dst, c)
			f.Adam(dst, first, second, c, nil, &h)
			f.Adam(dst, first, second, c, b, &h)
		},
		"laprop": func(f *Family, dst []float32) {
			h := AdamStep{0.9, 0.99, 3e-3, 2, 1e-20, 1e-3, 0.5}
			first, second := wave(len(dst), 4), make([]float32, len(dst))
			copy(dst, c)
			f.LaProp(dst, first, second, c, nil, &h)
			f.LaProp(dst, first, second, c, b, &h)
		},
		"sums of squares": func(f *Family, dst []float32) {
			dst[0], dst[1] = float32(f.SumSquares(c, nil)), float32(f.SumSquares(c, b))
			dst[2] = float32(f.SumSquaredDiff(c, b))
		},
		"rows of a softmax": func(f *Family, dst []float32) {
			dst[0], dst[1], dst[2] = f.Largest(c), float32(f.ExpSum(dst[8:], c, 1)), float32(f.Sum(b))
			dst[3], dst[4] = float32(f.Dot(c, b)), float32(f.MirroredDot(c, b))
		},
		"softmax of fours": func(f *Family, dst []float32) { f.GroupSoftmax4(dst[:m*n&^3], c, 0.9, 0.02) },
		"gated update":     func(f *Family, dst []float32) { f.GatedUpdate(dst, c, b, wave(len(dst), 4), wave(len(dst), 5)) },
		"gated update's gradients": func(f *Family, dst []float32) {
			k := len(dst) / 4
			f.GatedGrad(dst[:k], dst[k:2*k], dst[2*k:3*k], c, b, c[k:], b[k:], c[2*k:])
			f.GatedKeep(dst[3*k:], c, b)
		},
		"rms norm": func(f *Family, dst []float32) {
			f.RMSNorm(dst[:480], c, b[:48], 0.1)
			f.RMSNormDX(dst[480:960], c, b[:48], b[48:], 0.1)
			f.RMSNormDGamma(dst[960:1008], c[:960], b, 0.1)
		},
		"normals": func(f *Family, dst []float32) {
			// Key, occasion and item with bits in both words, so that the blocks carry from one
			// word to the next.
			f.Normals(dst, rng.New(1, "self-check"), 3<<32|1, 1<<34-m*n/2)
		},
		"bytes": func(f *Family, dst []float32) {
			src := make([]byte, len(dst))
			for i := range src {
				src[i] = byte(i)
			}
			f.FromBytes(dst, src, -0.5)
		},
	} {
		got, want := make([]float32, m*n), make([]float32, m*n)
		call(f, got)
		call(plain, want)
		for i := range want {
			if d := math.Abs(float64(got[i] - want[i])); !(d <= 1e-5*max(1, math.Abs(float64(want[i])))) {
				return fmt.Errorf("%s: element %d is %g, want %g", name, i, got[i], want[i])
			}
		}
	}
	return nil
}

// wave returns n aperiodic numbers between −3 and 3.
func wave(n, phase int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(3 * math.Sin(float64(i*i+phase)))
	}
	return x
}

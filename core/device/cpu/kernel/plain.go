package kernel

import (
	"math"

	"pgrlab/core/rng"
)

// plain is the family "go": the reference for the others, and the family that runs where there is
// no assembly.
var plain = &Family{name: "go", table: table{
	gemm:      plainGemm,
	patches:   plainPatches,
	strip:     plainStrip,
	rowDot:    plainRowDot,
	colSum:    plainColSum,
	transpose: plainTranspose,

	add:   plainAdd,
	sub:   plainSub,
	mul:   plainMul,
	scale: plainScale,
	axpy:  plainAxpy,
	lerp:  plainLerp,

	relu: plainReLU,
	tanh: each(math.Tanh),
	silu: each(func(x float64) float64 { return x * sigmoid(x) }),
	mish: each(func(x float64) float64 { return x * tanhSoftplus(x) }),
	elu: each(func(x float64) float64 {
		if x > 0 {
			return x
		}
		return math.Expm1(x)
	}),
	exp:      each(math.Exp),
	log:      each(math.Log),
	sigmoid:  each(sigmoid),
	softplus: each(softplus),

	reluGrad:     plainReLUGrad,
	tanhGrad:     plainTanhGrad,
	siluGrad:     eachGrad(siluSlope),
	mishGrad:     eachGrad(mishSlope),
	sigmoidGrad:  plainSigmoidGrad,
	softplusGrad: eachGrad(sigmoid),
	eluGrad: eachGrad(func(x float64) float64 {
		if x > 0 {
			return 1
		}
		return math.Exp(x)
	}),

	adam:           plainAdam,
	laprop:         plainLaProp,
	sumSquares:     plainSumSquares,
	sumSquaredDiff: plainSumSquaredDiff,
	normals:        rng.Stream.FillNormal,
	fromBytes:      plainFromBytes,

	largest:       plainLargest,
	expSum:        plainExpSum,
	sum:           plainSum,
	dot:           plainDot,
	mirroredDot:   plainMirroredDot,
	groupSoftmax4: plainGroupSoftmax4,
	gatedUpdate:   plainGatedUpdate,
	gatedGrad:     plainGatedGrad,
	gatedKeep:     plainGatedKeep,
	rmsNorm:       plainRMSNorm,
	rmsNormDX:     plainRMSNormDX,
	rmsNormDGamma: plainRMSNormDGamma,
}}

// farLeft is where σ and everything that decays with it is below every float32, even multiplied by
// z: there the functions are 0, which avoids −Inf·0.
const farLeft = -200

// sigmoid is σ(x) = 1/(1+e⁻ˣ), exactly 0 beyond farLeft.
func sigmoid(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + math.Exp(-x))
	}
	e := math.Exp(x)
	return e / (1 + e)
}

// softplus is log(1+eˣ), without overflow.
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// tanhSoftplus is tanh(log(1+eˣ)) = e(e+2)/(e(e+2)+2), without overflow.
func tanhSoftplus(x float64) float64 {
	if x >= 0 {
		e := math.Exp(-x)
		return (1 + 2*e) / (1 + 2*e + 2*e*e)
	}
	e := math.Exp(x)
	return e * (e + 2) / (e*(e+2) + 2)
}

// siluSlope is σ(x)·(1 + x·σ(−x)).
func siluSlope(x float64) float64 {
	return sigmoid(x) * (1 + x*sigmoid(-x))
}

// mishSlope is T + x·(1−T²)·σ(x) with T = tanh(log(1+eˣ)).
func mishSlope(x float64) float64 {
	t := tanhSoftplus(x)
	return t + x*(1-t*t)*sigmoid(x)
}

// bounded limits x to where the formulas above hold: beyond ±200 they are constant (slopes) or
// proportional to x with factor 0 or 1, to float32's precision.
func bounded(x float32) float64 {
	switch {
	case x < farLeft:
		return farLeft
	case x > -farLeft:
		return -farLeft
	}
	return float64(x)
}

// each makes a kernel of f, whose float64 result is rounded once.
func each(f func(float64) float64) func(dst, x []float32) {
	return func(dst, x []float32) {
		for i, v := range x {
			// max keeps NaN and avoids −Inf·0: all of these functions are flat there.
			dst[i] = float32(f(float64(max(v, farLeft))))
		}
	}
}

// eachGrad makes a kernel of the slope f: dst = dy·f(x).
func eachGrad(f func(float64) float64) func(dst, dy, x []float32) {
	return func(dst, dy, x []float32) {
		for i, v := range x {
			dst[i] = float32(float64(dy[i]) * f(bounded(v)))
		}
	}
}

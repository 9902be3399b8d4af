package kernel

import "unsafe"

// A machine is the generated assembly of one instruction set. The Go code around it (checks,
// cutting into short calls, choice of tiles) is the same for all machines.
//
// Go cannot preempt assembly, so no call runs for as long as a millisecond, and each call goes
// through a function that is not inlined: the function's prologue is where the scheduler and the
// collector get their turn.
type machine struct {
	lanes int // float32 of one vector

	// The microkernels by rows: two whole vectors of columns, two with the last one masked, one
	// masked, and more columns for up to three rows.
	pair, pairTail, single, wide []tileFunc
	wideVecs                     []int // vectors of wide[rows]
	// The microkernels of packed panels, as wide as suits the registers best.
	full           []tileFunc
	fullVecs       int
	patchTiles     patchTiles
	packFull       packFunc
	pack, packTail packFunc // of two vectors

	rowDot1, rowDot4        func(blocks, k int, a *float32, lda int, w *float32, bias float32, out *float32, ldo int)
	colSum8, colSum1        func(m, n int, a *float32, lda int, out *float32)
	transpose8, transpose16 func(blocks int, src *float32, lds int, dst *float32, ldd int)

	add, sub, mul                                            binaryFunc
	scale, axpy, lerp                                        func(n int, dst, a *float32, c float32)
	relu, tanh, silu, mish, elu, exp, log, sigmoid, softplus unaryFunc
	reluGrad, tanhGrad, siluGrad, mishGrad, eluGrad          binaryFunc
	sigmoidGrad, softplusGrad                                binaryFunc

	adam1, laprop1        step1Func
	adam2, laprop2        step2Func
	squares1              func(n int, a *float32) float64
	squares2, squaresDiff func(n int, a, b *float32) float64

	normals func(groups int, dst *float32, k0, k1 uint32, occasion, first uint64) // of 2·lanes numbers

	fromBytes func(vectors int, dst *float32, src *byte, offset float32)

	largest       func(n int, a *float32) float32 // of one vector at least
	expSum        func(n int, dst, x *float32, shift float32) float64
	sum           func(n int, a *float32) float64
	dot           func(n int, a, b *float32) float64
	mirrored      func(vectors int, lowA, highA, lowB, highB *float32) float64
	groupSoftmax4 func(n int, dst, x *float32, rest, even float32)
	gatedUpdate   func(n int, dst, r, c, u, h *float32)
	gatedGrad     func(n int, dr, dc, du, r, c, u, h, d *float32)
	gatedKeep     binaryFunc
	rmsNorm       func(rows, vectors int, dst, x, gamma *float32, share, eps float64)
	rmsNormDX     func(rows, vectors int, dst, x, gamma, dy *float32, share, eps float64)
	rmsNormDGamma func(rows, vectors int, gamma, x, dy *float32, share, eps float64)

	peak func(n int) // 12·n multiply-adds of whole vectors, for benchmarks
}

type (
	tileFunc   func(blocks, k int, a *float32, ars, aks int, b *float32, ldb int, from *float32, ldf int, c *float32, ldc int, tail, flags int, bias, mask *float32, next uintptr, step, run, skip, left int)
	packFunc   func(k int, src *float32, lds int, dst *float32, tail int)
	unaryFunc  func(n int, dst, x *float32)
	binaryFunc func(n int, dst, a, b *float32)
	step1Func  func(n int, w, m, v, g0 *float32, b1, r1, b2, r2, step, inverse, eps, keep, scale float32)
	step2Func  func(n int, w, m, v, g0, g1 *float32, b1, r1, b2, r2, step, inverse, eps, keep, scale float32)
)

// family wraps the machine's functions.
func (x *machine) family(name string) *Family {
	return &Family{name: name, table: table{
		gemm: x.gemm, patches: x.multiplyPatches, strip: 2 * x.lanes, rowDot: x.rowDots, colSum: x.colSums, transpose: x.transposes,
		add: binary(x.add), sub: binary(x.sub), mul: binary(x.mul),
		scale: scalar(x.scale), axpy: scalar(x.axpy), lerp: scalar(x.lerp),
		relu: unary(x.relu), tanh: unary(x.tanh), silu: unary(x.silu), mish: unary(x.mish),
		elu: unary(x.elu), exp: unary(x.exp), log: unary(x.log), sigmoid: unary(x.sigmoid), softplus: unary(x.softplus),
		reluGrad: binary(x.reluGrad), tanhGrad: binary(x.tanhGrad), siluGrad: binary(x.siluGrad),
		mishGrad: binary(x.mishGrad), eluGrad: binary(x.eluGrad),
		sigmoidGrad: binary(x.sigmoidGrad), softplusGrad: binary(x.softplusGrad),
		adam: steps(x.adam1, x.adam2), laprop: steps(x.laprop1, x.laprop2), sumSquares: x.sumSquares, sumSquaredDiff: x.sumSquaredDiff,
		normals: x.fillNormal, fromBytes: x.numbersOfBytes, multiplyAdds: x.multiplyAdds,
		largest: x.largestOf, expSum: x.exps, sum: x.total, dot: x.dotOf, mirroredDot: x.mirroredDots, groupSoftmax4: x.softmaxOf4,
		gatedUpdate: x.gated, gatedGrad: x.gatedSlopes, gatedKeep: binary(x.gatedKeep), rmsNorm: x.rmsNorms, rmsNormDX: x.rmsSlopes, rmsNormDGamma: x.rmsGamma,
	}}
}

// multiplyAdds cuts the loop on registers into calls of about 20 µs.
func (x *machine) multiplyAdds(n int) (done int) {
	const rounds = 8192
	for done < n {
		callPeak(x.peak, rounds)
		done += 12 * rounds * x.lanes
	}
	return done
}

//go:noinline
func callPeak(f func(n int), n int) { f(n) }

// chunk is the number of elements in one call, about 20 µs of the slowest function.
const chunk = 8192

// at returns the address of x[i] without a bounds check; the methods of Family have already checked
// bounds.
func at(x []float32, i int) *float32 {
	return (*float32)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(x)), 4*i))
}

func unary(f unaryFunc) func(dst, x []float32) {
	return func(dst, x []float32) {
		for i := 0; i < len(dst); i += chunk {
			callUnary(f, min(chunk, len(dst)-i), at(dst, i), at(x, i))
		}
	}
}

func binary(f binaryFunc) func(dst, a, b []float32) {
	return func(dst, a, b []float32) {
		for i := 0; i < len(dst); i += chunk {
			callBinary(f, min(chunk, len(dst)-i), at(dst, i), at(a, i), at(b, i))
		}
	}
}

func scalar(f func(n int, dst, a *float32, c float32)) func(dst, a []float32, c float32) {
	return func(dst, a []float32, c float32) {
		for i := 0; i < len(dst); i += chunk {
			callScalar(f, min(chunk, len(dst)-i), at(dst, i), at(a, i), c)
		}
	}
}

//go:noinline
func callUnary(f unaryFunc, n int, dst, x *float32) { f(n, dst, x) }

//go:noinline
func callBinary(f binaryFunc, n int, dst, a, b *float32) { f(n, dst, a, b) }

//go:noinline
func callScalar(f func(n int, dst, a *float32, c float32), n int, dst, a *float32, c float32) {
	f(n, dst, a, c)
}

func (x *machine) sumSquares(a, b []float32) float64 {
	var sum float64
	for i := 0; i < len(a); i += chunk {
		n := min(chunk, len(a)-i)
		if b == nil {
			sum += callSquares1(x.squares1, n, at(a, i))
		} else {
			sum += callSquares2(x.squares2, n, at(a, i), at(b, i))
		}
	}
	return sum
}

func (x *machine) sumSquaredDiff(a, b []float32) float64 {
	var sum float64
	for i := 0; i < len(a); i += chunk {
		sum += callSquares2(x.squaresDiff, min(chunk, len(a)-i), at(a, i), at(b, i))
	}
	return sum
}

//go:noinline
func callSquares1(f func(n int, a *float32) float64, n int, a *float32) float64 { return f(n, a) }

//go:noinline
func callSquares2(f func(n int, a, b *float32) float64, n int, a, b *float32) float64 {
	return f(n, a, b)
}

// steps is an optimiser's step along one gradient, or along the sum of two.
func steps(one step1Func, two step2Func) func(w, m, v, g0, g1 []float32, h AdamStep) {
	return func(w, m, v, g0, g1 []float32, h AdamStep) {
		for i := 0; i < len(w); i += chunk {
			end := min(i+chunk, len(w))
			second := g1
			if g1 != nil {
				second = g1[i:end]
			}
			callStep(one, two, w[i:end], m[i:end], v[i:end], g0[i:end], second, &h)
		}
	}
}

//go:noinline
func callStep(one step1Func, two step2Func, w, m, v, g0, g1 []float32, h *AdamStep) {
	r1, r2, keep := 1-h.Beta1, 1-h.Beta2, 1-h.Decay
	if g1 == nil {
		one(len(w), at(w, 0), at(m, 0), at(v, 0), at(g0, 0),
			h.Beta1, r1, h.Beta2, r2, h.Step, h.InvSqrtC2, h.Eps, keep, h.GradScale)
		return
	}
	two(len(w), at(w, 0), at(m, 0), at(v, 0), at(g0, 0), at(g1, 0),
		h.Beta1, r1, h.Beta2, r2, h.Step, h.InvSqrtC2, h.Eps, keep, h.GradScale)
}

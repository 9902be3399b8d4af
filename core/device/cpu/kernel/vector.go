package kernel

import "pgrlab/core/rng"

// The elementwise kernels work on len(dst) elements; the other slices must be
// at least as long, or they panic. dst may be one of the inputs; slices that
// overlap otherwise are not allowed.

// Add writes dst = a + b.
func (f *Family) Add(dst, a, b []float32) { f.table.add(dst, a[:len(dst)], b[:len(dst)]) }

// Sub writes dst = a − b.
func (f *Family) Sub(dst, a, b []float32) { f.table.sub(dst, a[:len(dst)], b[:len(dst)]) }

// Mul writes dst = a·b, elementwise.
func (f *Family) Mul(dst, a, b []float32) { f.table.mul(dst, a[:len(dst)], b[:len(dst)]) }

// Scale writes dst = c·a.
func (f *Family) Scale(dst, a []float32, c float32) { f.table.scale(dst, a[:len(dst)], c) }

// Axpy adds: dst += c·a.
func (f *Family) Axpy(dst []float32, c float32, a []float32) { f.table.axpy(dst, a[:len(dst)], c) }

// Lerp moves dst towards src: dst += t·(src − dst). It computes Polyak averages and exponential
// moving averages.
func (f *Family) Lerp(dst, src []float32, t float32) { f.table.lerp(dst, src[:len(dst)], t) }

// ReLU writes dst = max(0, z); NaN stays NaN.
func (f *Family) ReLU(dst, z []float32) { f.table.relu(dst, z[:len(dst)]) }

// ReLUGrad writes dst = dy where y > 0, else 0; y may be ReLU's input or output.
func (f *Family) ReLUGrad(dst, dy, y []float32) {
	f.table.reluGrad(dst, dy[:len(dst)], y[:len(dst)])
}

// Tanh writes dst = tanh z, within 4 ulp.
func (f *Family) Tanh(dst, z []float32) { f.table.tanh(dst, z[:len(dst)]) }

// TanhGrad writes dst = dy·(1 − y²), y = tanh z.
func (f *Family) TanhGrad(dst, dy, y []float32) {
	f.table.tanhGrad(dst, dy[:len(dst)], y[:len(dst)])
}

// SiLU writes dst = z·σ(z), σ the logistic function, within 4 ulp.
func (f *Family) SiLU(dst, z []float32) { f.table.silu(dst, z[:len(dst)]) }

// SiLUGrad writes dst = dy·σ(z)·(1 + z·(1 − σ(z))).
func (f *Family) SiLUGrad(dst, dy, z []float32) {
	f.table.siluGrad(dst, dy[:len(dst)], z[:len(dst)])
}

// Mish writes dst = z·tanh(log(1 + eᶻ)) (Misra 2019), within 4 ulp.
func (f *Family) Mish(dst, z []float32) { f.table.mish(dst, z[:len(dst)]) }

// MishGrad writes dst = dy·mish′(z).
func (f *Family) MishGrad(dst, dy, z []float32) {
	f.table.mishGrad(dst, dy[:len(dst)], z[:len(dst)])
}

// ELU writes dst = z where z > 0, else eᶻ − 1 (Clevert et al. 2016, α = 1),
// within 4 ulp.
func (f *Family) ELU(dst, z []float32) { f.table.elu(dst, z[:len(dst)]) }

// ELUGrad writes dst = dy where z > 0, else dy·eᶻ.
func (f *Family) ELUGrad(dst, dy, z []float32) {
	f.table.eluGrad(dst, dy[:len(dst)], z[:len(dst)])
}

// Exp writes dst = eˣ, within 4 ulp, subnormal results included.
func (f *Family) Exp(dst, x []float32) { f.table.exp(dst, x[:len(dst)]) }

// Log writes dst = ln x, within 4 ulp: −Inf at 0, NaN below.
func (f *Family) Log(dst, x []float32) { f.table.log(dst, x[:len(dst)]) }

// Sigmoid writes dst = 1/(1+e⁻ˣ), within 4 ulp, subnormal results included.
func (f *Family) Sigmoid(dst, x []float32) { f.table.sigmoid(dst, x[:len(dst)]) }

// SigmoidGrad writes dst = dy·y·(1 − y), where y is the sigmoid.
func (f *Family) SigmoidGrad(dst, dy, y []float32) {
	f.table.sigmoidGrad(dst, dy[:len(dst)], y[:len(dst)])
}

// Softplus writes dst = ln(1+eˣ), within 4 ulp, subnormal results included.
func (f *Family) Softplus(dst, x []float32) { f.table.softplus(dst, x[:len(dst)]) }

// SoftplusGrad writes dst = dy·σ(x).
func (f *Family) SoftplusGrad(dst, dy, x []float32) {
	f.table.softplusGrad(dst, dy[:len(dst)], x[:len(dst)])
}

// An AdamStep holds the numbers of one step t of Adam or LaProp, with the bias corrections of Kingma & Ba (2015,
// Algorithm 1) already folded in. The kernel computes 1−β from the float32 β, so the powers βᵗ must
// be those of float64(Beta1) and float64(Beta2).
type AdamStep struct {
	Beta1, Beta2 float32
	Step         float32 // lr/(1−β1ᵗ)
	InvSqrtC2    float32 // 1/√(1−β2ᵗ)
	Eps          float32
	Decay        float32 // lr·weight decay, decoupled (AdamW); 0: none
	GradScale    float32 // factor of clipping; 1: none
}

// Adam steps the parameters w with the moments m, v (all of one length):
//
//	g = GradScale·(g0 + g1)                (g1 may be nil)
//	m = β1·m + (1−β1)·g;  v = β2·v + (1−β2)·g²
//	w −= Decay·w;  w −= Step·m/(√v·InvSqrtC2 + Eps)
//
// This is PyTorch's order. g0 and g1 are the gradients of the two lanes. Moments smaller than the
// least normal number become 0: the moments of a dormant neuron shrink to that size, and many CPUs
// take a hundred times longer to add such numbers.
func (f *Family) Adam(w, m, v, g0, g1 []float32, h *AdamStep) {
	n := len(w)
	if g1 != nil {
		g1 = g1[:n]
	}
	f.table.adam(w, m[:n], v[:n], g0[:n], g1, *h)
}

// LaProp is Adam with the scaling before the momentum (Ziyin, Wang and Ueda 2020), as DreamerV3 has
// it:
//
//	g = GradScale·(g0 + g1)
//	v = β2·v + (1−β2)·g²;  m = β1·m + (1−β1)·g/(√v·InvSqrtC2 + Eps)
//	w −= Decay·w;  w −= Step·m
//
// A v smaller than the least normal number stays as it is. With DreamerV3's Eps of 1e-20 a gradient
// of 3e-18 is a step of 1, as larger ones are; with v = 0 it would be one of 300.
func (f *Family) LaProp(w, m, v, g0, g1 []float32, h *AdamStep) {
	n := len(w)
	if g1 != nil {
		g1 = g1[:n]
	}
	f.table.laprop(w, m[:n], v[:n], g0[:n], g1, *h)
}

// SumSquares returns Σ(a+b)², for the norm of a gradient; b may be nil. Sums are kept in float64,
// in an order that depends only on the length.
func (f *Family) SumSquares(a, b []float32) float64 {
	if b != nil {
		b = b[:len(a)]
	}
	return f.table.sumSquares(a, b)
}

// SumSquaredDiff returns Σ(a−b)², summed as SumSquares does.
func (f *Family) SumSquaredDiff(a, b []float32) float64 {
	return f.table.sumSquaredDiff(a, b[:len(a)])
}

// Normals writes items first, first+1, … of an occasion of s as N(0,1) numbers, identical to those
// of s.FillNormal, to the bit, in every family.
func (f *Family) Normals(dst []float32, s rng.Stream, occasion, first uint64) {
	f.table.normals(s, dst, occasion, first)
}

// FromBytes writes dst = byte/255 + offset, rounded after each of the two, for the first len(dst)
// bytes of src. All families have the same bits.
func (f *Family) FromBytes(dst []float32, src []byte, offset float32) {
	f.table.fromBytes(dst, src[:len(dst)], offset)
}

package device

// Adam is one step of an optimiser with two moments over all parameters, after clipping the
// gradient: first its global norm to ClipNorm, then the norm of each tensor's gradient to
// ClipTensor·max(LeastNorm, norm of the tensor) (adaptive gradient clipping, Brock et al. 2021, for
// whole tensors as in danijar/dreamerv3 embodied/jax/opt.py). A bound of 0 clips nothing.
type Adam struct {
	Params, Grads, M, V  []Ref
	Rate                 Ref // [1]
	Rule                 Rule
	Beta1, Beta2, Eps    float64
	WeightDecay          float64 // decoupled
	ClipNorm, ClipTensor float64
	T                    *uint64 // steps taken; each run adds one
}

// LeastNorm is the norm that ClipTensor takes for tensors of a smaller one.
const LeastNorm = 1e-3

// Rule is the order in which an optimiser scales and averages.
type Rule int

// The rules; both correct the bias of their moments.
const (
	// RuleAdam averages the gradient and divides by the root of the average of its square, in
	// PyTorch's order of operations: Adam and AdamW (Kingma and Ba 2015; Loshchilov and Hutter 2019).
	RuleAdam Rule = iota
	// RuleLaProp divides the gradient by that root and averages the quotients (Ziyin, Wang and Ueda
	// 2020; Hafner et al. 2025, Nature).
	RuleLaProp
)

func (r Rule) String() string { return [...]string{"adam", "laprop"}[r] }

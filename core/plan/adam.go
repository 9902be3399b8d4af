package plan

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"pgrlab/core/device"
	"pgrlab/core/op"
)

// AdamConfig holds the constants of an optimiser.
type AdamConfig struct {
	Rule              Rule
	Beta1, Beta2, Eps float64
	WeightDecay       float64 // decoupled, as in AdamW; 0: plain Adam
	ClipNorm          float64 // bound on the gradient's global norm; 0: none
	// ClipTensor bounds the norm of each tensor's gradient by a share of the tensor's own norm; see
	// device.Adam. 0: no bound.
	ClipTensor float64
}

// Rule is the order in which an optimiser scales and averages.
type Rule = device.Rule

// The rules; see package device.
const (
	RuleAdam   = device.RuleAdam
	RuleLaProp = device.RuleLaProp
)

// DefaultAdam holds PyTorch's defaults.
var DefaultAdam = AdamConfig{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8}

// DefaultLaProp holds DreamerV3's constants (Hafner et al. 2025, Nature; danijar/dreamerv3
// dreamerv3/configs.yaml). Its warm-up is in the rate: at first 0, then rising in equal steps.
var DefaultLaProp = AdamConfig{Rule: RuleLaProp, Beta1: 0.9, Beta2: 0.999, Eps: 1e-20, ClipTensor: 0.3}

// Adam is an optimiser with its moments (Kingma and Ba 2015; with weight decay, Loshchilov and
// Hutter 2019; by RuleLaProp, Ziyin, Wang and Ueda 2020). Rate is the learning rate, a tensor [1] that may change between runs.
type Adam struct {
	AdamConfig
	Params []*op.Tensor
	// L2 has a number c for each parameter: c·w is added to its gradient, as if the loss had a term
	// ½c‖w‖². nil: none is added.
	L2   []float64
	Rate *op.Tensor
	M, V []*op.Tensor
	T    uint64 // steps taken

	dev   device.Device // device of the programs that step it; nil before the first one
	whole *Adam         // the optimiser whose steps are counted; nil: this one
}

// NewAdam returns an optimiser of the given parameters at step 0.
func NewAdam(params []*op.Tensor, c AdamConfig, rate *op.Tensor) *Adam {
	a := &Adam{AdamConfig: c, Params: params, Rate: rate}
	for _, p := range params {
		a.M = append(a.M, op.NewTensor(p.Name+".m", p.Shape...))
		a.V = append(a.V, op.NewTensor(p.Name+".v", p.Shape...))
	}
	return a
}

// Only returns a view of a for programs that step only some of its parameters and leave the others
// unchanged. The moments and the step count remain those of a, and a is what is saved and loaded.
// Only panics if a parameter does not belong to a.
func (a *Adam) Only(params []*op.Tensor) *Adam {
	some := &Adam{AdamConfig: a.AdamConfig, Params: params, Rate: a.Rate, whole: a}
	for _, p := range params {
		at := slices.Index(a.Params, p)
		if at < 0 {
			panic("plan: " + p.Name + " is no parameter of the optimiser")
		}
		some.M, some.V = append(some.M, a.M[at]), append(some.V, a.V[at])
		if a.L2 != nil {
			some.L2 = append(some.L2, a.L2[at])
		}
	}
	return some
}

// counter returns the address of the step count.
func (a *Adam) counter() *uint64 {
	if a.whole != nil {
		return &a.whole.T
	}
	return &a.T
}

// steppedOn records the device of a program that steps a.
func (a *Adam) steppedOn(dev device.Device) {
	if a.dev = dev; a.whole != nil {
		a.whole.dev = dev
	}
}

// Reset clears the moments and the step count.
func (a *Adam) Reset() error {
	a.T = 0
	for i := range a.M {
		clear(a.M[i].Data)
		clear(a.V[i].Data)
	}
	return Push(a.dev, a.moments()...)
}

func (a *Adam) moments() []*op.Tensor { return append(append([]*op.Tensor(nil), a.M...), a.V...) }

// Save writes the moments and the number of steps; the parameters are saved by their owner.
func (a *Adam) Save(w io.Writer) error {
	if err := binary.Write(w, binary.LittleEndian, a.T); err != nil {
		return fmt.Errorf("save optimiser: %w", err)
	}
	return Save(a.dev, w, a.moments())
}

// Load reads what Save wrote.
func (a *Adam) Load(r io.Reader) error {
	if err := binary.Read(r, binary.LittleEndian, &a.T); err != nil {
		return fmt.Errorf("load optimiser: %w", err)
	}
	return Load(a.dev, r, a.moments())
}

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
	Beta1, Beta2, Eps float64
	WeightDecay       float64 // decoupled, as AdamW; 0: Adam
	ClipNorm          float64 // bound of the gradient's global norm; 0: none
}

// DefaultAdam is PyTorch's default.
var DefaultAdam = AdamConfig{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8}

// Adam is an optimiser with its moments (Kingma and Ba 2015; with weight decay
// Loshchilov and Hutter 2019). Rate is the learning rate, a tensor [1] that may
// change between runs.
type Adam struct {
	AdamConfig
	Params []*op.Tensor
	Rate   *op.Tensor
	M, V   []*op.Tensor
	T      uint64 // steps taken

	dev   device.Device // of the programs that step it; nil before the first
	whole *Adam         // whose steps are counted; nil: its own are
}

// NewAdam returns an optimiser of parameters at step 0.
func NewAdam(params []*op.Tensor, c AdamConfig, rate *op.Tensor) *Adam {
	a := &Adam{AdamConfig: c, Params: params, Rate: rate}
	for _, p := range params {
		a.M = append(a.M, op.NewTensor(p.Name+".m", p.Shape...))
		a.V = append(a.V, op.NewTensor(p.Name+".v", p.Shape...))
	}
	return a
}

// Only is a for programs that step some of its parameters and leave the others where they
// are. Moments and steps stay a's, which is what is saved and loaded. It panics where a
// parameter is none of a's.
func (a *Adam) Only(params []*op.Tensor) *Adam {
	some := &Adam{AdamConfig: a.AdamConfig, Params: params, Rate: a.Rate, whole: a}
	for _, p := range params {
		at := slices.Index(a.Params, p)
		if at < 0 {
			panic("plan: " + p.Name + " is no parameter of the optimiser")
		}
		some.M, some.V = append(some.M, a.M[at]), append(some.V, a.V[at])
	}
	return some
}

// counter is where the steps are counted.
func (a *Adam) counter() *uint64 {
	if a.whole != nil {
		return &a.whole.T
	}
	return &a.T
}

// steppedOn notes the device of a program that steps it.
func (a *Adam) steppedOn(dev device.Device) {
	if a.dev = dev; a.whole != nil {
		a.whole.dev = dev
	}
}

// Reset forgets the moments and the steps.
func (a *Adam) Reset() error {
	a.T = 0
	for i := range a.M {
		clear(a.M[i].Data)
		clear(a.V[i].Data)
	}
	return Push(a.dev, a.moments()...)
}

func (a *Adam) moments() []*op.Tensor { return append(append([]*op.Tensor(nil), a.M...), a.V...) }

// Save writes the moments and the number of steps; parameters are their owner's.
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

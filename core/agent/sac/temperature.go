package sac

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"pgrlab/core/device"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// temperature is α with its Adam on log α (Haarnoja et al. 2018b, equation 18).
// Since α is one number, its step is written out here instead of built as a graph.
type temperature struct {
	alpha  *op.Tensor // [1], α as the programs read it
	target float64    // H̄
	adam   plan.AdamConfig
	rate   float64 // of the next step
	adamState

	// If the device makes the steps, it holds the state, and adamState is as old as the
	// last save or load.
	dev   device.Sequencer // nil if the host makes the steps
	state *op.Tensor       // [8], log α, m, v and T as words of 64 bits
}

// adamState is what a checkpoint keeps, in this order.
type adamState struct {
	LogAlpha, M, V float64
	T              uint64
	Alpha          float32 // differs from exp(log α) before the first step
}

func newTemperature(c Config, dev device.Device) *temperature {
	// H̄ = −dim(A): SynthER and PGR force target_entropy = 'auto'
	t := &temperature{alpha: op.NewTensor("alpha", 1), target: cmp.Or(c.TargetEntropy, -float64(c.Act)), adam: plan.DefaultAdam}
	t.alpha.Data[0] = float32(c.InitialAlpha)
	if dev, all := dev.(device.Sequencer); all {
		t.dev, t.state = dev, op.NewTensor("temperature", 8)
	}
	return t
}

// program compiles the program that makes steps on the log π [B,1] of batches.
func (t *temperature) program(logp *op.Tensor) (*plan.Program, error) {
	p, err := plan.CompileRoutine("temperature", plan.Temperature{
		LogP: logp, State: t.state, Alpha: t.alpha, Rate: &t.rate, Target: t.target, AdamConfig: t.adam,
	}, t.dev)
	if err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	return p, nil
}

// read takes over α from the result of a step on the device and returns its loss.
func (t *temperature) read(result []float32) (loss float64) {
	t.alpha.Data[0] = result[1]
	return float64(result[0])
}

// step makes one step on the log π of a batch; it returns the loss before the step.
func (t *temperature) step(logp []float32) (loss float64) {
	sum := 0.0
	for _, v := range logp {
		sum += float64(v) + t.target
	}
	gradient := -sum / float64(len(logp))
	loss = t.LogAlpha * gradient
	t.T++
	t.M = t.adam.Beta1*t.M + (1-t.adam.Beta1)*gradient
	t.V = t.adam.Beta2*t.V + (1-t.adam.Beta2)*gradient*gradient
	m := t.M / (1 - math.Pow(t.adam.Beta1, float64(t.T)))
	v := t.V / (1 - math.Pow(t.adam.Beta2, float64(t.T)))
	t.LogAlpha -= t.rate * m / (math.Sqrt(v) + t.adam.Eps)
	t.alpha.Data[0] = float32(math.Exp(t.LogAlpha))
	return loss
}

// Save writes α and the state of its optimiser, Load reads them.
func (t *temperature) Save(w io.Writer) error {
	if err := t.fetch(); err != nil {
		return err
	}
	t.Alpha = t.alpha.Data[0]
	return binary.Write(w, binary.LittleEndian, t.adamState)
}

func (t *temperature) Load(r io.Reader) error {
	if err := binary.Read(r, binary.LittleEndian, &t.adamState); err != nil {
		return err
	}
	t.alpha.Data[0] = t.Alpha
	return t.push()
}

// fetch copies the device's state to adamState.
func (t *temperature) fetch() error {
	if t.dev == nil {
		return nil
	}
	if err := plan.Fetch(t.dev, t.state, t.alpha); err != nil {
		return err
	}
	word := func(i int) uint64 {
		return uint64(math.Float32bits(t.state.Data[2*i])) | uint64(math.Float32bits(t.state.Data[2*i+1]))<<32
	}
	t.LogAlpha, t.M, t.V, t.T = math.Float64frombits(word(0)), math.Float64frombits(word(1)), math.Float64frombits(word(2)), word(3)
	return nil
}

// push copies adamState to the device.
func (t *temperature) push() error {
	if t.dev == nil {
		return nil
	}
	for i, word := range []uint64{math.Float64bits(t.LogAlpha), math.Float64bits(t.M), math.Float64bits(t.V), t.T} {
		t.state.Data[2*i], t.state.Data[2*i+1] = math.Float32frombits(uint32(word)), math.Float32frombits(uint32(word>>32))
	}
	return plan.Push(t.dev, t.state, t.alpha)
}

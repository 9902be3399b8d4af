package agent

import (
	"encoding/binary"
	"io"
	"math"

	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// temperature is α with its Adam on log α (Haarnoja et al. 2018b, equation 18).
// It is one number: its step is written out here instead of drawn as a graph.
type temperature struct {
	alpha  *op.Tensor // [1], α as the programs read it
	target float64    // H̄
	adam   plan.AdamConfig
	adamState
}

// adamState is what a checkpoint keeps, in this order.
type adamState struct {
	LogAlpha, M, V float64
	T              uint64
	Alpha          float32 // differs from exp(log α) before the first step
}

func newTemperature(c Config) *temperature {
	t := &temperature{alpha: op.NewTensor("alpha", 1), target: c.TargetEntropy, adam: plan.DefaultAdam}
	if t.target == 0 {
		t.target = -float64(c.Act)
	}
	t.alpha.Data[0] = float32(c.InitialAlpha)
	return t
}

// step is one step on the log π of a batch; it returns the loss before it.
func (t *temperature) step(logp []float32, rate float64) (loss float64) {
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
	t.LogAlpha -= rate * m / (math.Sqrt(v) + t.adam.Eps)
	t.alpha.Data[0] = float32(math.Exp(t.LogAlpha))
	return loss
}

func (t *temperature) save(w io.Writer) error {
	t.Alpha = t.alpha.Data[0]
	return binary.Write(w, binary.LittleEndian, t.adamState)
}

func (t *temperature) load(r io.Reader) error {
	if err := binary.Read(r, binary.LittleEndian, &t.adamState); err != nil {
		return err
	}
	t.alpha.Data[0] = t.Alpha
	return nil
}

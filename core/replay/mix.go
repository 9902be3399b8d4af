package replay

import (
	"errors"
	"fmt"
	"math"

	"pgrlab/core/rng"
)

// Mix is how many rows of a batch are real and how many synthetic.
type Mix struct{ Real, Synthetic int }

// Size is the number of rows.
func (m Mix) Size() int { return m.Real + m.Synthetic }

// Plan splits a batch by r, the share of synthetic rows (Wang et al. 2025,
// Algorithm 1, line 7): int(batch·r) rows are synthetic, and all are real while
// fewer than that are available (conglu1997/SynthER:
// synther/online/redq_rlpd_agent.py).
func Plan(batch int, ratio float64, available int) Mix {
	return Mix{Real: batch}.mixed(int(float64(batch)*ratio), available)
}

// PlanHolding makes a batch grow with r so that its real rows stay: real/(1−r)
// rows, as in the paper's scaling of 128 real rows by r = 0.5, 0.75, 0.875 to
// 256, 512, 1024. All rows are real while the synthetic ones are not available.
// At r = 1 no batch is large enough, which is an error, as is a batch above most.
func PlanHolding(real int, ratio float64, available, most int) (Mix, error) {
	size := math.Round(float64(real) / (1 - ratio))
	if !(size <= float64(most)) { // also for r = 1
		return Mix{}, fmt.Errorf("hold %d real rows at a synthetic ratio of %g: the batch would be larger than %d rows", real, ratio, most)
	}
	return Mix{Real: int(size)}.mixed(int(size)-real, available), nil
}

// mixed turns synthetic of the real rows into synthetic ones if they are there.
func (m Mix) mixed(synthetic, available int) Mix {
	if synthetic > available {
		return m
	}
	return Mix{Real: m.Real - synthetic, Synthetic: synthetic}
}

// Mixer draws batches from D_real and D_syn.
type Mixer struct {
	stream rng.Stream
	slots  []int
}

// NewMixer returns a mixer on a stream of its own.
func NewMixer(s rng.Stream) *Mixer { return &Mixer{stream: s} }

// Draw fills b with mix.Real rows of real and then mix.Synthetic rows of
// synthetic, uniformly and with replacement; synthetic may be nil where no row is
// synthetic. The same occasion on the same rings draws the same batch. It does
// not allocate once a batch of that size was drawn.
func (m *Mixer) Draw(b *Batch, real, synthetic *Ring, mix Mix, occasion uint64) error {
	if mix.Size() != b.Size || mix.Real < 0 || mix.Synthetic < 0 {
		return fmt.Errorf("draw batch: %d real and %d synthetic rows for a batch of %d", mix.Real, mix.Synthetic, b.Size)
	}
	if mix.Real > 0 && real.Len() == 0 {
		return errors.New("draw batch: there are no real transitions")
	}
	if mix.Synthetic > 0 && (synthetic == nil || synthetic.Len() == 0) {
		return errors.New("draw batch: there are no synthetic transitions")
	}
	if cap(m.slots) < b.Size {
		m.slots = make([]int, b.Size)
	}
	slots := m.slots[:b.Size]
	q := m.stream.At(occasion)
	for i := range slots {
		if i < mix.Real {
			slots[i] = q.IntN(real.Len())
		} else {
			slots[i] = q.IntN(synthetic.Len())
		}
	}
	real.Gather(b, 0, slots[:mix.Real])
	if mix.Synthetic > 0 {
		synthetic.Gather(b, mix.Real, slots[mix.Real:])
	}
	return nil
}

package replay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"pgrlab/core/rng"
)

// PriorityConfig holds the constants of prioritized sampling.
type PriorityConfig struct {
	Alpha   float64 // exponent; 0 is uniform
	Epsilon float64 // added to every priority, so that none is zero
}

// Validate says in one line what is wrong with c, or returns nil.
func (c PriorityConfig) Validate() error {
	if !(c.Alpha >= 0) || math.IsInf(c.Alpha, 0) {
		return fmt.Errorf("priorities: alpha is %g, want a number from 0 on", c.Alpha)
	}
	if !(c.Epsilon > 0) || math.IsInf(c.Epsilon, 0) {
		return fmt.Errorf("priorities: epsilon is %g, want a positive number: no transition may be out of reach", c.Epsilon)
	}
	return nil
}

// Prioritized samples transitions of one ring by priority, the proportional variant of Schaul et
// al., "Prioritized experience replay", ICLR 2016:
//
//	P(i) = (pᵢ+ε)^α / Σ (pₖ+ε)^α
//	wᵢ = (N·P(i))^−β / max over the batch of w
//
// A batch of n takes one sample from each n-th of the total, as in the paper (appendix B.2.1): each
// transition is expected as often as in independent samples, and batches vary less. New transitions
// get the largest weight present, so that each is seen. A Prioritized belongs to one goroutine.
type Prioritized struct {
	config PriorityConfig
	stream rng.Stream
	tree   sumTree
	length int   // slots that have a weight
	rows   []int // of the last sample
}

// NewPrioritized returns the priorities of an empty ring, with samples drawn from a stream. It
// panics if the constants are out of range.
func NewPrioritized(c PriorityConfig, s rng.Stream) *Prioritized {
	if err := c.Validate(); err != nil {
		panic("replay: " + err.Error())
	}
	return &Prioritized{config: c, stream: s}
}

// Len is the number of slots that have a priority.
func (p *Prioritized) Len() int { return p.length }

// Added gives the transition that was just written to a slot the largest weight present, or the
// weight of priority 1 if there is none.
func (p *Prioritized) Added(slot int) {
	weight := p.tree.most()
	if weight == 0 {
		weight = p.weight(1)
	}
	p.tree.grow(slot + 1)
	p.tree.set(slot, weight)
	p.length = max(p.length, slot+1)
}

// weight is (p+ε)^α.
func (p *Prioritized) weight(priority float64) float64 {
	return math.Pow(priority+p.config.Epsilon, p.config.Alpha)
}

// Probability is P of a slot.
func (p *Prioritized) Probability(slot int) float64 {
	return p.tree.weights(p.length)[slot] / p.tree.total()
}

// Sample fills a batch from the ring whose transitions have these priorities, with
// the importance weights for beta in b.Weight. Which rows it gets is a function of
// the occasion and of the priorities. It does not allocate once it has sampled a
// batch of that size.
func (p *Prioritized) Sample(b *Batch, from *Ring, beta float64, occasion uint64) error {
	if from.Len() == 0 || from.Len() != p.length {
		return fmt.Errorf("sample by priority: %d priorities for %d transitions", p.length, from.Len())
	}
	if len(b.Weight) < b.Size {
		return errors.New("sample by priority: the batch has no room for weights")
	}
	if cap(p.rows) < b.Size {
		p.rows = make([]int, b.Size)
	}
	p.rows = p.rows[:b.Size]
	q, part := p.stream.At(occasion), p.tree.total()/float64(b.Size)
	weights, least := p.tree.weights(p.length), math.Inf(1)
	for i := range p.rows {
		row := p.tree.find((float64(i) + q.Float64()) * part)
		p.rows[i] = row
		least = min(least, weights[row])
	}
	d := &b.sampling
	d.mix, d.rings, d.rows = Mix{Real: b.Size}, [2]*Ring{from, nil}, append(d.rows[:0], p.rows...)
	b.fill()
	// The transition of the least weight has the largest w, and N and the total
	// cancel out.
	for i, row := range p.rows {
		b.Weight[i] = float32(math.Pow(weights[row]/least, -beta))
	}
	return nil
}

// Rows are the slots of the last sample, one for each row of the batch; a slot that was sampled
// twice appears twice.
func (p *Prioritized) Rows() []int { return p.rows }

// Update gives the transitions of the last sample new priorities, at least 0, one for each row of
// the batch. A priority that is not finite changes nothing, so that a diverged loss does not spoil
// the sums of the tree.
func (p *Prioritized) Update(priorities []float32) {
	for i, row := range p.rows {
		weight := p.weight(math.Abs(float64(priorities[i])))
		if !math.IsNaN(weight) && !math.IsInf(weight, 0) {
			p.tree.set(row, weight)
		}
	}
}

// Save writes the weights: their number as a little-endian uint64, then each
// as a float64. Sums and maxima follow from them.
func (p *Prioritized) Save(w io.Writer) error {
	buf := binary.LittleEndian.AppendUint64(nil, uint64(p.length))
	for i, weight := range p.tree.weights(p.length) {
		buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(weight))
		if len(buf) >= fileRows*64 || i == p.length-1 {
			if _, err := w.Write(buf); err != nil {
				return fmt.Errorf("save priorities: %w", err)
			}
			buf = buf[:0]
		}
	}
	if _, err := w.Write(buf); err != nil {
		return fmt.Errorf("save priorities: %w", err)
	}
	return nil
}

// Load replaces the priorities by those that Save wrote. It reads no byte beyond them. After an
// error there are no priorities.
func (p *Prioritized) Load(src io.Reader) error {
	p.tree, p.length, p.rows = sumTree{}, 0, nil
	if err := p.load(src); err != nil {
		p.tree, p.length = sumTree{}, 0
		return fmt.Errorf("load priorities: %w", err)
	}
	return nil
}

func (p *Prioritized) load(src io.Reader) error {
	var length uint64
	if err := binary.Read(src, binary.LittleEndian, &length); err != nil {
		return err
	}
	buf := make([]byte, fileRows*8)
	for first := uint64(0); first < length; first += fileRows {
		block := buf[:8*min(fileRows, length-first)]
		if _, err := io.ReadFull(src, block); err != nil {
			return fmt.Errorf("priority %d: %w", first, err)
		}
		p.tree.grow(int(first) + len(block)/8)
		for i := 0; i < len(block); i += 8 {
			weight := math.Float64frombits(binary.LittleEndian.Uint64(block[i:]))
			if !(weight > 0) || math.IsInf(weight, 0) {
				return fmt.Errorf("priority %d has weight %g", first+uint64(i/8), weight)
			}
			p.tree.set(int(first)+i/8, weight)
		}
	}
	p.length = int(length)
	return nil
}

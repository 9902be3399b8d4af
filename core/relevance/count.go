package relevance

import (
	"fmt"
	"math"
	"slices"

	"pgrlab/core/replay"
)

// CountConfig describes a density of states and actions for pseudo-counts.
type CountConfig struct {
	Bins  int `toml:"-"` // of each dimension; the paper's images have 8 greys
	Depth int `toml:"-"` // neighbours that a dimension may depend on
}

// DefaultCount is the configuration that the paper names, 8 bins, with the depth of
// the reference (mgbellemare/SkipCTS: four neighbours).
func DefaultCount() CountConfig { return CountConfig{Bins: 8, Depth: 4} }

var _ = register(Spec{
	Name: "count", Doc: "rarity by pseudo-counts, from a density model by context-tree switching", Equation: "(N̂(s,a) + 0.01)^(−1/2)",
	Source:   "Wang et al. 2025, equation 7; Bellemare et al. 2016",
	Learning: LearnsFromScratch,
	Config:   DefaultCount(),
	New: func(d Deps) (Function, error) {
		if d.Frames.Side > 0 {
			return NewFrameCount(d.Config.(CountConfig), d.Shape, d.Frames, d.Device)
		}
		return NewCount(d.Config.(CountConfig), d.Shape)
	},
})

// Validate says in one line what is wrong with c, or returns nil.
func (c CountConfig) Validate() error {
	switch {
	case c.Bins < 2 || c.Bins > 256:
		return fmt.Errorf("count: bins is %d, want 2 to 256", c.Bins)
	case c.Depth < 0 || c.Depth > 16:
		return fmt.Errorf("count: depth is %d, want 0 to 16", c.Depth)
	}
	return nil
}

// Memory is the initial size of the trees. They grow with what they see, up to a node for each
// context that occurs.
func (c CountConfig) Memory(shape replay.Shape) float64 {
	return float64(shape.Obs+shape.Act) * (8*float64(c.Bins) + 12)
}

// Count is F = (N̂ + 0.01)^{−1/2}, where N̂ is the pseudo-count of (s, a) under a density ρ of the
// real transitions (Bellemare et al. 2016, equations 2 and 4):
//
//	N̂ = ρ(1−ρ')/(ρ'−ρ), ρ' = ρ after one more observation of (s, a)
//
// ρ is a product over the binned dimensions of [s, a]. Each has a contextTree whose context is the
// dimensions to the left; missing dimensions count as bin 0. The paper has images of 42 × 42 pixels
// in place of s, as FrameCount does, and computes N̂ when a transition arrives. For states it is
// cheap to compute N̂ again: the density is rebuilt from all real transitions before each refit,
// with bins that fit them, and then gives F of each. A Count belongs to one goroutine.
type Count struct {
	config    CountConfig
	shape     replay.Shape
	low, step []float64 // of the bins of [s, a]
	trees     []*contextTree
	seen      uint64

	symbols, context []uint8
}

// NewCount returns a density that has seen nothing.
func NewCount(c CountConfig, shape replay.Shape) (*Count, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	n := shape.Obs + shape.Act
	m := &Count{config: c, shape: shape, low: make([]float64, n), step: make([]float64, n), symbols: make([]uint8, n+c.Depth), context: make([]uint8, c.Depth)}
	m.Begin(nil, 0)
	return m, nil
}

// Name is "count".
func (*Count) Name() string { return "count" }

// Seen is how many transitions the density has seen since Begin.
func (m *Count) Seen() uint64 { return m.seen }

// Close releases nothing.
func (*Count) Close() error { return nil }

// Begin forgets everything and fits the bins to rows transitions. The bins have equal width between
// the 1 % and the 99 % quantile of each observation, or between −1 and 1 for actions; the outer
// bins are open.
func (m *Count) Begin(sample *replay.Batch, rows int) {
	m.seen = 0
	m.trees = m.trees[:0]
	for range m.low {
		m.trees = append(m.trees, newContextTree(m.config.Bins, m.config.Depth))
	}
	column := make([]float32, rows)
	for k := range m.low {
		low, high := -1.0, 1.0
		if k < m.shape.Obs && rows > 0 {
			for i := range column {
				column[i] = sample.Obs[i*m.shape.Obs+k]
			}
			slices.Sort(column)
			low, high = float64(column[(rows-1)/100]), float64(column[rows-1-(rows-1)/100])
		}
		m.low[k], m.step[k] = low, (high-low)/float64(m.config.Bins)
	}
}

// bin is the symbol of dimension k. A dimension without a range has one bin.
func (m *Count) bin(k int, v float32) uint8 {
	place := math.Floor((float64(v) - m.low[k]) / m.step[k])
	if !(place > 0) { // also NaN: 0/0 where the range is empty
		return 0
	}
	return uint8(min(place, float64(m.config.Bins-1)))
}

// read writes the symbols of a transition after Depth missing ones.
func (m *Count) read(b *replay.Batch, i int) []uint8 {
	o, a, missing := m.shape.Obs, m.shape.Act, m.config.Depth
	for k := range o {
		m.symbols[missing+k] = m.bin(k, b.Obs[i*o+k])
	}
	for k := range a {
		m.symbols[missing+o+k] = m.bin(o+k, b.Act[i*a+k])
	}
	return m.symbols
}

// before is the context of dimension k: its neighbours on the left, the nearest first.
func (m *Count) before(symbols []uint8, k int) []uint8 {
	for j := range m.context {
		m.context[j] = symbols[m.config.Depth+k-1-j]
	}
	return m.context
}

// Observe updates the density with rows transitions, in their order.
func (m *Count) Observe(b *replay.Batch, rows int) error {
	for i := range rows {
		m.seen++
		alpha, symbols := switching(m.seen), m.read(b, i)
		for k, t := range m.trees {
			t.update(m.before(symbols, k), symbols[m.config.Depth+k], alpha)
		}
	}
	return nil
}

// Score writes F of transitions without updating the density.
func (m *Count) Score(dst []float32, b *replay.Batch, rows int) error {
	for i := range rows {
		dst[i] = float32(1 / math.Sqrt(m.pseudoCount(b, i)+0.01))
	}
	return nil
}

// pseudoCount is N̂ of transition i.
func (m *Count) pseudoCount(b *replay.Batch, i int) float64 {
	alpha, symbols := switching(m.seen+1), m.read(b, i)
	logNow, logAfter := 0.0, 0.0
	for k, t := range m.trees {
		now, after := t.look(m.before(symbols, k), symbols[m.config.Depth+k], alpha)
		logNow += math.Log(now)
		logAfter += math.Log(after)
	}
	return pseudoCount(logNow, logAfter)
}

// pseudoCount computes N̂ from ln ρ and ln ρ'. Probabilities of a whole vector are as small as
// e^{−1000}, but N̂ = (1−ρ')/(ρ'/ρ − 1) needs only their quotient.
func pseudoCount(logNow, logAfter float64) float64 {
	return -math.Expm1(logAfter) / math.Max(math.Expm1(logAfter-logNow), 1e-10)
}

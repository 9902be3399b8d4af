package relevance

import (
	"fmt"
	"io"

	"pgrlab/core/nn"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// Save writes the networks and which looks of the log are remembered.
func (m *ECO) Save(w io.Writer) error {
	parts, s := m.parts(), &m.memories
	for i, n := range s.n {
		parts = append(append(parts, uint32(n)), s.parts(i)...)
	}
	if err := plan.SaveAll(w, parts...); err != nil {
		return fmt.Errorf("save eco: %w", err)
	}
	return nil
}

// parts are what a file begins with: the counters, the networks and their optimiser.
func (m *ECO) parts() []any {
	return []any{&m.rounds, &m.accuracy, &m.met, &m.history.met, plan.Tensors{Device: m.device, Of: m.net.state()}, m.programs.optimiser}
}

// parts are what follows the size of a copy's memory.
func (s *memories) parts(i int) []any {
	return []any{s.seenOf(i), s.keysOf(i), s.placesOf(i), &s.joined[i]}
}

// Load reads what Save wrote for the same settings, after the log was loaded; a round that was under way continues. On an
// error m must not be used any further.
func (m *ECO) Load(r io.Reader) error {
	if err := m.load(r); err != nil {
		return fmt.Errorf("load eco: %w", err)
	}
	return nil
}

func (m *ECO) load(r io.Reader) error {
	if err := plan.LoadAll(r, m.parts()...); err != nil {
		return err
	}
	m.pairs.of = 0
	h := &m.history
	if h.born = h.log.Steps() - h.met; h.met > h.log.Steps() || !h.log.Holds(h.log.Steps()-uint64(h.filled())) {
		return fmt.Errorf("a history of %d env steps after %d, of which not all are held", h.filled(), h.log.Steps())
	}
	s := &m.memories
	for i := range s.n {
		if err := s.load(r, i); err != nil {
			return err
		}
	}
	return nil
}

// load reads a copy's memory.
func (s *memories) load(r io.Reader, i int) error {
	var n uint32
	if err := plan.LoadAll(r, &n); err != nil {
		return err
	}
	if int64(n) > int64(s.size) {
		return fmt.Errorf("a memory of %d observations, the most are %d", n, s.size)
	}
	s.forget(i)
	s.n[i] = int(n)
	if err := plan.LoadAll(r, s.parts(i)...); err != nil {
		return err
	}
	for _, seen := range s.seenOf(i) {
		s.log.Pin(seen)
	}
	if s.joined[i] < -1 || int64(s.joined[i]) >= int64(n) {
		return fmt.Errorf("the last env step made entry %d of %d", s.joined[i], n)
	}
	return nil
}

// MemoryIn estimates how many bytes an ECO takes for that many copies of the environment, with
// frames if f is not zero, without the log; the estimate is never much too high. It does not overflow.
func (c ECOConfig) MemoryIn(shape replay.Shape, f Frames, copies int) float64 {
	width, obs := float64(c.Comparator[0]), float64(shape.Obs)
	embedding, made := c.embeddingSize(shape.Obs, f)
	rows := float64(c.embedded(f, copies))
	looked := (8*float64(c.Batch) + 2*rows) * (obs + made)
	if f.Side > 0 { // the convolutions' outputs are kept once for the forward and once for the backward pass
		obs = float64(f.size())
		looked = (2*float64(c.Batch) + rows) * (obs + 2*made)
	}
	parameters := embedding + nn.Parameters(append([]int{2 * c.Features}, c.Comparator...)...)
	compared := 0.0
	for _, w := range append([]int{c.Features}, c.Comparator...) {
		compared += 2 * float64(w)
	}
	numbers := 6*parameters + looked + (4*float64(c.Batch)+rows+comparedRows)*compared
	numbers += float64(copies) * float64(c.Entries) * (width + 6)
	numbers += float64(c.History) * (0.25 + 1) // a pair for every two transitions at most: 12 bytes, and its place in an order
	return 4 * numbers
}

// Memory is MemoryIn for one copy, without frames.
func (c ECOConfig) Memory(shape replay.Shape) float64 { return c.MemoryIn(shape, Frames{}, 1) }

// MemoryOfFrames is MemoryIn for one copy.
func (c ECOConfig) MemoryOfFrames(shape replay.Shape, f Frames) float64 {
	return c.MemoryIn(shape, f, 1)
}

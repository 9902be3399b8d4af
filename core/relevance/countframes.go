package relevance

import (
	"fmt"
	"io"
	"math"

	"pgrlab/core/device"
	"pgrlab/core/replay"
)

// FrameCount is Count for frames, as in Bellemare et al. 2016: s is the newest frame, in grey, 42 ×
// 42 pixels of CountConfig.Bins values. ρ is a product over the pixels and over the dimensions of
// a. Each pixel has a contextTree of its own whose context is the neighbours on the left, above,
// above left and above right, in this order of importance; the dimensions of a have theirs as in
// Count. Neighbours outside the picture count as 0.
//
// Observing or scoring a frame takes 0.1 to 0.2 ms, a few hundredths of the time that encoding it
// takes, so the density is rebuilt from all real transitions before each refit, as for states.
// Positions are divided among the device's workers; each tree sees the frames in their order. A
// FrameCount belongs to one goroutine.
type FrameCount struct {
	config CountConfig
	act    int
	grey   *grey
	trees  []*contextTree // of pixels, line by line, and of the dimensions of a
	seen   uint64

	batch          *replay.Batch // of the work under way, which covers rows transitions from first on
	first, rows    int
	symbols        []uint8   // [sliceRows, pixels+A]
	logs           []float64 // ln ρ and ln ρ′ of blocks of positions, [blocks, sliceRows, 2]
	read, see, ask func()
}

const (
	pixels    = greySide * greySide
	sliceRows = 128 // transitions that are processed together: a tree stays in cache while it sees them
	// blockSize is how many positions are multiplied before the logarithm is taken: a factor is at
	// least a billionth.
	blockSize = 21
	nearest   = 4 // most neighbours in a pixel's context
)

// NewFrameCount returns a density that has seen nothing.
func NewFrameCount(c CountConfig, shape replay.Shape, f Frames, dev device.Device) (*FrameCount, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := c.ValidateFrames(f); err != nil {
		return nil, err
	}
	m := &FrameCount{config: c, act: shape.Act, grey: newGrey(f.Side, c.Bins)}
	m.symbols = make([]uint8, sliceRows*m.positions())
	m.logs = make([]float64, m.blocks()*sliceRows*2)
	m.read, m.see, m.ask = shared(dev, m.readPart), shared(dev, m.seePart), shared(dev, m.askPart)
	m.Begin(nil, 0)
	return m, nil
}

// positions is how many trees there are.
func (m *FrameCount) positions() int { return pixels + m.act }

// blocks is how many parts the product over the positions has.
func (m *FrameCount) blocks() int { return (m.positions() + blockSize - 1) / blockSize }

// ValidateFrames refuses a context that goes beyond a pixel's neighbours.
func (c CountConfig) ValidateFrames(f Frames) error {
	if f.Side > 0 && c.Depth > nearest {
		return fmt.Errorf("count: depth is %d, want 0 to %d: a pixel has so many neighbours that come before it", c.Depth, nearest)
	}
	return nil
}

// Name is "count".
func (*FrameCount) Name() string { return "count" }

// Seen is how many transitions the density has seen since Begin.
func (m *FrameCount) Seen() uint64 { return m.seen }

// Slice is how many transitions are processed together.
func (*FrameCount) Slice() int { return sliceRows }

// Close releases nothing.
func (*FrameCount) Close() error { return nil }

// Begin forgets everything. The bins are fixed: those of bytes for pixels, and between −1 and 1 for
// actions.
func (m *FrameCount) Begin(*replay.Batch, int) {
	m.seen, m.trees = 0, make([]*contextTree, m.positions())
	for i := range m.trees {
		m.trees[i] = newContextTree(m.config.Bins, m.config.Depth)
	}
}

// Observe updates the density with rows transitions, in their order.
func (m *FrameCount) Observe(b *replay.Batch, rows int) error {
	if _, err := framesOf(m.Name(), b, rows); err != nil {
		return err
	}
	for first := 0; first < rows; first += sliceRows {
		m.take(b, first, min(sliceRows, rows-first))
		m.see()
		m.seen += uint64(m.rows)
	}
	return nil
}

// Score writes F of transitions without updating the density.
func (m *FrameCount) Score(dst []float32, b *replay.Batch, rows int) error {
	if _, err := framesOf(m.Name(), b, rows); err != nil {
		return err
	}
	for first := 0; first < rows; first += sliceRows {
		m.take(b, first, min(sliceRows, rows-first))
		m.ask()
		for i := range m.rows {
			now, after := 0.0, 0.0
			for block := range m.blocks() {
				logs := m.logs[(block*sliceRows+i)*2:]
				now, after = now+logs[0], after+logs[1]
			}
			dst[first+i] = float32(1 / math.Sqrt(pseudoCount(now, after)+0.01))
		}
	}
	return nil
}

// take reads the symbols of some transitions.
func (m *FrameCount) take(b *replay.Batch, first, rows int) {
	m.batch, m.first, m.rows = b, first, rows
	m.read()
}

func (m *FrameCount) readPart(part, parts int) {
	n := m.positions()
	for i := m.rows * part / parts; i < m.rows*(part+1)/parts; i++ {
		symbols, row := m.symbols[i*n:(i+1)*n], m.first+i
		stack := m.batch.Frames[row].Stack
		m.grey.picture(symbols, stack[len(stack)-1])
		for k, a := range m.batch.Act[row*m.act : (row+1)*m.act] {
			symbols[pixels+k] = m.bin(a)
		}
	}
}

// bin is the symbol of a dimension of an action.
func (m *FrameCount) bin(a float32) uint8 {
	place := math.Floor((float64(a) + 1) * float64(m.config.Bins) / 2)
	if !(place > 0) {
		return 0
	}
	return uint8(min(place, float64(m.config.Bins-1)))
}

// before writes the context of a position to dst, the nearest neighbour first.
func (m *FrameCount) before(dst []uint8, symbols []uint8, position int) []uint8 {
	dst = dst[:m.config.Depth]
	for i := range dst {
		dst[i] = 0
		if at := neighbour(position, i); at >= 0 {
			dst[i] = symbols[at]
		}
	}
	return dst
}

// neighbour is the i-th position in the context of another position, -1 if it is missing: left,
// above, above left and above right for a pixel, the dimensions to the left for a dimension of an
// action.
func neighbour(position, i int) int {
	if position >= pixels {
		if k := position - pixels; i < k {
			return position - 1 - i
		}
		return -1
	}
	y, x := position/greySide, position%greySide
	switch i {
	case 0:
		x--
	case 1:
		y--
	case 2:
		y, x = y-1, x-1
	case 3:
		y, x = y-1, x+1
	}
	if y < 0 || x < 0 || x >= greySide {
		return -1
	}
	return y*greySide + x
}

// seePart updates a part of the trees with all rows.
func (m *FrameCount) seePart(part, parts int) {
	var room [nearest]uint8
	n := m.positions()
	for p := n * part / parts; p < n*(part+1)/parts; p++ {
		tree := m.trees[p]
		for i := range m.rows {
			symbols := m.symbols[i*n : (i+1)*n]
			tree.update(m.before(room[:], symbols, p), symbols[p], switching(m.seen+1+uint64(i)))
		}
	}
}

// askPart computes ln ρ and ln ρ′ of all rows for a part of the blocks.
func (m *FrameCount) askPart(part, parts int) {
	blocks := m.blocks()
	for block := blocks * part / parts; block < blocks*(part+1)/parts; block++ {
		logs := m.logs[block*sliceRows*2 : (block+1)*sliceRows*2]
		for i := range logs {
			logs[i] = 1
		}
		for p := block * blockSize; p < min((block+1)*blockSize, m.positions()); p++ {
			m.multiply(logs, p)
		}
		for i, product := range logs[:2*m.rows] {
			logs[i] = math.Log(product)
		}
	}
}

// multiply multiplies the products of all rows by the probabilities that a position's tree gives
// now, and would give after one more observation.
func (m *FrameCount) multiply(products []float64, position int) {
	var room [nearest]uint8
	n, alpha, tree := m.positions(), switching(m.seen+1), m.trees[position]
	for i := range m.rows {
		symbols := m.symbols[i*n : (i+1)*n]
		now, after := tree.look(m.before(room[:], symbols, position), symbols[position], alpha)
		products[2*i] *= now
		products[2*i+1] *= after
	}
}

// frameNodes is about how many nodes a pixel's tree has in the end, over pictures of a task.
const frameNodes = 40

// MemoryOfFrames estimates the size of the trees. They grow with what they see, most of all if the
// picture moves.
func (c CountConfig) MemoryOfFrames(shape replay.Shape, f Frames) float64 {
	if f.Side == 0 {
		return c.Memory(shape)
	}
	return (pixels + float64(shape.Act)) * frameNodes * (8*float64(c.Bins) + 12)
}

// Save writes the trees, little-endian.
func (m *FrameCount) Save(w io.Writer) error {
	return saveTrees(w, m.config, m.seen, m.trees)
}

// Load reads what Save wrote for the same settings. On an error m must not be used any
// further.
func (m *FrameCount) Load(r io.Reader) (err error) {
	m.seen, err = loadTrees(r, m.config, m.trees)
	return err
}

package kernel

import (
	"cmp"
	"fmt"

	"pgrlab/core/device"
)

// Segment is what some consecutive instructions become together.
type Segment struct {
	First, Last int // instructions, both included
	Recipe      Recipe
	// Stacks lists buffers that the recipe takes for one array: each has to begin where the one before it ends.
	Stacks [][]device.Ref
	Standing
}

// Standing says which results of a segment may share memory, whether it runs as a whole or each instruction by
// itself. All are of one size.
type Standing struct {
	// Inside are results that the recipe does not write. They may stand where the segment's last one does.
	Inside []device.Ref
	// InPlace are pairs: a result may stand where an operand does, if nothing later reads that.
	InPlace [][2]device.Ref
}

// Segments returns the recipes of a program's instructions, in order. Consecutive small
// instructions are grouped into one launch if a row of the result needs no other row of what the
// group makes: at such sizes only the number of launches counts. A product is grouped with the
// elementwise instructions on its result, and with some on its operand. The numbers are those of Lower, to the last bit.
//
// Within a segment instructions run at the same time, and each block of threads has its own rows:
// no two buffers that a segment reads or writes may share memory, but where the Segment says so. A
// result that is read only inside the segment need not be written.
func Segments(p *device.Program, t Target) ([]Segment, error) {
	return segmentsOf(p, t, cmp.Or(t.Chain, shortestChain))
}

// shortestChain is the number of instructions from which a chain is quicker than the instructions'
// own kernels.
const shortestChain = 2

func segmentsOf(p *device.Program, t Target, shortest int) ([]Segment, error) {
	var segments []Segment
	u := usersOf(p)
	for i := 0; i < len(p.Instrs); {
		if s, ok := u.aroundProduct(p, i, t); ok {
			segments = append(segments, s)
			i = s.Last + 1
			continue
		}
		if s, ok, err := u.together(i, t); err != nil {
			return nil, err
		} else if ok {
			segments = append(segments, s)
			i = s.Last + 1
			continue
		}
		c := newChain(p, t)
		end := i
		for end < len(p.Instrs) && c.add(p.Instrs[end]) {
			end++
		}
		if end-i >= shortest {
			segments = append(segments, Segment{First: i, Last: end - 1, Recipe: c.recipe()})
			i = end
			continue
		}
		r, err := lower(p, i, t, u.packings)
		if err != nil {
			return nil, err
		}
		segments = append(segments, Segment{First: i, Last: i, Recipe: r})
		i++
	}
	return segments, nil
}

// chain collects the steps of a segment.
type chain struct {
	builder
	rows, width int
	table       Table
	steps       int
	wrote       map[any]bool   // memory that steps have written
	whole       map[any]bool   // memory that steps have read as a whole
	shapes      map[any][3]int // of memory that steps have touched row by row
}

func newChain(p *device.Program, t Target) *chain {
	return &chain{builder: builder{program: p, target: t}, wrote: map[any]bool{}, whole: map[any]bool{}, shapes: map[any][3]int{}}
}

// add appends an instruction, if it can be a step after those that are there.
func (c *chain) add(in device.Instr) bool {
	if in.Code < 0 || in.Code >= device.Codes || chainable[in.Code] == nil || grouped(in) || c.wider(in) || c.steps == longestChain {
		return false
	}
	members, rows, cols := c.shape(in.Out)
	if rows == 0 || members*rows*cols == 0 || members*rows*cols > chainElements || c.steps > 0 && rows != c.rows || len(in.In) > lineOperands {
		return false
	}
	c.in = in
	l := chainable[in.Code](&c.builder)
	if !c.fits(l, rows) {
		return false
	}
	for _, o := range l.operands {
		switch {
		case o.address != nil:
		case o.whole:
			c.whole[c.memory(o.ref)] = true
		default:
			c.touch(o.ref)
		}
	}
	c.wrote[c.memory(in.Out)] = true
	c.touch(in.Out)
	c.table = append(c.table, c.words(l)...)
	c.rows, c.steps, c.width = rows, c.steps+1, max(c.width, members*cols)
	if l.step >= stepTanhGaussian {
		c.width = max(c.width, 32*members)
	}
	return true
}

// fits reports whether a step stays within its rows: no step of the chain writes what it reads as a
// whole, what it touches by rows has the chain's rows, and each memory has only one shape.
func (c *chain) fits(l line, rows int) bool {
	out := c.memory(c.in.Out)
	if c.whole[out] || !c.alike(c.in.Out) {
		return false
	}
	for _, o := range l.operands {
		if o.address != nil {
			continue
		}
		m := c.memory(o.ref)
		if o.whole {
			if c.wrote[m] || m == out {
				return false
			}
			continue
		}
		if _, of, _ := c.shape(o.ref); of != rows || !c.alike(o.ref) || c.size(o.ref) > 4*chainElements {
			return false
		}
		if m == out && o.ref != c.in.Out {
			return false
		}
	}
	return true
}

func (c *chain) touch(r device.Ref) {
	m, rows, cols := c.shape(r)
	c.shapes[c.memory(r)] = [3]int{m, rows, cols}
}

// alike reports whether a buffer's memory has not been touched in another shape.
func (c *chain) alike(r device.Ref) bool {
	was, ok := c.shapes[c.memory(r)]
	m, rows, cols := c.shape(r)
	return !ok || was == [3]int{m, rows, cols}
}

// memory identifies a buffer's memory.
func (c *chain) memory(r device.Ref) any { return memoryOf(c.program, r) }

const (
	chainThreads = 256
	// chainRows is the largest number of rows that a block has at a time.
	chainRows = 32
)

// recipe returns the launch of the chain. A block has enough rows to keep its threads busy.
func (c *chain) recipe() Recipe {
	tile := min(max(1, chainThreads/c.width), chainRows)
	blocks := min((c.rows+tile-1)/tile, elementBlocks)
	c.launch("chain", [3]uint32{uint32(blocks), 1, 1}, chainThreads, 0, c.table, uint32(c.steps), uint32(c.rows), uint32(tile))
	if len(c.table) != c.steps*lineWords {
		panic(fmt.Sprintf("chain: %d words in %d lines", len(c.table), c.steps))
	}
	return c.builder.recipe
}

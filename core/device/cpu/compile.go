package cpu

import (
	"fmt"
	"slices"
	"unsafe"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu/kernel"
)

// compiler turns a program's instructions into stages.
type compiler struct {
	p        *device.Program
	k        *kernel.Family
	data     [][]float32
	schedule *scheduler
	before   []func()
	after    []func() // work of the caller after a run has changed state
	gate     int      // the segment that begins to change state; 0: none does
	guard    guard
	// copies holds the lanes' sums of every buffer that is summed over rows.
	copies   map[device.Ref][Lanes][]float32
	occasion *uint64
	// partial holds, for a buffer that was summed over rows and not yet added up, the lanes' sums;
	// lane 0's sum is the buffer itself.
	partial map[device.Ref][Lanes][]float32
	// blockSquares holds, for a gradient, the sums of the squares of each lane's blocks.
	blockSquares map[device.Ref][Lanes][]float64
	nextID       int
	// upright holds the buffers that lanes wrote by columns.
	upright map[device.Ref]bool
	// owner is, for each buffer, the buffer whose memory it uses.
	owner []device.Ref
	// into is, for each instruction, the one that does its work: itself or the one it was fused
	// into.
	into []int
	// imaged holds the buffers that lanes wrote image by image.
	imaged map[device.Ref]bool
	// owned holds the buffers that lanes wrote by members.
	owned map[device.Ref]bool
	// gaussians holds the intermediate numbers of the policy's samples, by the sample's result.
	gaussians map[device.Ref]*gaussian
	// parts is the largest number of parts that a lane may be cut into.
	parts int
}

func newCompiler(p *device.Program, k *kernel.Family, parts int) *compiler {
	c := &compiler{
		p: p, k: k, parts: parts, schedule: newScheduler(), occasion: new(uint64), nextID: len(p.Buffers),
		partial: map[device.Ref][Lanes][]float32{}, copies: map[device.Ref][Lanes][]float32{}, upright: map[device.Ref]bool{}, owned: map[device.Ref]bool{}, imaged: map[device.Ref]bool{},
		gaussians: map[device.Ref]*gaussian{}, blockSquares: map[device.Ref][Lanes][]float64{},
	}
	for _, b := range p.Buffers {
		c.data = append(c.data, b.Host) // the other buffers get memory when they are made
	}
	return c
}

func aligned(n int) []float32 {
	raw := make([]float32, n+16)
	skip := 0
	for uintptr(unsafe.Pointer(&raw[skip]))%64 != 0 {
		skip++
	}
	return raw[skip : skip+n : skip+n]
}

func (c *compiler) compile() error {
	if c.p.Routine != nil {
		return fmt.Errorf("%T is nothing that this device does: the host does it between runs", c.p.Routine)
	}
	for _, b := range c.p.Buffers {
		if b.Host != nil && len(b.Host) != b.Len() {
			return fmt.Errorf("buffer %s holds %d numbers, its shape has %d", b.Name, len(b.Host), b.Len())
		}
	}
	for _, in := range c.p.Instrs {
		if in.Code <= device.Nop || in.Code >= device.Codes || lowerings[in.Code] == nil {
			return fmt.Errorf("%v is not an instruction of this device", in.Code)
		}
	}
	c.p, c.into = fused(c.p, c.divides)
	mem := newMemory(c)
	c.owner = mem.owner
	for i, in := range c.p.Instrs {
		if in.Code == device.Nop { // fused
			continue
		}
		c.schedule.instr = i
		for _, r := range in.In {
			c.combine(r)
		}
		mem.make(in.Out)
		lowerings[in.Code](c, in)
		mem.done(i, in)
	}
	for _, r := range append(append([]device.Ref(nil), c.p.Keep...), c.p.Finite...) {
		c.combine(r)
	}
	c.schedule.instr = -1
	c.check()
	c.optimise()
	c.averages()
	c.schedule.flush()
	return nil
}

// lowering emits the stages of one instruction.
type lowering func(c *compiler, in device.Instr)

// lowerings is filled by the init functions beside the stages.
var lowerings [device.Codes]lowering

func (c *compiler) shape(r device.Ref) (n, rows, cols int) {
	b := c.p.Buffers[r]
	return b.Members, b.Rows, b.Cols
}

// grained returns a split whose lanes have parts, if the device uses parts.
func (c *compiler) grained(by splitBy, n, grain int) split {
	if c.parts == 1 {
		grain = 0
	}
	return split{by, n, grain}
}

func (c *compiler) byRows(n int) split     { return c.grained(byRows, n, rowGrain) }
func (c *compiler) byElements(n int) split { return c.grained(byElements, n, elementGrain) }
func (c *compiler) byColumns(n int) split  { return c.grained(byColumns, n, columnGrain) }
func (c *compiler) byMembers(n int) split  { return c.grained(byMembers, n, 1) }
func (c *compiler) byImages(n int) split   { return c.grained(byRows, n, 1) }

// scratch returns a new number for memory that is not a buffer of the program.
func (c *compiler) scratch() int {
	c.nextID++
	return c.nextID - 1
}

func reads(s split, refs ...device.Ref) []access {
	var out []access
	for _, r := range refs {
		if r != device.None {
			out = append(out, access{buf: buf(r), split: s})
		}
	}
	return out
}

// operands is reads of an instruction's operands: of those in wholes as a whole, of the others by s.
func operands(s split, wholes []device.Ref, refs ...device.Ref) []access {
	var out []access
	for _, r := range refs {
		by := s
		if slices.Contains(wholes, r) {
			by = split{by: whole}
		}
		out = append(out, reads(by, r)...)
	}
	return out
}

func writes(s split, r device.Ref) access { return access{buf: buf(r), split: s, write: true} }

// rowwise emits a stage in which each share works on its rows of every operand; wholes are operands
// that each share reads as a whole.
func (c *compiler) rowwise(in device.Instr, rows int, wholes []device.Ref, run func(lo, hi int)) {
	c.rowwiseShare(in, rows, wholes, func(_ share, lo, hi int) { run(lo, hi) })
}

// rowwiseShare is rowwise for stages that need scratch memory for each share.
func (c *compiler) rowwiseShare(in device.Instr, rows int, wholes []device.Ref, run func(s share, lo, hi int)) {
	s := c.byRows(rows)
	uses := append(operands(s, wholes, in.In...), operands(s, wholes, in.Mask)...)
	uses = append(uses, writes(s, in.Out))
	c.schedule.add(stage{name: name(in), uses: uses, flops: c.p.FLOPs(in), run: func(s share) {
		if lo, hi := s.rows(rows); lo < hi {
			run(s, lo, hi)
		}
	}})
}

// overRows emits a stage that sums over rows: each lane writes the sums of its rows into its own
// copy of the result. The copies are added up before the first read.
func (c *compiler) overRows(in device.Instr, rows int, wholes []device.Ref, run func(out []float32, lo, hi int)) {
	c.overRowsGrain(in, rows, wholes, 1, 0, func(out []float32, lo, hi, _, _ int) { run(out, lo, hi) })
}

// overRowsCut is overRows for results whose rows, of the given width, can be divided among the
// parts of a lane: each part makes rows from to to.
func (c *compiler) overRowsCut(in device.Instr, rows int, wholes []device.Ref, width int, run func(out []float32, lo, hi, from, to int)) {
	c.overRowsGrain(in, rows, wholes, width, rowGrain, run)
}

func (c *compiler) overRowsGrain(in device.Instr, rows int, wholes []device.Ref, width, grain int, run func(out []float32, lo, hi, from, to int)) {
	copies := c.sums(in.Out)
	rest := split{by: byRows, n: rows}
	if c.parts > 1 && grain > 0 { // all parts of a lane read its rows
		rest = split{by: whole}
	}
	uses := append(operands(rest, wholes, in.In...), writes(c.grained(byLane, width, grain), in.Out))
	c.schedule.add(stage{name: name(in), uses: uses, flops: c.p.FLOPs(in), run: func(s share) {
		from, to := s.cut(0, width, grain)
		if s.parts > 1 && from == to {
			return
		}
		lo, hi := rowRange(rows, s.lane)
		run(copies[s.lane], lo, hi, from, to)
	}})
}

// sums returns the lanes' own copies of a result that is summed over rows.
func (c *compiler) sums(r device.Ref) [Lanes][]float32 {
	copies := [Lanes][]float32{c.data[r]}
	for lane := 1; lane < Lanes; lane++ {
		copies[lane] = aligned(len(c.data[r]))
	}
	c.partial[r], c.copies[r] = copies, copies
	return copies
}

// combine adds up the lanes' sums of a buffer, in lane order.
func (c *compiler) combine(r device.Ref) {
	copies, ok := c.partial[r]
	if !ok {
		return
	}
	delete(c.partial, r)
	n := len(c.data[r])
	c.schedule.add(stage{name: "combine", uses: []access{writes(c.byElements(n), r)}, flops: n, run: func(s share) {
		lo, hi := s.elements(n)
		for l := 1; l < Lanes; l++ {
			c.k.Add(copies[0][lo:hi], copies[0][lo:hi], copies[l][lo:hi])
		}
	}})
}

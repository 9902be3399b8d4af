package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
)

// An emulator runs the generated functions instruction by instruction, so that AVX-512 can be
// tested on machines without it, and checks that every access to memory is within the given slices.
// It has only the instructions that the generator uses, and follows Intel's manual down to NaN
// and signed zeros. Its own correctness is tested with AVX2, bit for bit against the hardware.
type emulator struct {
	gp         map[string]uint64
	vec        [32][16]uint32
	k          [8]uint64
	tiles      *[8]tileData // nil while they are not configured
	zero, less bool         // flags: equality, signed less-than
	regions    [][]byte
	symbols    map[string]uint64
	near       []uint64 // addresses prefetched to the second-level cache
}

// place gives memory an address; regions are far apart.
func (e *emulator) place(data []byte) uint64 {
	e.regions = append(e.regions, data)
	return uint64(len(e.regions)) << 24
}

func (e *emulator) bytes(address uint64, n int) []byte {
	i, at := int(address>>24)-1, int(address&(1<<24-1))
	if i < 0 || i >= len(e.regions) || at+n > len(e.regions[i]) {
		panic(fmt.Sprintf("access to %#x, %d bytes, outside of every slice", address, n))
	}
	return e.regions[i][at : at+n]
}

func newEmulator(file *ir.File) *emulator {
	e := &emulator{gp: map[string]uint64{}, symbols: map[string]uint64{}}
	for _, s := range file.Sections {
		if g, ok := s.(*ir.Global); ok {
			data := make([]byte, g.Size)
			for _, d := range g.Data {
				v, err := strconv.ParseUint(strings.TrimPrefix(d.Value.Asm(), "$"), 0, 64)
				if err != nil {
					panic(err)
				}
				binary.LittleEndian.PutUint32(data[d.Offset:], uint32(v))
			}
			e.symbols[g.Symbol.Name] = e.place(data)
		}
	}
	return e
}

// run executes a function; arguments are numbers and addresses by name. It
// returns what the function stored as its result.
func (e *emulator) run(f *ir.Function, args map[string]uint64) uint64 {
	keep := len(e.regions)
	for name, v := range args {
		e.symbols["arg "+name] = e.place(binary.LittleEndian.AppendUint64(nil, v))
	}
	e.gp["SP"] = e.place(make([]byte, 512)) // for locals
	result := make([]byte, 8)
	e.symbols["arg ret"] = e.place(result)
	code, labels := listing(f)
	for pc := 0; ; {
		c := code[pc]
		pc++
		if c.Opcode == "RET" {
			break
		}
		if c.IsBranch {
			if e.taken(c.Opcode) {
				pc = labels[ir.Label(c.Operands[0].(operand.LabelRef))]
			}
			continue
		}
		e.step(c)
	}
	e.regions = e.regions[:keep]
	return binary.LittleEndian.Uint64(result)
}

// listing returns the instructions, and the index to which each label points.
func listing(f *ir.Function) ([]*ir.Instruction, map[ir.Label]int) {
	var code []*ir.Instruction
	labels := map[ir.Label]int{}
	for _, n := range f.Nodes {
		switch n := n.(type) {
		case ir.Label:
			labels[n] = len(code)
		case *ir.Instruction:
			code = append(code, n)
		}
	}
	return code, labels
}

func (e *emulator) taken(opcode string) bool {
	switch opcode {
	case "JMP":
		return true
	case "JZ":
		return e.zero
	case "JNZ":
		return !e.zero
	case "JLT":
		return e.less
	case "JGE":
		return !e.less
	case "JG":
		return !e.less && !e.zero
	}
	panic("unknown branch " + opcode)
}

func (e *emulator) address(m operand.Mem) uint64 {
	at := uint64(int64(m.Disp))
	switch {
	case m.Base != nil && m.Base.Asm() == "FP":
		return e.symbols["arg "+m.Symbol.Name]
	case m.Symbol.Name != "":
		at += e.symbols[m.Symbol.Name]
	default:
		at += e.gp[m.Base.Asm()]
	}
	if m.Index != nil {
		at += e.gp[m.Index.Asm()] * uint64(m.Scale)
	}
	return at
}

// integer reads a register, a constant or eight bytes of memory.
func (e *emulator) integer(o operand.Op) uint64 {
	switch o := o.(type) {
	case operand.Mem:
		return binary.LittleEndian.Uint64(e.bytes(e.address(o), 8))
	case operand.U8:
		return uint64(o)
	case operand.U32:
		return uint64(int64(int32(o)))
	}
	return e.gp[o.Asm()]
}

func (e *emulator) setInteger(o operand.Op, v uint64) {
	if m, ok := o.(operand.Mem); ok {
		binary.LittleEndian.PutUint64(e.bytes(e.address(m), 8), v)
		return
	}
	e.gp[o.Asm()] = v
}

// register splits the name of a vector or mask register: its kind and number.
func register(o operand.Op) (kind byte, number int) {
	name := o.Asm()
	n, err := strconv.Atoi(name[1:])
	if err != nil {
		panic("not a vector: " + name)
	}
	return name[0], n
}

// lanes returns the number of words in the register.
func lanes(o operand.Op) int {
	kind, _ := register(o)
	return map[byte]int{'X': 4, 'Y': 8, 'Z': 16}[kind]
}

// words reads n lanes.
func (e *emulator) words(o operand.Op, n int) [16]uint32 {
	var w [16]uint32
	if m, ok := o.(spread); ok {
		data := e.bytes(e.address(m.Mem), 8)
		for i := range n {
			w[i] = binary.LittleEndian.Uint32(data[4*(i%2):])
		}
		return w
	}
	if m, ok := o.(operand.Mem); ok {
		data := e.bytes(e.address(m), 4*n)
		for i := range n {
			w[i] = binary.LittleEndian.Uint32(data[4*i:])
		}
		return w
	}
	_, r := register(o)
	copy(w[:n], e.vec[r][:n])
	return w
}

// setWords writes the first n lanes; those above become zeros in a register.
func (e *emulator) setWords(o operand.Op, n int, w [16]uint32) {
	if m, ok := o.(operand.Mem); ok {
		data := e.bytes(e.address(m), 4*n)
		for i := range n {
			binary.LittleEndian.PutUint32(data[4*i:], w[i])
		}
		return
	}
	_, r := register(o)
	e.vec[r] = [16]uint32{}
	copy(e.vec[r][:n], w[:n])
}

// set says whether lane i of a mask register or vector is set.
func (e *emulator) set(o operand.Op, i int) bool {
	kind, r := register(o)
	if kind == 'K' {
		return e.k[r]>>i&1 == 1
	}
	return e.vec[r][i]>>31 == 1
}

// fma32 returns a·b+c rounded once: the exact sum is rounded to odd in float64, after which
// rounding to float32 is correct (Boldo & Melquiond 2008).
func fma32(a, b, c float32) float32 {
	p, q := float64(a)*float64(b), float64(c)
	s := p + q
	if math.IsInf(s, 0) || s != s {
		return float32(s)
	}
	d := s - p
	if lost := (p - (s - d)) + (q - d); lost != 0 && math.Float64bits(s)&1 == 0 {
		if (lost > 0) == (s > 0) {
			s = math.Float64frombits(math.Float64bits(s) + 1)
		} else {
			s = math.Float64frombits(math.Float64bits(s) - 1)
		}
	}
	return float32(s)
}

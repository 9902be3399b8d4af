package formula

import "math"

// Values gives an evaluation the numbers of its quantities.
type Values interface {
	// Read fills dst with elements of the quantity of a slot, from the given element on: of the first
	// one the values of rows rows from row on, then of the next. len(dst) is a multiple of rows. A
	// number is its own element 0.
	Read(dst []float64, slot, element, row, rows int)
}

// Drawer is what Values of formulas with random numbers are as well.
type Drawer interface {
	// Draw fills dst with values of the function of a slot, each drawn for itself. An argument has one
	// number, or one for each of dst.
	Draw(dst []float64, slot int, args [][]float64)
}

// Machine evaluates a program, a block of rows at a time. It is for one goroutine and allocates
// nothing after it is made.
type Machine struct {
	program *Program
	values  Values
	rows    int         // of a block
	regs    [][]float64 // of each register its elements, each for all rows of a block
	plain   []plainStep // of each instruction
	args    [][]float64 // scratch
	columns []Column    // what is known of them; the caller's
}

// Machine makes a machine that evaluates blocks of up to so many rows. Formulas of a state, which is
// one row, have blocks of 1.
func (p *Program) Machine(v Values, rows int) *Machine {
	m := &Machine{program: p, values: v, rows: rows, regs: make([][]float64, len(p.regs))}
	for i, r := range p.regs {
		if r.part {
			m.regs[i] = m.regs[r.of][r.from*rows : (r.from+r.size())*rows]
			continue
		}
		m.regs[i] = make([]float64, r.size()*rows)
		if r.constant {
			for j := range m.regs[i] {
				m.regs[i][j] = r.value
			}
		}
	}
	m.args = make([][]float64, 0, 16)
	for i := range p.code {
		m.plain = append(m.plain, m.plainly(&p.code[i]))
	}
	return m
}

// plainStep is an instruction of whole registers, number by number: most are.
type plainStep struct {
	is        bool
	out, a, b []float64
}

func (m *Machine) plainly(in *instruction) plainStep {
	if in.op < opNegate || in.op >= opSum {
		return plainStep{}
	}
	s := plainStep{is: true, out: m.regs[in.out], a: m.regs[in.args[0]]}
	if len(in.args) > 1 {
		s.b = m.regs[in.args[1]]
	}
	s.is = len(s.a) == len(s.out) && (s.b == nil || len(s.b) == len(s.out))
	return s
}

// Number evaluates row 0.
func (m *Machine) Number() float64 {
	m.run(0, 1)
	return m.regs[m.program.result.reg][0]
}

// Truth evaluates the condition of row 0.
func (m *Machine) Truth() bool { return m.Number() != 0 }

// Vector evaluates row 0 into dst, which has Width numbers.
func (m *Machine) Vector(dst []float64) {
	m.run(0, 1)
	result := m.regs[m.program.result.reg]
	for i := range dst {
		dst[i] = result[i*m.rows]
	}
}

// Column evaluates len(dst) rows from row on, of a program of numbers.
func (m *Machine) Column(dst []float64, row int) {
	for len(dst) > 0 {
		n := min(len(dst), m.rows)
		m.run(row, n)
		copy(dst[:n], m.regs[m.program.result.reg])
		dst, row = dst[n:], row+n
	}
}

// run evaluates a block.
func (m *Machine) run(row, rows int) {
	for i := range m.program.code {
		m.step(i, row, rows)
	}
}

// steps does some instructions for a block.
func (m *Machine) steps(some []int, row, rows int) {
	for _, i := range some {
		m.step(i, row, rows)
	}
}

// step does an instruction for rows rows from row on.
func (m *Machine) step(i, row, rows int) {
	in := &m.program.code[i]
	if s := &m.plain[i]; s.is && rows == m.rows {
		in.do(s.out, s.a, s.b)
		return
	}
	out := m.regs[in.out]
	width := len(out) / m.rows
	switch in.op {
	case opRead:
		if rows == m.rows {
			m.values.Read(out, in.slot, in.element, row, rows)
			return
		}
		for i := range width {
			m.values.Read(out[i*m.rows:][:rows], in.slot, in.element+i, row, rows)
		}
	case opDraw:
		m.args = m.args[:0]
		for _, a := range in.args {
			m.args = append(m.args, m.regs[a])
		}
		m.values.(Drawer).Draw(out, in.slot, m.args)
	case opJoin:
		at := 0
		for _, a := range in.args {
			at += copy(out[at:], m.regs[a])
		}
	case opSelect:
		m.choose(in, out, width, rows)
	case opColumn:
		var x []float64
		if len(in.args) > 0 {
			x = m.regs[in.args[0]]
		}
		m.columns[in.slot].at(out[:rows], x)
	case opSum, opMean, opLeast, opMost, opNorm, opDot:
		m.reduce(in, out[:rows], rows)
	default:
		m.each(in, out, width, rows)
	}
}

// each does an operation of one or two numbers for each element.
func (m *Machine) each(in *instruction, out []float64, width, rows int) {
	a, b := m.regs[in.args[0]], []float64(nil)
	if len(in.args) > 1 {
		b = m.regs[in.args[1]]
	}
	for i := range width {
		at, x, y := i*m.rows, a[m.element(a, i):], []float64(nil)
		if b != nil {
			y = b[m.element(b, i):][:rows]
		}
		in.do(out[at:][:rows], x[:rows], y)
	}
}

// element is where element i of a register begins. A number serves all elements of a vector.
func (m *Machine) element(reg []float64, i int) int {
	if len(reg) == m.rows {
		return 0
	}
	return i * m.rows
}

func (m *Machine) choose(in *instruction, out []float64, width, rows int) {
	is, a, b := m.regs[in.args[0]], m.regs[in.args[1]], m.regs[in.args[2]]
	for i := range width {
		o, x, y := out[i*m.rows:][:rows], a[m.element(a, i):][:rows], b[m.element(b, i):][:rows]
		for r := range o {
			if is[r] != 0 {
				o[r] = x[r]
			} else {
				o[r] = y[r]
			}
		}
	}
}

// reduce makes a number of the elements of a vector, in their order.
func (m *Machine) reduce(in *instruction, out []float64, rows int) {
	a := m.regs[in.args[0]]
	b := a
	if in.op == opDot {
		b = m.regs[in.args[1]]
	}
	width := len(a) / m.rows
	first, firstB := a[:rows], b[:rows]
	switch in.op {
	case opNorm, opDot:
		for r := range out {
			out[r] = first[r] * firstB[r]
		}
	default:
		copy(out, first)
	}
	for i := 1; i < width; i++ {
		x, y := a[i*m.rows:][:rows], b[i*m.rows:][:rows]
		switch in.op {
		case opLeast:
			binaryOps(opMin, out, out, x)
		case opMost:
			binaryOps(opMax, out, out, x)
		case opNorm, opDot:
			for r := range out {
				product := x[r] * y[r] // stored, so that no machine fuses it with the sum
				out[r] += float64(product)
			}
		default:
			binaryOps(opAdd, out, out, x)
		}
	}
	switch in.op {
	case opMean:
		for r := range out {
			out[r] /= float64(width)
		}
	case opNorm:
		for r := range out {
			out[r] = math.Sqrt(out[r])
		}
	}
}

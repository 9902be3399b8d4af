package formula

import (
	"fmt"
	"math"
	"unicode/utf8"
)

// Trouble evaluates a row and says why its value is no finite number: "log of -0.2 (column 9)". It
// is "" if the value is finite.
func (m *Machine) Trouble(row int) string {
	m.run(row, 1)
	by := map[int]*instruction{}
	for i := range m.program.code {
		by[m.program.code[i].out] = &m.program.code[i]
	}
	bad := func(reg int) bool {
		for i := 0; i < len(m.regs[reg]); i += m.rows {
			if x := m.regs[reg][i]; math.IsNaN(x) || math.IsInf(x, 0) {
				return true
			}
		}
		return false
	}
	reg := m.program.result.reg
	if !bad(reg) {
		return ""
	}
	for {
		if r := m.program.regs[reg]; r.part {
			reg = r.of
		}
		in := by[reg]
		if in == nil {
			return "inf in the formula"
		}
		next := -1
		for _, a := range in.args {
			if bad(a) {
				next = a
			}
		}
		if next >= 0 {
			reg = next
			continue
		}
		at := Error{Formula: m.program.formula.text, At: in.at}
		return fmt.Sprintf("%s (column %d)", m.cause(in), at.Column())
	}
}

// cause says what an instruction whose value is no finite number was given.
func (m *Machine) cause(in *instruction) string {
	var args [][]float64
	for _, a := range in.args {
		args = append(args, m.regs[a])
	}
	if in.op == opRead {
		for i := 0; i < len(m.regs[in.out]); i += m.rows {
			if x := m.regs[in.out][i]; math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Sprintf("%s is %s", in.name, brief(x))
			}
		}
	}
	return trouble(in, m.regs[in.out], args)
}

// trouble says what an operation was given whose value is no finite number, "" if that is finite or
// was given.
func trouble(in *instruction, out []float64, args [][]float64) string {
	for i, x := range out {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			continue
		}
		var given []float64
		for _, a := range args {
			y := a[min(i, len(a)-1)]
			if math.IsInf(y, 0) || math.IsNaN(y) {
				return ""
			}
			given = append(given, y)
		}
		return spell(in.op, given)
	}
	return ""
}

// spell is an operation with its numbers.
func spell(o op, xs []float64) string {
	for symbol, of := range operators {
		if of == o && len(xs) == 2 {
			return brief(xs[0]) + " " + symbol + " " + brief(xs[1])
		}
	}
	what := "a value"
	for name, f := range functions {
		if f.op == o && o != opNone && utf8.RuneCountInString(name) > 0 {
			what = name
		}
	}
	if len(xs) == 0 {
		return what
	}
	return what + " of " + brief(xs[0])
}

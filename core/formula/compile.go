package formula

import (
	"fmt"
	"math"
)

// MaxNumbers is how many numbers a formula may hold for each row, with those of vectors.
const MaxNumbers = 1 << 18

// Program is a compiled formula.
type Program struct {
	formula *Formula
	code    []instruction
	regs    []register
	result  value
	columns []column // that its whole-column functions are of
	terms   []term
}

// instruction computes a register from others.
type instruction struct {
	op            op
	out           int
	args          []int
	at            int // character of the formula
	slot, element int // of a quantity that is read, of a function that is drawn
	name          string
	shape         Tolerance
}

// register holds a number or a vector.
type register struct {
	width    int
	constant bool
	value    float64 // of a constant
	part     bool    // it is elements of register of, from one on
	of, from int
}

// size is how many numbers a register has for each row.
func (r register) size() int { return max(1, r.width) }

// Width is 0 if the value is one number, and else how many numbers it has.
func (p *Program) Width() int { return p.result.width }

// Number compiles a formula whose value is one number. Errors are *Error.
func (f *Formula) Number(names Names) (*Program, error) {
	return f.compile(names, func(b *builder, n *node) (value, error) { return b.scalar(n, "the formula") })
}

// Truth compiles a condition. Errors are *Error.
func (f *Formula) Truth(names Names) (*Program, error) {
	return f.compile(names, (*builder).condition)
}

// Vector compiles a formula whose value is a number or a vector. Errors are *Error.
func (f *Formula) Vector(names Names) (*Program, error) { return f.compile(names, (*builder).numeric) }

func (f *Formula) compile(names Names, wanted func(*builder, *node) (value, error)) (*Program, error) {
	b := newBuilder(f, names)
	result, err := wanted(b, f.root)
	if err != nil {
		return nil, err
	}
	return b.program(result), nil
}

// builder compiles a formula, or a part of one.
type builder struct {
	formula *Formula
	names   Names
	code    []instruction
	regs    []register
	numbers int              // that the registers hold for each row
	known   map[string]int   // registers by how they are computed: what is written twice is computed once
	done    map[*node]value  // parts that are compiled
	bound   map[string]*node // variables
	listed  int              // lists around the part that is compiled
	whole   bool             // whole-column functions are allowed
	columns []column
}

func newBuilder(f *Formula, names Names) *builder {
	return &builder{formula: f, names: names, known: map[string]int{}, done: map[*node]value{}, bound: map[string]*node{}}
}

func (b *builder) program(result value) *Program {
	return &Program{formula: b.formula, code: b.code, regs: b.regs, result: result, columns: b.columns}
}

func (b *builder) fail(n *node, format string, args ...any) error {
	return &Error{What: fmt.Sprintf(format, args...), Formula: b.formula.text, At: n.at}
}

// numeric compiles a part whose value is a number or a vector.
func (b *builder) numeric(n *node) (value, error) {
	v, err := b.value(n)
	if err == nil && v.kind == aCondition {
		return v, b.fail(n, "want a number here, not a condition: write (… ? 1 : 0)")
	}
	return v, err
}

// scalar compiles a part whose value is one number; whose says for what.
func (b *builder) scalar(n *node, whose string) (value, error) {
	v, err := b.numeric(n)
	if err == nil && v.width > 0 {
		return v, b.fail(n, "%s needs one number, not %v: pick one by [0], or take norm, sum, mean, min or max", whose, v)
	}
	return v, err
}

// condition compiles a part that is true or false.
func (b *builder) condition(n *node) (value, error) {
	v, err := b.value(n)
	if err == nil && v.kind == aNumber {
		return v, b.fail(n, "want a condition here, such as x > 0, not %v", v)
	}
	return v, err
}

// literal is the number of a part that must be one.
func (b *builder) literal(n *node, whose string) (float64, error) {
	v, err := b.scalar(n, whose)
	if err != nil {
		return 0, err
	}
	if r := b.regs[v.reg]; r.constant {
		return r.value, nil
	}
	return 0, b.fail(n, "%s needs a number that stands in the formula", whose)
}

// constant is the register of a number.
func (b *builder) constant(x float64) value {
	key := fmt.Sprint("constant ", math.Float64bits(x))
	if reg, is := b.known[key]; is {
		return value{reg: reg}
	}
	b.known[key] = len(b.regs)
	b.regs = append(b.regs, register{constant: true, value: x})
	return value{reg: len(b.regs) - 1}
}

// emit adds an instruction whose value has a width, unless the same is computed already. Of
// constants the value is computed at once.
func (b *builder) emit(n *node, in instruction, width int) (value, error) {
	in.at = n.at
	key := fmt.Sprint(in.op, in.args, in.slot, in.element, width, in.shape)
	if reg, is := b.known[key]; is && in.op != opDraw {
		return value{reg: reg, width: width}, nil
	}
	if x, is := b.fold(in); is && width == 0 {
		if bad := trouble(&in, []float64{x}, b.constants(in)); bad != "" {
			return value{}, b.fail(n, "%s is %s", bad, brief(x))
		}
		return b.constant(x), nil
	}
	r := register{width: width}
	if b.numbers += r.size(); b.numbers > MaxNumbers {
		return value{}, b.fail(n, "the formula holds more than %d numbers: take fewer elements of its vectors", MaxNumbers)
	}
	in.out = len(b.regs)
	b.regs, b.code = append(b.regs, r), append(b.code, in)
	b.known[key] = in.out
	return value{reg: in.out, width: width}, nil
}

// constants are the numbers of an instruction's arguments, nil if one is no constant.
func (b *builder) constants(in instruction) [][]float64 {
	var numbers [][]float64
	for _, a := range in.args {
		if !b.regs[a].constant {
			return nil
		}
		numbers = append(numbers, []float64{b.regs[a].value})
	}
	return numbers
}

// fold computes an instruction of constants.
func (b *builder) fold(in instruction) (x float64, is bool) {
	args := b.constants(in)
	if len(args) == 0 || in.op == opDraw || in.op == opJoin || in.op == opColumn {
		return 0, false
	}
	out := make([]float64, 1)
	switch {
	case in.op == opSelect:
		out[0] = args[2][0]
		if args[0][0] != 0 {
			out[0] = args[1][0]
		}
	case len(args) == 1:
		in.do(out, args[0], nil)
	default:
		in.do(out, args[0], args[1])
	}
	return out[0], true
}

// part is elements of a vector, from one on.
func (b *builder) part(v value, from, width int) value {
	key := fmt.Sprint("part ", v.reg, from, width)
	if reg, is := b.known[key]; is {
		return value{reg: reg, width: width}
	}
	b.known[key] = len(b.regs)
	b.regs = append(b.regs, register{width: width, part: true, of: v.reg, from: from})
	return value{reg: len(b.regs) - 1, width: width}
}

// broadcast is the width of what two values make together.
func (b *builder) broadcast(n *node, x, y value) (int, error) {
	if x.width != y.width && x.width > 0 && y.width > 0 {
		return 0, b.fail(n, "%s joins vectors of %d and %d numbers", n.label(), x.width, y.width)
	}
	return max(x.width, y.width), nil
}

// label is what a node is called in messages.
func (n *node) label() string {
	if n.kind == choice {
		return "?:"
	}
	return n.text
}

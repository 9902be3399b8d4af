package formula

import (
	"slices"
	"strings"
)

// operators are the operations of two numbers.
var operators = map[string]op{
	"+": opAdd, "-": opSubtract, "*": opMultiply, "/": opDivide, "%": opRemainder, "^": opPower,
	"<": opLess, "<=": opLessEqual, "==": opEqual, "!=": opUnequal, "and": opAnd, "or": opOr,
}

func (b *builder) unary(n *node) (value, error) {
	if n.text == "not" {
		v, err := b.condition(n.args[0])
		if err != nil {
			return v, err
		}
		v, err = b.emit(n, instruction{op: opNot, args: []int{v.reg}}, 0)
		v.kind = aCondition
		return v, err
	}
	v, err := b.numeric(n.args[0])
	if err != nil {
		return v, err
	}
	return b.emit(n, instruction{op: opNegate, args: []int{v.reg}}, v.width)
}

func (b *builder) binary(n *node) (value, error) {
	switch n.text {
	case "and", "or":
		x, err := b.condition(n.args[0])
		if err != nil {
			return x, err
		}
		y, err := b.condition(n.args[1])
		if err != nil {
			return y, err
		}
		return b.conditional(n, instruction{op: operators[n.text], args: []int{x.reg, y.reg}})
	case "<", "<=", ">", ">=", "==", "!=":
		x, err := b.scalar(n.args[0], n.text)
		if err != nil {
			return x, err
		}
		y, err := b.scalar(n.args[1], n.text)
		if err != nil {
			return y, err
		}
		return b.compare(n, n.text, x, y)
	}
	x, err := b.numeric(n.args[0])
	if err != nil {
		return x, err
	}
	y, err := b.numeric(n.args[1])
	if err != nil {
		return y, err
	}
	return b.two(n, operators[n.text], x, y)
}

// two is an operation of two numbers, or of the elements of vectors.
func (b *builder) two(n *node, o op, x, y value) (value, error) {
	width, err := b.broadcast(n, x, y)
	if err != nil {
		return value{}, err
	}
	if r := b.regs[y.reg]; o == opPower && r.constant && r.value == 2 {
		o, y = opMultiply, x // the same number, and quicker
	}
	return b.emit(n, instruction{op: o, args: []int{x.reg, y.reg}}, width)
}

func (b *builder) compare(n *node, operator string, x, y value) (value, error) {
	switch operator {
	case ">", ">=":
		x, y, operator = y, x, strings.Replace(operator, ">", "<", 1)
	}
	return b.conditional(n, instruction{op: operators[operator], args: []int{x.reg, y.reg}})
}

// conditional emits an instruction whose value is true or false.
func (b *builder) conditional(n *node, in instruction) (value, error) {
	v, err := b.emit(n, in, 0)
	v.kind = aCondition
	return v, err
}

// between compiles a < b < c.
func (b *builder) between(n *node) (value, error) {
	var xs []value
	for _, a := range n.args {
		x, err := b.scalar(a, "a comparison")
		if err != nil {
			return x, err
		}
		xs = append(xs, x)
	}
	var all value
	for i, operator := range strings.Fields(n.text) {
		v, err := b.compare(n, operator, xs[i], xs[i+1])
		if err == nil && i > 0 {
			v, err = b.conditional(n, instruction{op: opAnd, args: []int{all.reg, v.reg}})
		}
		if err != nil {
			return v, err
		}
		all = v
	}
	return all, nil
}

func (b *builder) choice(n *node) (value, error) {
	is, err := b.condition(n.args[0])
	if err != nil {
		return is, err
	}
	x, err := b.value(n.args[1])
	if err != nil {
		return x, err
	}
	compile := b.numeric
	if x.kind == aCondition {
		compile = b.condition
	}
	y, err := compile(n.args[2])
	if err != nil {
		return y, err
	}
	if y.kind == aCondition && x.kind == aNumber {
		return y, b.fail(n.args[2], "want a number here, as before the colon")
	}
	width, err := b.broadcast(n, x, y)
	if err != nil {
		return value{}, err
	}
	kind := x.kind
	if kind == aFlag {
		kind = y.kind
	}
	v, err := b.emit(n, instruction{op: opSelect, args: []int{is.reg, x.reg, y.reg}}, width)
	v.kind = kind
	return v, err
}

// call compiles a function, a quantity with a text in brackets, or a random number.
func (b *builder) call(n *node) (value, error) {
	f, known := functions[n.text]
	if known {
		return b.function(n, f)
	}
	if d, is := b.names.(Draws); is {
		if r, known := d.Random(n.text); known {
			return b.random(n, r)
		}
	}
	if len(n.args) != 1 || n.args[0].kind != text {
		if slices.Contains(b.names.Names(), n.text) {
			return value{}, b.fail(n, "%s is a quantity: in brackets it takes one name in quotes, or nothing", n.text)
		}
		return value{}, b.unknown(n)
	}
	q, err := b.quantity(n, n.args[0].text)
	if err != nil {
		return value{}, err
	}
	return b.read(n, q, 0, q.Width)
}

func (b *builder) random(n *node, r Random) (value, error) {
	if len(n.args) != r.Params {
		return value{}, b.fail(n, "%s takes %s, not %d", n.text, count(r.Params, "number"), len(n.args))
	}
	in, width := instruction{op: opDraw, slot: r.Slot}, r.Width
	if b.listed > 0 {
		width = 0
	}
	for _, a := range n.args {
		v, err := b.numeric(a)
		if err == nil && v.width != 0 && v.width != width {
			err = b.fail(a, "%s draws %s, and this has %d", n.text, count(max(1, width), "number"), v.width)
		}
		if err != nil {
			return v, err
		}
		in.args = append(in.args, v.reg)
	}
	return b.emit(n, in, width)
}

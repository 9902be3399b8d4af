package formula

import (
	"cmp"
	"fmt"
	"slices"
)

// count is a number of things.
func count(n int, thing string) string {
	switch n {
	case 0:
		return "no " + thing + "s"
	case 1:
		return "one " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// arity says what is wrong with the number of arguments of a call, or "".
func (f function) arity(name string, given int) string {
	thing := map[form]string{ofVector: "vector", ofTwo: "vector"}[f.form]
	switch {
	case f.least == f.most && given != f.least:
		return fmt.Sprintf("%s takes %s, not %d: %s%s", name, count(f.least, cmp.Or(thing, "number")), given, name, f.usage)
	case given < f.least || given > f.most:
		return fmt.Sprintf("%s takes %d to %d arguments, not %d: %s%s", name, f.least, f.most, given, name, f.usage)
	}
	return ""
}

// function compiles the call of a function.
func (b *builder) function(n *node, f function) (value, error) {
	switch f.form {
	case ofEach:
		v, err := b.numeric(n.args[0])
		if err != nil {
			return v, err
		}
		return b.emit(n, instruction{op: f.op, args: []int{v.reg}}, v.width)
	case ofVector, ofTwo:
		return b.reduce(n, f.op)
	case ofMany:
		return b.many(n, f.op)
	case ofClip:
		return b.clip(n)
	case ofTolerance:
		return b.tolerance(n)
	}
	if !b.whole {
		return value{}, b.fail(n, "%s is of a whole column, and this formula sees one row at a time", n.text)
	}
	if f.form == ofMix {
		return b.mix(n)
	}
	return b.column(n)
}

// reduce makes a number of one vector or two.
func (b *builder) reduce(n *node, o op) (value, error) {
	in, width := instruction{op: o}, 0
	for _, a := range n.args {
		v, err := b.numeric(a)
		if err != nil {
			return v, err
		}
		if v.width == 0 {
			return v, b.fail(a, "%s takes a vector, such as obs[2:5], not a number", n.text)
		}
		if width != 0 && v.width != width {
			return v, b.fail(a, "%s joins vectors of %d and %d numbers", n.text, width, v.width)
		}
		width = v.width
		in.args = append(in.args, v.reg)
	}
	return b.emit(n, in, 0)
}

// many compiles min and max: of several numbers, or of the elements of one vector.
func (b *builder) many(n *node, o op) (value, error) {
	all, err := b.numeric(n.args[0])
	if err != nil {
		return all, err
	}
	if len(n.args) == 1 {
		if all.width == 0 {
			return all, b.fail(n, "%s takes several numbers or one vector, not one number", n.text)
		}
		return b.emit(n, instruction{op: map[op]op{opMin: opLeast, opMax: opMost}[o], args: []int{all.reg}}, 0)
	}
	for _, a := range n.args[1:] {
		next, err := b.numeric(a)
		if err != nil {
			return next, err
		}
		if all, err = b.two(n, o, all, next); err != nil {
			return all, err
		}
	}
	return all, nil
}

func (b *builder) clip(n *node) (value, error) {
	var vs [3]value
	for i, a := range n.args {
		v, err := b.numeric(a)
		if err != nil {
			return v, err
		}
		vs[i] = v
	}
	if lo, hi := b.regs[vs[1].reg], b.regs[vs[2].reg]; lo.constant && hi.constant && lo.value > hi.value {
		return vs[1], b.fail(n, "clip has its lower bound %s above its upper bound %s", brief(lo.value), brief(hi.value))
	}
	v, err := b.two(n, opMax, vs[0], vs[1])
	if err != nil {
		return v, err
	}
	return b.two(n, opMin, v, vs[2])
}

func (b *builder) tolerance(n *node) (value, error) {
	v, err := b.numeric(n.args[0])
	if err != nil {
		return v, err
	}
	for _, a := range n.args[1 : len(n.args)-1] {
		if a.kind == text {
			return v, b.fail(a, "the shape of tolerance is its last argument: tolerance%s", functions["tolerance"].usage)
		}
	}
	shape := Tolerance{AtMargin: 0.1}
	for i, into := range []*float64{&shape.Lower, &shape.Upper, &shape.Margin, &shape.AtMargin} {
		if i+1 >= len(n.args) || i > 1 && n.args[i+1].kind == text {
			break // the shape, which is looked at below
		}
		if *into, err = b.literal(n.args[i+1], "tolerance"); err != nil {
			return v, err
		}
	}
	if last := n.args[len(n.args)-1]; last.kind == text {
		at := slices.Index(sigmoids, last.text)
		if at < 0 {
			return v, b.fail(last, "no shape %q: want one of %s", last.text, shapes())
		}
		shape.Sigmoid = Sigmoid(at)
	} else if len(n.args) == 6 {
		return v, b.fail(last, "the last argument of tolerance is a shape in quotes: one of %s", shapes())
	}
	if wrong := shape.wrong(); wrong != "" {
		return v, b.fail(n, "%s", wrong)
	}
	return b.emit(n, instruction{op: opTolerance, args: []int{v.reg}, shape: shape}, v.width)
}

package formula

import (
	"math"
	"slices"
	"strings"
)

// value compiles a part, once.
func (b *builder) value(n *node) (value, error) {
	if v, is := b.done[n]; is {
		return v, nil
	}
	v, err := b.compile(n)
	if err == nil {
		b.done[n] = v
	}
	return v, err
}

func (b *builder) compile(n *node) (value, error) {
	switch n.kind {
	case number:
		return b.constant(n.value), nil
	case truth:
		v := b.constant(n.value)
		v.kind = aCondition
		return v, nil
	case text:
		return value{}, b.fail(n, "a text is no number: names are written without quotes")
	case name:
		return b.name(n)
	case call:
		return b.call(n)
	case index, slice:
		return b.elements(n)
	case unary:
		return b.unary(n)
	case infix:
		return b.binary(n)
	case between:
		return b.between(n)
	case choice:
		return b.choice(n)
	case list:
		return b.list(n)
	default: // let
		outer := b.bound[n.text]
		b.bound[n.text] = n.args[0]
		if _, err := b.value(n.args[0]); err != nil { // also if nothing uses it
			return value{}, err
		}
		v, err := b.value(n.args[1])
		b.bound[n.text] = outer
		return v, err
	}
}

func (b *builder) name(n *node) (value, error) {
	if n.variable {
		return b.value(b.bound[n.text])
	}
	if x, is := constants[n.text]; is {
		return b.constant(x), nil
	}
	q, err := b.quantity(n, "")
	if err != nil {
		return value{}, err
	}
	return b.read(n, q, 0, q.Width)
}

// read reads elements of a quantity, from one on; width 0 is a number.
func (b *builder) read(n *node, q Quantity, from, width int) (value, error) {
	v, err := b.emit(n, instruction{op: opRead, slot: q.Slot, element: from, name: b.source(n)}, width)
	if q.Flag {
		v.kind = aFlag
	}
	return v, err
}

// source is the canonical text of a part.
func (b *builder) source(n *node) string {
	var p printer
	p.print(n, loosest)
	return p.String()
}

// elements compiles x[i] and x[i:j]. Of a quantity only these elements are read.
func (b *builder) elements(n *node) (value, error) {
	base := n.args[0]
	q, direct, err := b.direct(base)
	if err != nil {
		return value{}, err
	}
	width := q.Width
	var whole value
	if !direct {
		if whole, err = b.numeric(base); err != nil {
			return value{}, err
		}
		width = whole.width
	}
	if width == 0 {
		return value{}, b.fail(base, "%s is one number and has no elements", b.source(base))
	}
	from, to, err := b.bounds(n, q, width)
	if err != nil {
		return value{}, err
	}
	wide := to - from
	if n.kind == index {
		wide = 0
	}
	if direct {
		return b.read(n, q, from, wide)
	}
	return b.part(whole, from, wide), nil
}

// direct returns the quantity of a part that is only its name.
func (b *builder) direct(n *node) (q Quantity, is bool, err error) {
	if n.kind == name && !n.variable {
		if _, constant := constants[n.text]; !constant {
			q, err = b.quantity(n, "")
			return q, err == nil, err
		}
	}
	if _, function := functions[n.text]; n.kind == call && !function && len(n.args) == 1 && n.args[0].kind == text {
		q, err = b.quantity(n, n.args[0].text)
		return q, err == nil, err
	}
	return q, false, nil
}

// bounds are the elements from and up to that x[i] and x[i:j] name, of width.
func (b *builder) bounds(n *node, q Quantity, width int) (from, to int, err error) {
	base := b.source(n.args[0])
	whole := func(a *node, most int) (int, error) {
		x, err := b.literal(a, "an index")
		if err != nil {
			return 0, err
		}
		if x != math.Trunc(x) || x < 0 || x > float64(most) {
			return 0, b.fail(a, "%s has %d numbers: 0 to %d", base, width, width-1)
		}
		return int(x), nil
	}
	if n.kind == index {
		i := n.args[1]
		if i.kind == text {
			from = slices.Index(q.Elements, i.text)
			if from < 0 {
				return 0, 0, b.nameless(i, base, q.Elements)
			}
		} else if from, err = whole(i, width-1); err != nil {
			return 0, 0, err
		}
		return from, from + 1, nil
	}
	to = width
	if a := n.args[1]; a != nil {
		if from, err = whole(a, width); err != nil {
			return 0, 0, err
		}
	}
	if a := n.args[2]; a != nil {
		if to, err = whole(a, width); err != nil {
			return 0, 0, err
		}
	}
	if from >= to {
		return 0, 0, b.fail(n, "%s is empty", b.source(n))
	}
	return from, to, nil
}

// nameless is the error of an element that has another name, or no names at all.
func (b *builder) nameless(n *node, base string, names []string) error {
	if len(names) == 0 {
		return b.fail(n, "the elements of %s have no names: write %s[0]", base, base)
	}
	list, more := names, ""
	if len(list) > 8 {
		list, more = list[:8], " …"
	}
	return b.fail(n, "%s has no element %q: want one of %s%s", base, n.text, strings.Join(list, ", "), more)
}

func (b *builder) list(n *node) (value, error) {
	b.listed++
	defer func() { b.listed-- }()
	in, width := instruction{op: opJoin}, 0
	for _, a := range n.args {
		v, err := b.numeric(a)
		if err != nil {
			return value{}, err
		}
		in.args = append(in.args, v.reg)
		width += max(1, v.width)
	}
	if width == 0 {
		return value{}, b.fail(n, "a list has at least one number")
	}
	return b.emit(n, in, width)
}

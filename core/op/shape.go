package op

import (
	"errors"
	"fmt"

	"gorgonia.org/tensor"
)

// dims reads a shape as [N,B,C]: members, rows, columns.
func dims(s tensor.Shape) (n, b, c int) {
	switch len(s) {
	case 3:
		return s[0], s[1], s[2]
	case 2:
		return 1, s[0], s[1]
	case 1:
		return 1, 1, s[0]
	}
	return 1, 1, 1
}

var (
	errSame   = errors.New("the shapes must be equal")
	errMatrix = errors.New("want rows and columns, [B,C] or [N,B,C]")
)

// sameShape is the shape rule of elementwise operations.
func sameShape(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
	for _, s := range in[1:] {
		if !s.Eq(in[0]) {
			return nil, errSame
		}
	}
	return in[0].Clone(), nil
}

// first is the shape rule of gradients; the forward rule has checked their operands.
func first(_ Attr, in []tensor.Shape) (tensor.Shape, error) { return in[0].Clone(), nil }

// rowsOf checks that s holds one number for each row of x [B,C] or [N,B,C]: [B,1] for all members,
// or [N,B,1].
func rowsOf(what string, s, x tensor.Shape) error {
	if len(x) < 2 {
		return errMatrix
	}
	own := x.Clone()
	own[len(own)-1] = 1
	if s.Eq(own) || len(x) == 3 && s.Eq(own[1:]) {
		return nil
	}
	if len(x) == 3 {
		return fmt.Errorf("%s must be [%d,1] or [%d,%d,1]", what, x[1], x[0], x[1])
	}
	return fmt.Errorf("%s must be [%d,1]", what, x[0])
}

// columnsOf checks that s holds one number for each column of x: [C], or [N,C] if x has members.
func columnsOf(what string, s, x tensor.Shape) error {
	if len(x) < 2 {
		return errMatrix
	}
	want := append(x[:len(x)-2].Clone(), x[len(x)-1])
	if !s.Eq(want) {
		return fmt.Errorf("%s must be %v", what, want)
	}
	return nil
}

// groupsOf checks that s holds one number for each column of a group of columns of x, all of one width:
// [C], or [N,C] if x has members.
func groupsOf(what string, s, x tensor.Shape) error {
	if len(x) < 2 || len(s) == 0 || lastOf(s) < 1 || lastOf(x)%lastOf(s) != 0 {
		return fmt.Errorf("%s must divide the columns evenly", what)
	}
	return columnsOf(what, s, withColumns(x, lastOf(s)))
}

// lastOf is the number of columns of a shape.
func lastOf(s tensor.Shape) int { return s[len(s)-1] }

// matrix checks that s has rows and columns, [B,C] or [N,B,C].
func matrix(s tensor.Shape) error {
	if len(s) != 2 && len(s) != 3 {
		return errMatrix
	}
	return nil
}

// withColumns returns the shape s with another number of columns.
func withColumns(s tensor.Shape, cols int) tensor.Shape {
	out := s.Clone()
	out[len(out)-1] = cols
	return out
}

// live checks that s is the shape of a live scalar, [1].
func live(what string, s tensor.Shape) error {
	if len(s) != 1 || s[0] != 1 {
		return fmt.Errorf("%s must be [1]", what)
	}
	return nil
}

func each(errs ...error) error {
	for _, e := range errs {
		if e != nil {
			return e
		}
	}
	return nil
}

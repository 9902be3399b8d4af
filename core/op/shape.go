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

// first is the shape rule of gradients whose operands the forward rule checked.
func first(_ Attr, in []tensor.Shape) (tensor.Shape, error) { return in[0].Clone(), nil }

// column wants s to be [rows,1].
func column(what string, s tensor.Shape, rows int) error {
	if len(s) != 2 || s[0] != rows || s[1] != 1 {
		return fmt.Errorf("%s must be [%d,1]", what, rows)
	}
	return nil
}

// live wants a scalar input, [1].
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

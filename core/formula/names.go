package formula

import (
	"errors"
	"fmt"
	"slices"

	"pgrlab/core/spelling"
)

// Names says what the names of a formula stand for.
type Names interface {
	// Quantity returns what a name stands for. of is the text in the brackets after it, as of
	// sensor("toe"), and else empty; prev.qpos is one name. The error is ErrUnknown for a name that
	// stands for nothing, and otherwise says what is wrong in one line.
	Quantity(name, of string) (Quantity, error)
	// Names lists what can be named, for suggestions.
	Names() []string
}

// ErrUnknown is the error of a name that stands for nothing.
var ErrUnknown = errors.New("unknown name")

// Quantity is what a name stands for.
type Quantity struct {
	Slot     int      // by which Values finds it
	Width    int      // 0 of a number; how many numbers a vector has
	Flag     bool     // it is 0 or 1, and so a condition as well
	Elements []string // names of a vector's elements; nil without
}

// Draws is what Names are as well where a formula may draw random numbers.
type Draws interface {
	// Random returns a function whose values are drawn at each call.
	Random(name string) (r Random, known bool)
}

// Random is a function with random values, such as uniform(lo, hi).
type Random struct {
	Slot   int // by which Drawer finds it
	Params int // numbers that it takes
	Width  int // of its value, 0 of a number; between the square brackets of a list it is one number
}

// kinds of values.
type valueKind int

const (
	aNumber    valueKind = iota // or a vector of numbers
	aCondition                  // true or false
	aFlag                       // either
)

// value is what a part of a formula is while it is compiled.
type value struct {
	reg   int
	kind  valueKind
	width int // 0 of a number
}

// String says what a value is, for messages.
func (v value) String() string {
	switch {
	case v.width == 1:
		return "a vector of one number"
	case v.width > 1:
		return fmt.Sprintf("%d numbers", v.width)
	case v.kind == aCondition:
		return "true or false"
	}
	return "a number"
}

// quantity reads what a name stands for.
func (b *builder) quantity(n *node, of string) (Quantity, error) {
	q, err := b.names.Quantity(n.text, of)
	if errors.Is(err, ErrUnknown) {
		return q, b.unknown(n)
	}
	if err != nil {
		return q, b.fail(n, "%v", err)
	}
	return q, nil
}

// unknown is the error of a name that stands for nothing.
func (b *builder) unknown(n *node) error { return b.formula.unknown(n, b.names.Names()) }

func (f *Formula) unknown(n *node, known []string) error {
	fail := func(format string, args ...any) error {
		return &Error{What: fmt.Sprintf(format, args...), Formula: f.text, At: n.at}
	}
	what := "quantity"
	if n.kind == call {
		what = "function"
		for _, of := range Functions() {
			known = append(known, of.Name)
		}
	} else if of, is := functions[n.text]; is {
		return fail("%s is a function: write %s%s", n.text, n.text, of.usage)
	}
	near := spelling.Near(n.text, known)
	if len(near) == 0 {
		return fail("no %s %q", what, n.text)
	}
	return fail("no %s %q (did you mean %s?)", what, n.text, near[0])
}

// Known returns the error of the first name that is not among the known ones; nil if all are.
func (f *Formula) Known(known []string) error {
	for _, name := range f.Uses() {
		if !slices.Contains(known, name) {
			return f.unknown(f.find(name), slices.Clone(known))
		}
	}
	return nil
}

// find returns the first place of a name.
func (f *Formula) find(name string) (found *node) {
	f.visit(func(n *node) {
		if found == nil && n.text == name {
			found = n
		}
	})
	return found
}

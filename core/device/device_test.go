package device

import (
	"strings"
	"testing"
)

func TestEveryCodeHasAName(t *testing.T) {
	seen := map[string]Code{}
	for c := Nop; c < Codes; c++ {
		name := c.String()
		if name == "" {
			t.Errorf("code %d has no name", int(c))
		}
		if other, twice := seen[name]; twice {
			t.Errorf("codes %d and %d are both called %q", int(other), int(c), name)
		}
		seen[name] = c
	}
	if name := Codes.String(); !strings.HasPrefix(name, "code ") {
		t.Errorf("a code that does not exist is called %q", name)
	}
}

// The operations of a layer and of its gradients are compared with a count by hand: three members,
// five rows, four inputs, two outputs.
func TestFLOPs(t *testing.T) {
	p := &Program{Buffers: []Buffer{
		{Name: "x", Members: 1, Rows: 5, Cols: 4}, {Name: "w", Members: 3, Rows: 4, Cols: 2},
		{Name: "b", Members: 1, Rows: 3, Cols: 2}, {Name: "y", Members: 3, Rows: 5, Cols: 2},
		{Name: "dx", Members: 1, Rows: 5, Cols: 4}, {Name: "dw", Members: 3, Rows: 4, Cols: 2},
	}}
	const products = 2 * 3 * 5 * 4 * 2
	for _, c := range []struct {
		in   Instr
		want int
	}{
		{Instr{Code: Linear, Out: 3, In: []Ref{0, 1, 2}}, products},
		{Instr{Code: LinearDX, Out: 4, In: []Ref{3, 1}}, products},
		{Instr{Code: LinearDW, Out: 5, In: []Ref{0, 3}}, products},
		{Instr{Code: ColSum, Out: 2, In: []Ref{3}}, 30},
		{Instr{Code: ReLU, Out: 3, In: []Ref{3}}, 30},
	} {
		if got := p.FLOPs(c.in); got != c.want {
			t.Errorf("%v: %d operations, want %d", c.in.Code, got, c.want)
		}
	}
}

package op

import (
	"errors"
	"math"

	"gorgonia.org/tensor"
)

// Gather picks rows of a table x [R,C] by the indices in index [B,1], which may be empty; the
// result is [B,C]. With index [N,B,1] the result is [N,B,C]; if x is [N,R,C], each member picks
// from its own table. An index that names no row gives a row of NaN. Rows beyond 2²⁴ cannot be
// named in float32.
func (g *Graph) Gather(x, index *Node) *Node { return g.apply(Gather, Attr{}, x, index) }

// maxRows is the number of rows that a float32 index can name.
const maxRows = 1 << 24

func init() {
	rules[Gather] = rule{name: "Gather", wrt: []bool{true, false}, shape: gatherShape,
		do32: gather[float32], do64: gather[float64],
		grad: func(d derivation) []*Node {
			return []*Node{d.apply(GatherGrad, Attr{}, d.in[0], d.in[1], d.dout), nil}
		}}
	rules[GatherGrad] = rule{name: "GatherGrad", shape: first, do32: gatherGrad[float32], do64: gatherGrad[float64]}
}

func gatherShape(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
	x, index := in[0], in[1]
	if matrix(x) != nil || matrix(index) != nil || index[len(index)-1] != 1 {
		return nil, errors.New("want a table, [R,C] or [N,R,C], and indices [B,1] or [N,B,1]")
	}
	if len(x) == 3 && (len(index) != 3 || index[0] != x[0]) {
		return nil, errors.New("the members of the table need indices of their own, [N,B,1]")
	}
	if x[len(x)-2] > maxRows {
		return nil, errors.New("the table has more rows than a float32 can name, 2²⁴")
	}
	return withColumns(index, x[len(x)-1]), nil
}

// places calls visit for each row of the result, with the element of x at which the row begins, or
// −1 where there is no such row.
func places[T float](x, index tensor.Shape, indices []T, visit func(row, at int)) {
	members, rows, cols := dims(x)
	_, b, _ := dims(index)
	for i, v := range indices {
		first := 0
		if members > 1 {
			first = i / b * rows
		}
		if !(v >= 0 && float64(v) < float64(rows)) {
			visit(i, -1)
			continue
		}
		visit(i, (first+int(v))*cols)
	}
}

func gather[T float](c call[T]) {
	_, _, cols := dims(c.ins[0])
	places(c.ins[0], c.ins[1], c.in[1], func(row, at int) {
		out := c.out[row*cols : (row+1)*cols]
		if at >= 0 {
			copy(out, c.in[0][at:])
			return
		}
		for j := range out {
			out[j] = T(math.NaN())
		}
	})
}

func gatherGrad[T float](c call[T]) {
	_, _, cols := dims(c.ins[0])
	places(c.ins[0], c.ins[1], c.in[1], func(row, at int) {
		for j := 0; at >= 0 && j < cols; j++ {
			c.out[at+j] += c.in[2][row*cols+j]
		}
	})
}

package op

import (
	"errors"

	"gorgonia.org/tensor"
)

// Linear is x·w + b. x is [B,i] or [N,B,i], w [i,o] or [N,i,o], b [o] or [N,o]; the result is
// [B,o], or [N,B,o] if w has members. All members share an x without members.
func (g *Graph) Linear(x, w, b *Node) *Node { return g.apply(Linear, Attr{}, x, w, b) }

// LinearAt is Linear with the members of w [N,i,o] whose indices are the numbers in members [M];
// the result is [M,B,o]. It has no derivative: it serves targets that use a subset of an ensemble
// (REDQ).
func (g *Graph) LinearAt(x, w, b, members *Node) *Node {
	return g.apply(LinearAt, Attr{}, x, w, b, members)
}

func linearShape(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
	x, w, b := in[0], in[1], in[2]
	if len(x) < 2 || len(w) < 2 || len(w) > 3 {
		return nil, errMatrix
	}
	if len(x) == 3 && (len(w) != 3 || x[0] != w[0]) {
		return nil, errors.New("x and w must have the same members")
	}
	if len(b) != len(w)-1 || b[len(b)-1] != w[len(w)-1] || b[0] != w[0] && len(w) == 3 {
		return nil, errors.New("b must be w without its rows")
	}
	if x[len(x)-1] != w[len(w)-2] {
		return nil, errors.New("the columns of x must be the rows of w")
	}
	if len(w) == 3 {
		return tensor.Shape{w[0], x[len(x)-2], w[2]}, nil
	}
	return tensor.Shape{x[0], w[1]}, nil
}

func linear[T float](c call[T]) {
	n, _, _ := dims(c.ins[1])
	for e := range n {
		linearMember(c, e, e)
	}
}

// linearMember writes member e of the result, computed with member m of the weights.
func linearMember[T float](c call[T], e, m int) {
	xn, rows, in := dims(c.ins[0])
	_, _, out := dims(c.ins[1])
	x, w, b := c.in[0], c.in[1][m*in*out:], c.in[2][m*out:]
	for i := range rows {
		xr := x[((e%xn)*rows+i)*in:]
		y := c.out[(e*rows+i)*out : (e*rows+i+1)*out]
		copy(y, b[:out])
		for k := range in {
			for j := range y {
				y[j] += xr[k] * w[k*out+j]
			}
		}
	}
}

func init() {
	rules[Linear] = rule{
		name: "Linear", wrt: []bool{true, true, true},
		shape: linearShape, do32: linear[float32], do64: linear[float64],
		grad: func(d derivation) []*Node {
			x, w := d.in[0], d.in[1]
			var shared Attr
			if x.Dims() < w.Dims() {
				shared.I[0] = 1 // the members' gradients add up
			}
			return []*Node{
				d.apply(LinearDX, shared, d.dout, w),
				d.apply(LinearDW, Attr{}, x, d.dout),
				d.apply(ColSum, Attr{}, d.dout),
			}
		},
	}
	rules[LinearAt] = rule{
		name: "LinearAt",
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			if len(in[0]) == 3 && len(in[3]) == 1 && len(in[1]) == 3 && in[0][0] == in[3][0] {
				// x has M members, one for each index; member i of x goes through the member of w
				// that index i names.
				s, err := linearShape(a, []tensor.Shape{in[0][1:], in[1], in[2]})
				if err != nil {
					return nil, err
				}
				s[0] = in[3][0]
				return s, nil
			}
			s, err := linearShape(a, in[:3])
			if err != nil {
				return nil, err
			}
			if len(s) != 3 || len(in[3]) != 1 {
				return nil, errors.New("w must have members, and members must be [M]")
			}
			s[0] = in[3][0]
			return s, nil
		},
		do32: linearAt[float32], do64: linearAt[float64],
	}
	rules[LinearDX] = rule{
		name: "LinearDX",
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			n, b, _ := dims(in[0])
			_, i, _ := dims(in[1])
			if len(in[1]) == 2 || a.I[0] == 1 {
				return tensor.Shape{b, i}, nil
			}
			return tensor.Shape{n, b, i}, nil
		},
		do32: linearDX[float32], do64: linearDX[float64],
	}
	rules[LinearDW] = rule{
		name: "LinearDW",
		shape: func(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
			_, _, i := dims(in[0])
			n, _, o := dims(in[1])
			if len(in[1]) == 3 {
				return tensor.Shape{n, i, o}, nil
			}
			return tensor.Shape{i, o}, nil
		},
		do32: linearDW[float32], do64: linearDW[float64],
	}
	rules[ColSum] = rule{
		name: "ColSum",
		shape: func(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
			n, _, c := dims(in[0])
			if len(in[0]) == 3 {
				return tensor.Shape{n, c}, nil
			}
			return tensor.Shape{c}, nil
		},
		do32: colSum[float32], do64: colSum[float64],
	}
}

func linearAt[T float](c call[T]) {
	for e, m := range c.in[3] {
		linearMember(c, e, int(m))
	}
}

// linearDX is dz·wᵀ, for each member or, if the members shared x, summed over them.
func linearDX[T float](c call[T]) {
	n, rows, out := dims(c.ins[0])
	_, in, _ := dims(c.ins[1])
	members, _, _ := dims(c.shape)
	for e := range n {
		for i := range rows {
			dz := c.in[0][(e*rows+i)*out:]
			dx := c.out[((e%members)*rows+i)*in:]
			for k := range in {
				var s T
				for j := range out {
					s += dz[j] * c.in[1][(e*in+k)*out+j]
				}
				dx[k] += s
			}
		}
	}
}

// linearDW is xᵀ·dz for each member.
func linearDW[T float](c call[T]) {
	xn, rows, in := dims(c.ins[0])
	n, _, out := dims(c.ins[1])
	for e := range n {
		for i := range rows {
			x := c.in[0][((e%xn)*rows+i)*in:]
			dz := c.in[1][(e*rows+i)*out:]
			for k := range in {
				for j := range out {
					c.out[(e*in+k)*out+j] += x[k] * dz[j]
				}
			}
		}
	}
}

func colSum[T float](c call[T]) {
	n, rows, cols := dims(c.ins[0])
	for e := range n {
		for i := range rows {
			for j := range cols {
				c.out[e*cols+j] += c.in[0][(e*rows+i)*cols+j]
			}
		}
	}
}

package main

import (
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// elementwise emits the functions that map vectors to a vector.
func (g *gen) elementwise() {
	g.binary("Add", 4, g.add2)
	g.binary("Sub", 4, func(a, b vec) vec { return g.sub(a, b) })
	g.binary("Mul", 4, func(a, b vec) vec { return g.mul(a, b) })
	g.binary("ReLUGrad", 4, func(dy, y vec) vec { return g.keep(g.less(g.zero(), y), dy) })
	g.binary("TanhGrad", 4, func(dy, y vec) vec {
		return g.mul(dy, g.fnma(g.load(g.c(1)), y, y))
	})
	g.binary("SiLUGrad", 1, func(dy, z vec) vec { return g.mul(dy, g.siluSlope(z)) })
	g.binary("MishGrad", 1, func(dy, z vec) vec { return g.mul(dy, g.mishSlope(z)) })
	g.binary("ELUGrad", 1, g.eluGrad)
	g.binary("SigmoidGrad", 4, func(dy, y vec) vec {
		return g.mul(dy, g.fnma(g.copy(y), y, y))
	})
	g.binary("SoftplusGrad", 1, g.softplusGrad)

	g.unary("ReLU", 4, func(x vec) vec { return g.atLeast(x, g.zero()) })
	g.unary("Tanh", 1, g.tanh)
	g.unary("SiLU", 1, g.silu)
	g.unary("Mish", 1, g.mish)
	g.unary("ELU", 1, g.elu)
	g.unary("Exp", 1, g.exp)
	g.unary("Log", 1, g.log)
	g.unary("Sigmoid", 1, g.sigmoid)
	g.unary("Softplus", 1, g.softplus)

	g.begin("Scale", "func(n int, dst, a *float32, c float32)")
	g.scalarLoop([]string{"a"}, func(in []vec, c vec) vec { return g.mul(in[0], c) })
	g.begin("Axpy", "func(n int, dst, a *float32, c float32)")
	g.scalarLoop([]string{"dst", "a"}, func(in []vec, c vec) vec { return g.fma(in[0], in[1], c) })
	g.begin("Lerp", "func(n int, dst, a *float32, c float32)")
	g.scalarLoop([]string{"dst", "a"}, func(in []vec, c vec) vec {
		return g.fma(in[0], g.sub(in[1], in[0]), c)
	})
}

func (g *gen) add2(a, b vec) vec { return g.add(a, b) }

func (g *gen) unary(name string, unroll int, f func(x vec) vec) {
	g.begin(name, "func(n int, dst, x *float32)")
	g.loop(unroll, []string{"x"}, []string{"dst"}, func(in []vec) []vec { return []vec{f(in[0])} })
	g.end()
}

func (g *gen) binary(name string, unroll int, f func(a, b vec) vec) {
	g.begin(name, "func(n int, dst, a, b *float32)")
	g.loop(unroll, []string{"a", "b"}, []string{"dst"}, func(in []vec) []vec { return []vec{f(in[0], in[1])} })
	g.end()
}

func (g *gen) scalarLoop(in []string, f func(in []vec, c vec) vec) {
	c := g.spread(g.address("c"))
	g.loop(4, in, []string{"dst"}, func(in []vec) []vec { return []vec{f(in, c)} })
	g.end()
}

// address returns the memory operand of a parameter.
func (g *gen) address(name string) mem {
	basic, err := g.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return basic.Addr
}

// loop runs body over the n elements of the named arrays: first blocks of unroll vectors, then
// single vectors, then the tail under a mask. It reads in and writes what the body returns to out.
func (g *gen) loop(unroll int, in, out []string, body func(in []vec) []vec) {
	g.loopMasked(unroll, in, out, func(in []vec, _ mask) []vec { return body(in) })
}

// loopMasked is loop with a body that needs to know which lanes of the tail count; nil: all do.
func (g *gen) loopMasked(unroll int, in, out []string, body func(in []vec, rest mask) []vec) {
	n, at := g.arg("n"), g.GP64()
	pointer := map[string]reg.GPVirtual{}
	for _, name := range append(append([]string{}, in...), out...) {
		if _, ok := pointer[name]; !ok {
			pointer[name] = g.arg(name)
		}
	}
	place := func(name string, i int) mem {
		return mem{Base: pointer[name], Index: at, Scale: 4, Disp: i * g.bytes()}
	}
	whole := func(i int) {
		var args []vec
		for _, name := range in {
			args = append(args, g.load(place(name, i)))
		}
		for o, v := range body(args, nil) {
			g.VMOVUPS(v, place(out[o], i))
		}
	}
	g.XORQ(at, at)
	label := ""
	for _, u := range []int{unroll, 1} {
		if u == 1 && unroll == 1 && label != "" {
			break
		}
		label = strings.Repeat("x", u)
		g.Label("blocks" + label)
		g.CMPQ(n, operand.U32(u*g.lanes))
		g.JLT(operand.LabelRef("after" + label))
		for i := range u {
			whole(i)
		}
		g.ADDQ(operand.U32(u*g.lanes), at)
		g.SUBQ(operand.U32(u*g.lanes), n)
		g.JMP(operand.LabelRef("blocks" + label))
		g.Label("after" + label)
	}
	g.TESTQ(n, n)
	g.JZ(operand.LabelRef("done"))
	rest := g.mask()
	g.tail(n, rest)
	var args []vec
	for _, name := range in {
		v := g.vec()
		g.loadTail(place(name, 0), rest, v)
		args = append(args, v)
	}
	for o, v := range body(args, rest) {
		g.storeTail(v, rest, place(out[o], 0))
	}
	g.Label("done")
}

package cpu

import (
	"slices"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu/kernel"
)

// fused returns the program with passes over activations moved into the adjacent layers, which read
// or write these activations anyway:
//
//   - an addition to a layer's result becomes the start of the layer's sums:
//     operand 3 of Linear;
//   - an addition to some of a layer's columns is made while a share's rows are still in the caches:
//     Mask of Linear, from column I[1] on;
//   - an activation that only layers read is applied as they read their
//     operand: I[0] of Linear, a Code;
//   - a multiple of something that is added to the gradient of weights is added as the gradient is
//     made: operand 2 and F[0] of LinearDW;
//   - members that are columns side by side, or copies of one matrix, are read and written where they
//     are (beside.go).
//
// A fused instruction leaves a Nop behind, so that instructions keep their numbers; into names for
// each instruction the one that now does its work.
func fused(p *device.Program, divides func(w device.Ref, rows int) bool) (q *device.Program, into []int) {
	f := fusion{p: new(device.Program), divides: divides, users: make([]int, len(p.Buffers)), into: make([]int, len(p.Instrs))}
	*f.p = *p
	f.p.Instrs = slices.Clone(p.Instrs)
	f.count()
	for i := range f.into {
		f.into[i] = i
	}
	for i, in := range f.p.Instrs {
		switch in.Code {
		case device.Add:
			f.addition(i)
			f.decay(i)
		case device.AddColumns:
			f.additionOfColumns(i)
		case device.ReLU, device.Tanh, device.SiLU, device.Mish, device.ELU:
			f.activation(i)
		}
	}
	f.sideBySide()
	for i := range f.into {
		for f.into[i] != f.into[f.into[i]] {
			f.into[i] = f.into[f.into[i]]
		}
	}
	return f.p, f.into
}

type fusion struct {
	p       *device.Program
	divides func(w device.Ref, rows int) bool
	users   []int // number of users of each buffer; a buffer that outlives the instructions counts as many
	into    []int
}

// nop takes the place of a removed instruction.
var nop = device.Instr{Code: device.Nop, Out: device.None, Mask: device.None}

func (f *fusion) count() {
	for _, in := range f.p.Instrs {
		for _, r := range in.In {
			f.users[r]++
		}
		if in.Mask != device.None {
			f.users[in.Mask]++
		}
	}
	for r, b := range f.p.Buffers {
		if b.Host != nil {
			f.users[r] += many
		}
	}
	for _, r := range kept(f.p) {
		f.users[r] += many
	}
}

const many = 1 << 20

// layer reports whether an instruction is a layer whose product works on whole tiles.
func (f *fusion) layer(in device.Instr) bool {
	return in.Code == device.Linear && f.p.Buffers[in.In[1]].Cols > 1
}

// addition moves an addition into the last of the layers whose result it adds, if nothing else
// reads that result.
func (f *fusion) addition(i int) {
	add := f.p.Instrs[i]
	for at := i - 1; at >= 0; at-- {
		layer := f.p.Instrs[at]
		side := slices.Index(add.In, layer.Out)
		if side < 0 {
			continue
		}
		other := add.In[1-side]
		if !f.layer(layer) || layer.ReLU || len(layer.In) != 3 || f.users[layer.Out] != 1 || !f.alike(other, layer.Out) {
			continue
		}
		layer.In = append(slices.Clone(layer.In), other)
		layer.Out = add.Out
		f.p.Instrs[at], f.p.Instrs[i] = nop, layer
		f.into[at] = i
		return
	}
}

// additionOfColumns moves an addition to some columns into the layer that makes them, if nothing else reads
// its result.
func (f *fusion) additionOfColumns(i int) {
	add := f.p.Instrs[i]
	at := f.maker(add.In[0], i)
	if at < 0 {
		return
	}
	layer := f.p.Instrs[at]
	if !f.layer(layer) || layer.ReLU || layer.Mask != device.None || f.users[layer.Out] != 1 || f.divides(layer.In[1], f.p.Buffers[layer.Out].Rows) {
		return
	}
	layer.Mask, layer.I[1], layer.Out = add.In[1], add.I[0], add.Out
	f.p.Instrs[at], f.p.Instrs[i] = nop, layer
	f.into[at] = i
}

// decay moves the addition of a multiple of a buffer, as of the weights themselves, into the gradient
// that it is added to.
func (f *fusion) decay(i int) {
	add := f.p.Instrs[i]
	if add.Code != device.Add {
		return
	}
	dw, scale := f.maker(add.In[0], i), f.maker(add.In[1], i)
	if dw < 0 || scale < 0 || f.users[add.In[0]] != 1 || f.users[add.In[1]] != 1 {
		return
	}
	from, by := f.p.Instrs[dw], f.p.Instrs[scale]
	if from.Code != device.LinearDW || len(from.In) != 2 || by.Code != device.Scale || f.p.Buffers[by.In[0]].Host == nil || !f.alike(by.In[0], add.Out) {
		return
	}
	from.In = append(slices.Clone(from.In), by.In[0])
	from.F[0], from.Out = by.F[0], add.Out
	f.p.Instrs[dw], f.p.Instrs[scale], f.p.Instrs[i] = from, nop, nop
	f.into[scale], f.into[i] = dw, dw
}

// maker returns the number of the last instruction before i that makes a buffer; −1: none does.
func (f *fusion) maker(r device.Ref, i int) int {
	for at := i - 1; at >= 0; at-- {
		if in := f.p.Instrs[at]; in.Code != device.Nop && in.Out == r {
			return at
		}
	}
	return -1
}

func (f *fusion) alike(a, b device.Ref) bool {
	x, y := f.p.Buffers[a], f.p.Buffers[b]
	return x.Members == y.Members && x.Rows == y.Rows && x.Cols == y.Cols
}

// least is the minimum number of rows and columns of a layer's operand, and of columns of its
// result, for which copying the operand is worth it.
const least = 48

// activation moves an activation into the layers that read it, if nothing else reads it. A function
// that takes longer than reading the number is evaluated only once: it is moved only into a single
// layer whose operand is not read by every lane.
func (f *fusion) activation(i int) {
	act := f.p.Instrs[i]
	x := f.p.Buffers[act.Out]
	if x.Rows < least*Lanes || x.Cols < least {
		return
	}
	var layers []int
	for at := i + 1; at < len(f.p.Instrs); at++ {
		in := f.p.Instrs[at]
		if !f.layer(in) || in.In[0] != act.Out {
			continue
		}
		w := f.p.Buffers[in.In[1]]
		dear := act.Code != device.ReLU && (len(layers) > 0 || f.divides(in.In[1], x.Rows))
		if dear || w.Cols < least || w.Members != x.Members {
			return
		}
		layers = append(layers, at)
	}
	if len(layers) == 0 || f.users[act.Out] != len(layers) {
		return
	}
	for _, at := range layers {
		in := &f.p.Instrs[at]
		in.In = slices.Clone(in.In)
		in.In[0], in.I[0] = act.In[0], int(act.Code)
	}
	f.p.Instrs[i] = nop
	f.into[i] = layers[0]
}

// epilogue returns what a layer does besides its product on columns lo to hi of member e, whose
// part of the result begins at element at.
func (c *compiler) epilogue(in device.Instr) func(e, lo, hi, at int) kernel.Epilogue {
	_, _, out := c.shape(in.In[1])
	bias, read := c.data[in.In[2]], c.activation(device.Code(in.I[0]))
	var from []float32
	if len(in.In) > 3 {
		from = c.data[in.In[3]]
	}
	return func(e, lo, hi, at int) kernel.Epilogue {
		ep := kernel.Epilogue{Bias: bias[e*out+lo : e*out+hi], ReLU: in.ReLU, Read: read}
		if from != nil {
			ep.Accumulate, ep.From = true, from[at:]
		}
		return ep
	}
}

// activation returns the function of a code, or nil if there is none.
func (c *compiler) activation(code device.Code) func(dst, x []float32) {
	switch code {
	case device.ReLU:
		return c.k.ReLU
	case device.Tanh:
		return c.k.Tanh
	case device.SiLU:
		return c.k.SiLU
	case device.Mish:
		return c.k.Mish
	case device.ELU:
		return c.k.ELU
	}
	return nil
}

// name describes an instruction for people.
func name(in device.Instr) string {
	what := in.Code.String()
	if in.Code == device.Linear && in.I[0] != 0 {
		what += " of " + device.Code(in.I[0]).String()
	}
	if in.Code == device.Linear && len(in.In) > 3 {
		what += " + add"
	}
	if in.Code == device.Linear && in.Mask != device.None {
		what += " + add columns"
	}
	return what
}

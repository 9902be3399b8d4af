package policy

import (
	"errors"
	"fmt"
	"strings"

	"pgrlab/core/agent"
	"pgrlab/core/op"
)

// translation makes a graph of a policy's tensors, which it takes one after the other. What is computed
// is known by its name. Its first error stays, and after it nothing is added that anybody may read.
type translation struct {
	onnxGraph
	left  []*op.Tensor
	width int // numbers in a row of what was computed last
	err   error
}

var errDamaged = errors.New("read policy: these are no weights of a policy")

func (p *translation) fail() {
	if p.err == nil {
		p.err = errDamaged
	}
}

// next is the name of the next tensor; "" after the last.
func (p *translation) next() string {
	if len(p.left) == 0 {
		return ""
	}
	return p.left[0].Name
}

// pair takes the next two tensors, a matrix [in,out] and a vector [out].
func (p *translation) pair(in int) (w, b *op.Tensor) {
	if len(p.left) >= 2 {
		w, b = p.left[0], p.left[1]
		p.left = p.left[2:]
		if len(w.Shape) == 2 && w.Shape[0] == in && len(b.Shape) == 1 && b.Shape[0] == w.Shape[1] {
			return w, b
		}
	}
	p.fail()
	return op.NewTensor("none", in, 1), op.NewTensor("none", 1)
}

// obs is the input of a policy that sees observations of so many numbers.
func (p *translation) obs(numbers int) string {
	p.width = numbers
	return p.input("obs", onnxFloat, numbers)
}

// linear is x·W + b for the first outputs of a layer.
func (p *translation) linear(x string, w, b *op.Tensor, outputs int) string {
	in, out := w.Shape[0], w.Shape[1]
	data := make([]float32, 0, in*outputs)
	for i := range in {
		data = append(data, w.Data[i*out:i*out+outputs]...)
	}
	p.width = outputs
	return p.node("", "Gemm", nil, x, p.constant(w.Name, data, in, outputs), p.constant(b.Name, b.Data[:outputs], outputs))
}

// layers are all layers that are left, with an activation between them. The last one has the given number
// of heads with act outputs each, of which the first is computed.
func (p *translation) layers(x, activation string, heads, act int) string {
	for n := 0; len(p.left) > 0 && p.err == nil; n++ {
		if n > 0 {
			x = p.node("", activation, nil, x)
		}
		w, b := p.pair(p.width)
		outputs := w.Shape[1]
		if len(p.left) == 0 {
			if outputs != heads*act {
				p.fail()
				break
			}
			outputs = act
		}
		x = p.linear(x, w, b, outputs)
	}
	return x
}

// encoder are the convolutions of DrQ-v2 over bytes/255 − 0.5. Its numbers come out in the order (y, x,
// channel), in which those of the trunk's weights are.
func (p *translation) encoder(c agent.Pixels) string {
	x := p.input("frames", onnxUint8, agent.Colours*c.Stack, c.Side, c.Side)
	x = p.node("", "Cast", intAttribute(nil, "to", onnxFloat), x)
	x = p.node("", "Div", nil, x, p.constant("most", []float32{255}))
	x = p.node("", "Sub", nil, x, p.constant("middle", []float32{0.5}))
	over, flat := c.Layers()
	p.width = flat
	for _, over := range over {
		w, b := p.pair(over.Patch())
		out, k, in := w.Shape[1], over.Kernel, over.Channels
		data := make([]float32, 0, len(w.Data)) // [out,in,ky,kx] of [(ky,kx,in),out]
		for o := range out {
			for i := range in {
				for at := range k * k {
					data = append(data, w.Data[(at*in+i)*out+o])
				}
			}
		}
		x = p.node("", "Conv", intsAttribute(nil, "strides", over.Stride, over.Stride), x, p.constant(w.Name, data, out, in, k, k), p.constant(b.Name, b.Data, out))
		x = p.node("", "Relu", nil, x)
	}
	return p.node("", "Flatten", nil, p.node("", "Transpose", intsAttribute(nil, "perm", 0, 2, 3, 1), x))
}

// trunk is a layer, its norm with PyTorch's ε, and tanh.
func (p *translation) trunk(x string) string {
	w, b := p.pair(p.width)
	x = p.linear(x, w, b, w.Shape[1])
	if len(p.left) < 2 || !strings.HasSuffix(p.next(), ".gamma") || len(p.left[0].Data) != w.Shape[1] || len(p.left[1].Data) != w.Shape[1] {
		p.fail()
		return x
	}
	gamma, beta := p.left[0], p.left[1]
	p.left = p.left[2:]
	last := intsAttribute(nil, "axes", 1)
	x = p.node("", "Sub", nil, x, p.node("", "ReduceMean", last, x))
	variance := p.node("", "ReduceMean", last, p.node("", "Mul", nil, x, x))
	deviation := p.node("", "Sqrt", nil, p.node("", "Add", nil, variance, p.constant("epsilon", []float32{1e-5})))
	x = p.node("", "Mul", nil, p.node("", "Div", nil, x, deviation), p.constant(gamma.Name, gamma.Data, w.Shape[1]))
	return p.node("", "Tanh", nil, p.node("", "Add", nil, x, p.constant(beta.Name, beta.Data, w.Shape[1])))
}

// acts makes the outputs of a policy whose actions are numbers.
func (p *translation) acts(x string, bounds Bounds) {
	p.output(p.node("action", "Tanh", nil, x), onnxFloat, p.width)
	switch {
	case p.err != nil || len(bounds.Low)+len(bounds.High) == 0:
		return
	case len(bounds.Low) != p.width || len(bounds.High) != p.width:
		p.err = fmt.Errorf("write onnx: bounds of %d and %d numbers for actions of %d", len(bounds.Low), len(bounds.High), p.width)
		return
	}
	var half, middle []float32
	for i, low := range bounds.Low {
		half, middle = append(half, float32((bounds.High[i]-low)/2)), append(middle, float32((bounds.High[i]+low)/2))
	}
	x = p.node("", "Mul", nil, "action", p.constant("half of the range", half, p.width))
	p.output(p.node("action_env", "Add", nil, x, p.constant("middle of the range", middle, p.width)), onnxFloat, p.width)
}

// chooses makes the outputs of a policy that chooses among so many actions: their logits, and the number
// of the most likely one.
func (p *translation) chooses(x string) {
	p.output(p.node("logits", "Identity", nil, x), onnxFloat, p.width)
	p.output(p.node("action", "ArgMax", intAttribute(intAttribute(nil, "axis", 1), "keepdims", 0), "logits"), onnxInt64)
}

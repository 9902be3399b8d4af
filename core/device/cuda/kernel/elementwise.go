package kernel

import "pgrlab/core/device"

func init() {
	lowerings[device.Nop] = func(*builder) error { return nil }
	for code, kernel := range map[device.Code]string{
		device.ReLU: "relu", device.Tanh: "tanh", device.SiLU: "silu", device.Mish: "mish", device.ELU: "elu",
		device.Exp: "exp", device.Log: "log", device.Square: "square", device.Sqrt: "sqrt", device.Softplus: "softplus",
		device.Sigmoid: "sigmoid", device.SignedSqrt: "signed_sqrt",

		device.ReLUGrad: "relu_grad", device.TanhGrad: "tanh_grad", device.SiLUGrad: "silu_grad", device.MishGrad: "mish_grad",
		device.ELUGrad: "elu_grad", device.SoftplusGrad: "softplus_grad", device.SigmoidGrad: "sigmoid_grad",
		device.Add: "add", device.Sub: "sub", device.Mul: "mul", device.Div: "div", device.Minimum: "minimum", device.Maximum: "maximum",
		device.TDTarget: "td_target",
	} {
		lowerings[code] = elementwise(kernel, func(device.Instr) []any { return nil })
	}
	lowerings[device.Scale] = elementwise("scale", func(in device.Instr) []any { return []any{float32(in.F[0])} })
	lowerings[device.Shift] = elementwise("shift", func(in device.Instr) []any { return []any{float32(in.F[0])} })
	bounds := func(in device.Instr) []any { return []any{float32(in.F[0]), float32(in.F[1])} }
	lowerings[device.Clamp] = elementwise("clamp", bounds)
	lowerings[device.ClampGrad] = elementwise("clamp_grad", bounds)
	lowerings[device.Keep] = elementwise("keep", func(in device.Instr) []any { return []any{uint32(1 - in.I[0])} })
}

// elementwise is the recipe of a kernel whose arguments are the result, the operands, constants of
// the instruction and the number of elements.
func elementwise(kernel string, constants func(in device.Instr) []any) lowering {
	return func(b *builder) error {
		n := b.size(b.in.Out)
		args := append(b.operands(), constants(b.in)...)
		b.elements(kernel, n, append(args, int64(n))...)
		return nil
	}
}

// operands returns the result and the operands of the instruction as arguments.
func (b *builder) operands() []any {
	args := []any{at(b.in.Out, 0)}
	for _, r := range b.in.In {
		args = append(args, at(r, 0))
	}
	return args
}

package kernel

type unaryKernel struct {
	name string
	call func(dst, x []float32)
}

type binaryKernel struct {
	name string
	call func(dst, a, b []float32)
}

func unaryKernels(f *Family) []unaryKernel {
	return []unaryKernel{
		{"ReLU", f.ReLU}, {"Tanh", f.Tanh}, {"SiLU", f.SiLU}, {"Mish", f.Mish}, {"ELU", f.ELU}, {"Exp", f.Exp}, {"Log", f.Log},
		{"Sigmoid", f.Sigmoid}, {"Softplus", f.Softplus},
		{"Scale", func(dst, x []float32) { f.Scale(dst, x, -1.7) }},
	}
}

func binaryKernels(f *Family) []binaryKernel {
	return []binaryKernel{
		{"Add", f.Add}, {"Sub", f.Sub}, {"Mul", f.Mul}, {"ReLUGrad", f.ReLUGrad}, {"TanhGrad", f.TanhGrad},
		{"SiLUGrad", f.SiLUGrad}, {"MishGrad", f.MishGrad}, {"ELUGrad", f.ELUGrad}, {"SigmoidGrad", f.SigmoidGrad}, {"SoftplusGrad", f.SoftplusGrad},
	}
}

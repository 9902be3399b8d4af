package kernel

import (
	"math"
	"slices"

	"pgrlab/core/device"
)

// Steps of a chain, in the order of chain.cu.
const (
	stepReLU uint64 = iota
	stepSiLU
	stepMish
	stepELU
	stepTanh
	stepExp
	stepLog
	stepSquare
	stepSqrt
	stepSoftplus
	stepSigmoid
	stepSignedSqrt
	stepAdd
	stepSub
	stepMul
	stepReLUGrad
	stepSiLUGrad
	stepMishGrad
	stepELUGrad
	stepDiv
	stepMinimum
	stepMaximum
	stepTanhGrad
	stepSigmoidGrad
	stepSoftplusGrad
	stepScale
	stepShift
	stepClamp
	stepClampGrad
	stepKeep
	stepTDTarget
	stepColScale
	stepColAdd
	stepRepeat
	stepSpread
	stepConstant
	stepSumMembers
	stepMinMembers
	stepMinMembersGrad
	stepConcat
	stepSlice
	stepPad
	stepSquaredErrorGrad
	stepBCEGrad
	stepBatchNorm
	stepGather
	stepFourier
	stepEDMNoised
	stepFillNormal
	stepFillUniform
	stepOuterProduct
	stepLogSumExpGrad
	stepTanhGaussianGrad
	stepTanhGaussian // from here on warps have rows
	stepRowDot
	stepSumColumns
	stepRowMeanSquare
	stepLogSumExp
	stepSoftmax
	stepSoftmaxGrad
	stepLayerNorm
	stepLayerNormDX
	stepRMSNorm
	stepRMSNormDX
)

// chainable turns an instruction into a step, by code; it is filled by init.
var chainable [device.Codes]func(b *builder) line

// line is a step of a chain before it becomes a line of the chain's table.
type line struct {
	step     uint64
	a, b     uint64
	f, g     float64
	operands []operand
}

// operand is an operand of a step: a buffer of which a row of the result needs only the same row, a
// buffer that is read as a whole, or another address.
type operand struct {
	ref     device.Ref
	whole   bool
	address any // instead of a buffer
}

const (
	lineWords    = 21
	lineOperands = 6
	longestChain = 16
	// chainElements bounds the results of a chain. Beyond it memory bandwidth counts, not the
	// number of launches, and the kernels of single instructions use bandwidth better.
	chainElements = 1 << 18
)

func init() {
	for code, step := range map[device.Code]uint64{
		device.ReLU: stepReLU, device.SiLU: stepSiLU, device.Mish: stepMish, device.ELU: stepELU, device.Tanh: stepTanh,
		device.Exp: stepExp, device.Log: stepLog, device.Square: stepSquare, device.Sqrt: stepSqrt, device.Softplus: stepSoftplus,
		device.Sigmoid: stepSigmoid, device.SignedSqrt: stepSignedSqrt, device.Add: stepAdd, device.Sub: stepSub, device.Mul: stepMul,
		device.Div: stepDiv, device.Minimum: stepMinimum, device.Maximum: stepMaximum, device.ReLUGrad: stepReLUGrad, device.SiLUGrad: stepSiLUGrad, device.MishGrad: stepMishGrad,
		device.ELUGrad: stepELUGrad, device.TanhGrad: stepTanhGrad, device.SigmoidGrad: stepSigmoidGrad,
		device.SoftplusGrad: stepSoftplusGrad, device.RowScale: stepMul, device.Concat: stepConcat,
		device.TanhGaussian: stepTanhGaussian, device.TanhGaussianGrad: stepTanhGaussianGrad,
		device.RowMeanSquare: stepRowMeanSquare, device.LogSumExp: stepLogSumExp, device.LogSumExpGrad: stepLogSumExpGrad,
		device.Softmax: stepSoftmax, device.SoftmaxGrad: stepSoftmaxGrad,
	} {
		chainable[code] = func(b *builder) line { return line{step: step, operands: b.byRows(b.in.In...)} }
	}
	chainConstants()
	chainMembers()
	chainLosses()
	chainInputs()
	chainByRows()
}

// chainByRows registers layers of one column, and what a row makes of its columns.
func chainByRows() {
	chainable[device.Linear] = func(b *builder) line {
		l := line{step: stepRowDot, operands: append(b.byRows(b.in.In[0]), wholes(b.in.In[1:3]...)...)}
		if _, _, k := b.shape(b.in.In[0]); k%4 == 0 {
			l.a = 1 // in vectors
		}
		return l
	}
	chainable[device.LinearDX] = func(b *builder) line {
		mask := operand{address: uint64(0)}
		if b.in.Mask != device.None {
			mask = operand{ref: b.in.Mask}
		}
		return line{step: stepOuterProduct, operands: append(append(b.byRows(b.in.In[0]), wholes(b.in.In[1])...), mask)}
	}
	chainable[device.SumColumns] = func(b *builder) line {
		return line{step: stepSumColumns, a: math.Float64bits(b.in.F[0]), operands: b.byRows(b.in.In[0])}
	}
	for code, step := range map[device.Code]uint64{
		device.LayerNorm: stepLayerNorm, device.LayerNormDX: stepLayerNormDX, device.RMSNorm: stepRMSNorm, device.RMSNormDX: stepRMSNormDX,
	} {
		chainable[code] = func(b *builder) line {
			l := line{step: step, a: math.Float64bits(b.in.F[0]), operands: append(b.byRows(b.in.In[0]), wholes(b.in.In[1])...)}
			if code == device.LayerNorm {
				l.operands = append(l.operands, wholes(b.in.In[2])...)
			} else if len(b.in.In) > 2 {
				l.operands = append(l.operands, b.byRows(b.in.In[2])...)
			}
			return l
		}
	}
}

// rowSteps are the steps that the switch "rows" is about.
var rowSteps = []device.Code{
	device.Linear, device.LinearDX, device.SumColumns, device.RowMeanSquare, device.LogSumExp, device.LogSumExpGrad, device.Softmax,
	device.SoftmaxGrad, device.LayerNorm, device.LayerNormDX, device.RMSNorm, device.RMSNormDX,
}

// wider reports whether an instruction is more than a step: a product of several columns or one that adds up members, or a norm of
// several groups of columns.
func (c *chain) wider(in device.Instr) bool {
	members, _, cols := c.shape(in.Out)
	if !c.target.Has("rows") && slices.Contains(rowSteps, in.Code) {
		return true
	}
	switch in.Code {
	case device.Linear:
		return cols > 1 || in.ReLU
	case device.LinearDX:
		of, _, one := c.shape(in.In[0])
		return one > 1 || of != members
	case device.LayerNorm, device.LayerNormDX, device.RMSNorm, device.RMSNormDX:
		_, _, gamma := c.shape(in.In[1])
		return gamma != cols
	}
	return false
}

// chainConstants registers elementwise steps with constants of the instruction.
func chainConstants() {
	chainable[device.Scale] = func(b *builder) line { return line{step: stepScale, f: b.in.F[0], operands: b.byRows(b.in.In...)} }
	chainable[device.Shift] = func(b *builder) line { return line{step: stepShift, f: b.in.F[0], operands: b.byRows(b.in.In...)} }
	chainable[device.Clamp] = func(b *builder) line {
		return line{step: stepClamp, f: b.in.F[0], g: b.in.F[1], operands: b.byRows(b.in.In...)}
	}
	chainable[device.ClampGrad] = func(b *builder) line {
		return line{step: stepClampGrad, f: b.in.F[0], g: b.in.F[1], operands: b.byRows(b.in.In...)}
	}
	chainable[device.Keep] = func(b *builder) line {
		return line{step: stepKeep, a: uint64(1 - b.in.I[0]), operands: b.byRows(b.in.In...)}
	}
	chainable[device.Slice] = func(b *builder) line {
		return line{step: stepSlice, a: uint64(b.in.I[0]), operands: b.byRows(b.in.In...)}
	}
	chainable[device.Pad] = func(b *builder) line {
		return line{step: stepPad, a: uint64(b.in.I[0]), operands: b.byRows(b.in.In...)}
	}
	chainable[device.SpreadColumns] = func(b *builder) line {
		return line{step: stepSpread, f: b.in.F[0], operands: b.byRows(b.in.In...)}
	}
	chainable[device.ColScale] = func(b *builder) line {
		return line{step: stepColScale, operands: append(b.byRows(b.in.In[0]), wholes(b.in.In[1])...)}
	}
	chainable[device.ColAdd] = func(b *builder) line {
		return line{step: stepColAdd, operands: append(b.byRows(b.in.In[0]), wholes(b.in.In[1])...)}
	}
	for code, variance := range map[device.Code]uint64{device.BatchNorm: 1, device.BatchNormEval: 2} {
		chainable[code] = func(b *builder) line {
			return line{step: stepBatchNorm, a: variance, operands: append(b.byRows(b.in.In[0]), wholes(b.in.In[1:]...)...)}
		}
	}
}

// chainMembers registers steps across members.
func chainMembers() {
	repeat := func(divisor func(members int) float64) func(b *builder) line {
		return func(b *builder) line {
			members, _, _ := b.shape(b.in.Out)
			return line{step: stepRepeat, f: divisor(members), operands: b.byRows(b.in.In[0])}
		}
	}
	sum := func(divisor func(members int) float64) func(b *builder) line {
		return func(b *builder) line {
			members, _, _ := b.shape(b.in.In[0])
			return line{step: stepSumMembers, a: uint64(members), f: divisor(members), operands: b.byRows(b.in.In[0])}
		}
	}
	one, all := func(int) float64 { return 1 }, func(n int) float64 { return float64(n) }
	chainable[device.Members], chainable[device.BroadcastMembers] = repeat(one), repeat(all)
	chainable[device.SumMembers], chainable[device.MeanMembers] = sum(one), sum(all)
	chainable[device.MinMembers] = func(b *builder) line {
		members, _, _ := b.shape(b.in.In[0])
		return line{step: stepMinMembers, a: uint64(members), operands: b.byRows(b.in.In...)}
	}
	chainable[device.MinMembersGrad] = func(b *builder) line {
		return line{step: stepMinMembersGrad, operands: b.byRows(b.in.In...)}
	}
}

// chainLosses registers targets and gradients of losses.
func chainLosses() {
	chainable[device.TDTarget] = func(b *builder) line {
		return line{step: stepTDTarget, operands: append(b.byRows(b.in.In[:4]...), wholes(b.in.In[4:]...)...)}
	}
	slope := func(step uint64) func(b *builder) line {
		return func(b *builder) line {
			last := len(b.in.In) - 1
			weight := operand{address: uint64(0)}
			if last == 3 {
				weight = operand{ref: b.in.In[2]}
			}
			operands := append(b.byRows(b.in.In[:2]...), weight)
			return line{step: step, a: math.Float64bits(b.in.F[0]), f: b.in.F[1], operands: append(operands, wholes(b.in.In[last])...)}
		}
	}
	chainable[device.SquaredErrorGrad], chainable[device.WeightedSquaredErrorGrad] = slope(stepSquaredErrorGrad), slope(stepSquaredErrorGrad)
	chainable[device.BCEGrad] = slope(stepBCEGrad)
	constant := func(divisor float64, operands ...operand) line {
		return line{step: stepConstant, a: math.Float64bits(divisor), operands: operands}
	}
	none := operand{address: uint64(0)}
	chainable[device.SumGrad] = func(b *builder) line { return constant(b.in.F[0], wholes(b.in.In[1])[0], none) }
	chainable[device.EntropyGradLogp] = func(b *builder) line {
		_, rows, _ := b.shape(b.in.Out)
		return constant(float64(rows), wholes(b.in.In[2], b.in.In[1])...)
	}
	chainable[device.EntropyGradQ] = func(b *builder) line {
		_, rows, _ := b.shape(b.in.Out)
		return constant(-float64(rows), wholes(b.in.In[1])[0], none)
	}
}

// chainInputs registers steps that fill, gather or embed.
func chainInputs() {
	chainable[device.Gather] = func(b *builder) line {
		members, rows, _ := b.shape(b.in.In[0])
		operands := append(wholes(b.in.In[0]), b.byRows(b.in.In[1])...)
		return line{step: stepGather, a: uint64(rows), b: uint64(members), operands: operands}
	}
	chainable[device.Fourier] = func(b *builder) line {
		operands := append(b.byRows(b.in.In[0]), wholes(b.in.In[1])...)
		return line{step: stepFourier, a: uint64(b.size(b.in.In[1])), operands: operands}
	}
	chainable[device.EDMNoised] = func(b *builder) line {
		operands := append(b.byRows(b.in.In[:3]...), wholes(b.in.In[3])...)
		return line{step: stepEDMNoised, a: math.Float64bits(b.in.F[0]), b: math.Float64bits(b.in.F[1]), operands: operands}
	}
	for code, step := range map[device.Code]uint64{device.FillNormal: stepFillNormal, device.FillUniform: stepFillUniform} {
		chainable[code] = func(b *builder) line {
			live := operand{address: uint64(0)}
			if b.in.Items != nil {
				live.address = Live{Items: b.in.Items}
			}
			key := b.in.Fill.Key
			return line{step: step, a: uint64(key[0]), b: uint64(key[1]), operands: []operand{{address: Occasion{}}, live}}
		}
	}
}

// byRows returns operands of which a row of the result needs only the same row.
func (b *builder) byRows(refs ...device.Ref) (operands []operand) {
	for _, r := range refs {
		operands = append(operands, operand{ref: r})
	}
	return operands
}

// wholes returns operands that every row of the result may read as a whole.
func wholes(refs ...device.Ref) (operands []operand) {
	for _, r := range refs {
		operands = append(operands, operand{ref: r, whole: true})
	}
	return operands
}

// words returns the words of a line of the table.
func (b *builder) words(l line) Table {
	members, _, cols := b.shape(b.in.Out)
	w := Table{
		l.step, uint64(members), uint64(cols), at(b.in.Out, 0), uint64(len(l.operands)), l.a, l.b,
		uint64(math.Float32bits(float32(l.f))), uint64(math.Float32bits(float32(l.g))),
	}
	for _, o := range l.operands {
		if o.address != nil {
			w = append(w, o.address, uint64(0))
			continue
		}
		n, _, c := b.shape(o.ref)
		own := uint64(0)
		if n > 1 {
			own = 1 << 32
		}
		w = append(w, at(o.ref, 0), own|uint64(c))
	}
	return append(w, slices.Repeat(Table{uint64(0)}, lineWords-len(w))...)
}

package kernel

import "pgrlab/core/device"

func init() {
	squared := func(device.Instr) []any { return nil }
	lowerings[device.SquaredError] = lossSum("squared_error", squared)
	lowerings[device.WeightedSquaredError] = lossSum("squared_error", squared)
	lowerings[device.SquaredErrorGrad] = lossSlope("squared_error_grad", squared)
	lowerings[device.WeightedSquaredErrorGrad] = lossSlope("squared_error_grad", squared)
	lowerings[device.BCE] = lossSum("bce", squared)
	lowerings[device.BCEGrad] = lossSlope("bce_grad", squared)
	lowerings[device.CrossEntropy] = crossEntropy
	lowerings[device.CrossEntropyGrad] = crossEntropyGrad
	lowerings[device.Sum] = func(b *builder) error {
		return b.total("sum", b.size(b.in.In[0]), b.in.F[0], at(b.in.In[0], 0))
	}
	lowerings[device.EntropyLoss] = func(b *builder) error {
		_, rows, _ := b.shape(b.in.In[0])
		return b.total("entropy_loss", b.size(b.in.In[0]), float64(rows), at(b.in.In[0], 0), at(b.in.In[1], 0), at(b.in.In[2], 0))
	}
	lowerings[device.GaussianKL] = func(b *builder) error {
		_, _, width := b.shape(b.in.In[0])
		return b.total("gaussian_kl", b.size(b.in.In[0]), b.in.F[0], at(b.in.In[0], 0), uint32(width))
	}
	lowerings[device.GaussianKLGrad] = func(b *builder) error {
		_, _, width := b.shape(b.in.In[0])
		return b.counted("gaussian_kl_grad", b.size(b.in.Out), b.operands(), uint32(width), b.in.F[0])
	}
	lowerings[device.AddScalars] = func(b *builder) error {
		b.launch("add_scalars", [3]uint32{1, 1, 1}, 32, 0, b.operands()...)
		return nil
	}
}

const (
	// sumThreads is the block size of a kernel that sums.
	sumThreads = 1024
	// sumAlone is the number of elements that one block sums by itself: with more elements it would
	// take longer than a second launch that adds up the sums of several blocks.
	sumAlone = 16 * sumThreads
	// sumBlocks bounds the number of blocks.
	sumBlocks = 256
)

// total emits a sum over n elements, divided by norm. The kernel's arguments are the result, room
// for the sums of blocks, args, norm and n.
func (b *builder) total(kernel string, n int, norm float64, args ...any) error {
	blocks := 1
	if n > sumAlone {
		blocks = min((n+4*sumThreads-1)/(4*sumThreads), sumBlocks)
	}
	return b.totalOf(kernel, n, blocks, norm, args...)
}

func (b *builder) totalOf(kernel string, n, blocks int, norm float64, args ...any) error {
	count, err := index(n)
	if err != nil {
		return err
	}
	partial := any(uint64(0))
	if blocks > 1 {
		partial = b.scratch(2 * blocks)
	}
	b.launch(kernel, [3]uint32{uint32(blocks), 1, 1}, sumThreads, 0, append(append([]any{at(b.in.Out, 0), partial}, args...), norm, count)...)
	if blocks > 1 {
		b.launch("sum_end", [3]uint32{1, 1, 1}, sumBlocks, 0, at(b.in.Out, 0), partial, uint32(blocks), norm)
	}
	return nil
}

// against returns what a loss of predictions against targets reads: p, t, a weight per row or none,
// the columns, and the sizes at which the targets and the weights repeat.
func (b *builder) against(operands []device.Ref) []any {
	_, _, cols := b.shape(operands[0])
	weight, weights := any(uint64(0)), 1
	if len(operands) == 3 {
		weight, weights = at(operands[2], 0), b.size(operands[2])
	}
	return []any{at(operands[0], 0), at(operands[1], 0), weight, uint32(cols), uint32(b.size(operands[1])), uint32(weights)}
}

func lossSum(kernel string, constants func(in device.Instr) []any) lowering {
	return func(b *builder) error {
		return b.total(kernel, b.size(b.in.In[0]), b.in.F[0], append(b.against(b.in.In), constants(b.in)...)...)
	}
}

// slope returns the arguments of a gradient: the result, those of against, and the gradient of the
// loss.
func (b *builder) slope() []any {
	last := len(b.in.In) - 1
	return append(append([]any{at(b.in.Out, 0)}, b.against(b.in.In[:last])...), at(b.in.In[last], 0))
}

func lossSlope(kernel string, constants func(in device.Instr) []any) lowering {
	return func(b *builder) error {
		return b.counted(kernel, b.size(b.in.Out), b.slope(), append(constants(b.in), b.in.F[0])...)
	}
}

// crossEntropy assigns a warp to each row.
func crossEntropy(b *builder) error {
	n, rows, _ := b.shape(b.in.In[0])
	blocks := 1
	if n*rows > sumThreads/32 {
		blocks = min((n*rows+sumThreads/32-1)/(sumThreads/32), sumBlocks)
	}
	return b.totalOf("cross_entropy", n*rows, blocks, b.in.F[0], b.against(b.in.In)...)
}

func crossEntropyGrad(b *builder) error {
	return b.byRow("cross_entropy_grad", b.in.Out, append(b.slope(), b.in.F[0])...)
}

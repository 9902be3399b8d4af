package kernel

import "pgrlab/core/device"

func init() {
	lowerings[device.SumColumns] = ofRows("sum_columns", func(in device.Instr) []any { return []any{in.F[0]} })
	none := func(device.Instr) []any { return nil }
	lowerings[device.RowMeanSquare] = ofRows("row_mean_square", none)
	lowerings[device.LogSumExp] = ofRows("log_sum_exp", none)
	lowerings[device.Softmax] = ofRows("softmax", none)
	lowerings[device.SoftmaxGrad] = ofRows("softmax_grad", none)
	lowerings[device.LogSumExpGrad] = func(b *builder) error {
		_, _, cols := b.shape(b.in.Out)
		return b.counted("log_sum_exp_grad", b.size(b.in.Out), b.operands(), uint32(cols))
	}
	lowerings[device.LayerNorm] = layerNorm("layer_norm")
	lowerings[device.LayerNormDX] = layerNorm("layer_norm_dx")
	lowerings[device.RMSNorm] = layerNorm("rms_norm")
	lowerings[device.RMSNormDX] = layerNorm("rms_norm_dx")
	lowerings[device.TanhGaussian] = tanhGaussian("tanh_gaussian")
	lowerings[device.TanhGaussianGrad] = tanhGaussian("tanh_gaussian_grad")
}

// rowThreads is the block size of a kernel that assigns warps to rows, and rowBlocks bounds the
// grid: as many threads as for elements.
const (
	rowThreads = elementThreads
	rowBlocks  = elementBlocks
)

// warps launches a kernel with a warp for each row; the number of rows is the kernel's last
// parameter.
func (b *builder) warps(kernel string, rows int, args ...any) {
	const perBlock = rowThreads / 32
	blocks := min((rows+perBlock-1)/perBlock, rowBlocks)
	b.launch(kernel, [3]uint32{uint32(blocks), 1, 1}, rowThreads, 0, append(args, uint32(rows))...)
}

// byRow launches a kernel with a warp for each row of a buffer, over all members.
func (b *builder) byRow(kernel string, r device.Ref, args ...any) error {
	if _, err := index(b.size(r)); err != nil {
		return err
	}
	members, rows, _ := b.shape(r)
	b.warps(kernel, members*rows, args...)
	return nil
}

// ofRows is the recipe of a kernel whose arguments are the result, the operands, constants, and the
// columns and rows of the first operand.
func ofRows(kernel string, constants func(in device.Instr) []any) lowering {
	return func(b *builder) error {
		_, _, cols := b.shape(b.in.In[0])
		return b.byRow(kernel, b.in.In[0], append(append(b.operands(), constants(b.in)...), uint32(cols))...)
	}
}

// layerNorm is the recipe of a kernel with a warp for each group of columns as wide as gamma.
func layerNorm(kernel string) lowering {
	return func(b *builder) error {
		size, err := index(b.size(b.in.Out))
		if err != nil {
			return err
		}
		_, rows, cols := b.shape(b.in.Out)
		_, _, width := b.shape(b.in.In[1])
		b.warps(kernel, int(size)/width, append(b.operands(), b.in.F[0], uint32(width), uint32(rows*cols/width))...)
		return nil
	}
}

func tanhGaussian(kernel string) lowering {
	return func(b *builder) error {
		_, _, actions := b.shape(b.in.In[1])
		return b.byRow(kernel, b.in.In[0], append(b.operands(), uint32(actions))...)
	}
}

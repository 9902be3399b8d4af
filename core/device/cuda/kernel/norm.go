package kernel

import (
	"fmt"

	"pgrlab/core/device"
)

func init() {
	lowerings[device.BatchStats] = batchStats
	lowerings[device.BatchNorm] = batchNorm(1)
	lowerings[device.BatchNormEval] = batchNorm(2)
	lowerings[device.BatchNormDX] = batchNormDX
	lowerings[device.BatchNormDGamma] = func(b *builder) error {
		x, stats, dy := b.in.In[0], b.in.In[1], b.in.In[2]
		return b.columnSum("batch_norm_dgamma", x, at(x, 0), at(stats, 0), at(dy, 0))
	}
	lowerings[device.LayerNormDGamma] = layerNormDGamma("layer_moments")
	lowerings[device.RMSNormDGamma] = layerNormDGamma("rms_moments")
}

const (
	columnThreads = 1024 // 32 columns by 32 rows
	columnRows    = 1024 // of a part, at least
	columnParts   = 64   // at most
)

// normed returns the shape of x as a norm sees it; for a batch norm, images have a row for each
// place, and for the gradient of an RMS norm's γ, each group of columns is a row.
func (b *builder) normed(x device.Ref) (members, rows, cols int) {
	members, rows, cols = b.shape(x)
	if grouped(b.in) {
		rows, cols = rows*cols/b.in.I[0], b.in.I[0]
	}
	return members, rows, cols
}

// grouped reports whether an instruction says how many columns are side by side in a row.
func grouped(in device.Instr) bool {
	switch in.Code {
	case device.RMSNormDGamma, device.BatchStats, device.BatchNorm, device.BatchNormDX, device.BatchNormDGamma, device.BatchNormEval:
		return in.I[0] > 0
	}
	return false
}

// columns returns the geometry of a sum over the rows of each member of a buffer: the number of
// parts of the rows, n and the grid.
func (b *builder) columns(x device.Ref) (parts, n int, grid [3]uint32, err error) {
	members, rows, cols := b.normed(x)
	if _, err = index(b.size(x)); err != nil {
		return 0, 0, grid, err
	}
	if members > 65535 {
		return 0, 0, grid, fmt.Errorf("%d members: at most 65535", members)
	}
	parts = max(1, min(rows/columnRows, columnParts))
	return parts, members * cols, [3]uint32{uint32((cols + 31) / 32), uint32(members), uint32(parts)}, nil
}

// partial returns room for the parts' numbers, per float64 numbers for each of n columns.
func (b *builder) partial(per, n, parts int) any {
	if parts == 1 {
		return uint64(0)
	}
	return b.scratch(2 * per * n * parts)
}

// ends launches the kernel that adds the parts, with a thread for each of n columns.
func (b *builder) ends(kernel string, parts, n int, args ...any) {
	if parts > 1 {
		b.launch(kernel, [3]uint32{uint32((n + 127) / 128), 1, 1}, 128, 0, append(args, uint32(parts), uint32(n))...)
	}
}

// batchStats emits the mean and the variances of the columns of x.
func batchStats(b *builder) error {
	x := b.in.In[0]
	_, rows, cols := b.normed(x)
	parts, n, grid, err := b.columns(x)
	if err != nil {
		return err
	}
	partial := b.partial(2, n, parts)
	b.launch("column_stats", grid, columnThreads, 0, at(b.in.Out, 0), partial, at(x, 0), uint32(rows), uint32(cols))
	b.ends("column_stats_end", parts, n, at(b.in.Out, 0), partial, uint32(rows), uint32(cols))
	return nil
}

// columnSum launches a kernel whose arguments are the result, room for parts, args, rows and
// columns.
func (b *builder) columnSum(kernel string, x device.Ref, args ...any) error {
	_, rows, cols := b.normed(x)
	parts, n, grid, err := b.columns(x)
	if err != nil {
		return err
	}
	partial := b.partial(1, n, parts)
	b.launch(kernel, grid, columnThreads, 0, append(append([]any{at(b.in.Out, 0), partial}, args...), uint32(rows), uint32(cols))...)
	b.ends("column_sum_end", parts, n, at(b.in.Out, 0), partial, uint32(cols))
	return nil
}

// batchNorm normalises with the given row of the statistics as the variance.
func batchNorm(variance uint32) lowering {
	return func(b *builder) error {
		_, rows, cols := b.normed(b.in.Out)
		return b.counted("batch_norm", b.size(b.in.Out), b.operands(), variance, uint32(cols), uint32(rows*cols))
	}
}

func batchNormDX(b *builder) error {
	x, gamma, stats, dy := at(b.in.In[0], 0), at(b.in.In[1], 0), at(b.in.In[2], 0), at(b.in.In[3], 0)
	_, rows, cols := b.normed(b.in.Out)
	if b.size(b.in.Out) == 0 {
		return nil
	}
	parts, n, grid, err := b.columns(b.in.In[0])
	if err != nil {
		return err
	}
	terms, partial := b.scratch(2*3*n), b.partial(2, n, parts)
	b.launch("batch_norm_terms", grid, columnThreads, 0, terms, partial, x, gamma, stats, dy, uint32(rows), uint32(cols))
	b.ends("batch_norm_terms_end", parts, n, terms, partial, gamma, stats, uint32(rows), uint32(cols))
	return b.counted("batch_norm_dx", b.size(b.in.Out), []any{at(b.in.Out, 0), x, stats, dy, terms}, uint32(cols), uint32(rows*cols))
}

// layerNormDGamma sums dy times rows that are normalised by their moments.
func layerNormDGamma(moments string) lowering {
	return func(b *builder) error {
		x, dy := b.in.In[0], b.in.In[1]
		members, rows, cols := b.normed(x)
		of := b.scratch(2 * 2 * members * rows)
		b.warps(moments, members*rows, of, at(x, 0), b.in.F[0], uint32(cols))
		return b.columnSum("layer_norm_dgamma", x, at(x, 0), at(dy, 0), of)
	}
}

package kernel

import "pgrlab/core/device"

func init() {
	lowerings[device.Conv] = conv
	lowerings[device.ConvDX] = convDX
	lowerings[device.ConvDW] = convDW
	lowerings[device.ConvDB] = convDB
	lowerings[device.MaxPool] = func(b *builder) error {
		return b.overImages("max_pool", b.operands())
	}
	lowerings[device.MaxPoolGrad] = func(b *builder) error {
		return b.overImages("max_pool_grad", b.operands())
	}
	lowerings[device.Upsample] = resized("upsample")
	lowerings[device.UpsampleGrad] = resized("upsample_grad")
}

// window returns the geometry of the instruction as kernel arguments.
func (b *builder) window() []any {
	g := b.in.Window
	down, across := g.Out()
	return []any{
		uint32(g.Height), uint32(g.Width), uint32(g.Channels),
		uint32(g.Kernel), uint32(g.Stride), uint32(g.Pad), uint32(down), uint32(across),
	}
}

// countable reports an operand, or a result, whose elements cannot be counted in 32 bits.
func (b *builder) countable() error {
	for _, r := range append([]device.Ref{b.in.Out}, b.in.In...) {
		if _, err := index(b.size(r)); err != nil {
			return err
		}
	}
	return nil
}

// overImages launches a kernel over the numbers of the result. Its arguments are the operands, the
// window, and the number of results.
func (b *builder) overImages(kernel string, operands []any) error {
	if err := b.countable(); err != nil {
		return err
	}
	return b.counted(kernel, b.size(b.in.Out), append(operands, b.window()...))
}

// resized is the recipe of a kernel over images of twice, or half, the height and width.
func resized(kernel string) lowering {
	return func(b *builder) error {
		if err := b.countable(); err != nil {
			return err
		}
		return b.counted(kernel, b.size(b.in.Out), b.operands(), uint32(b.in.Window.Width), uint32(b.in.Window.Channels))
	}
}

// convTiles lists the tiles of cu/conv.cu for results of up to 32 columns and for those of more,
// and the tile for results of few rows.
var (
	convNarrow = tile{name: "128x32", m: 128, n: 32, threads: 128}
	convWide   = tile{name: "128x64", m: 128, n: 64, threads: 256}
	convSmall  = tile{name: "32x32", m: 32, n: 32, threads: 256}
)

// convTile chooses the tile of a convolution: a large one if each multiprocessor gets two blocks.
func (t Target) convTile(rows, cols int) tile {
	large := convNarrow
	if ceil(cols, convNarrow.n)%2 == 0 {
		large = convWide
	}
	if ceil(rows, large.m)*ceil(cols, large.n) >= 2*class(t.Processors) {
		return large
	}
	return convSmall
}

// convolve launches a kernel over tiles of a result, in a number of phases of at most `rows` rows.
func (b *builder) convolve(kernel string, t tile, rows, cols, phases int, args ...any) {
	grid := [3]uint32{uint32(ceil(rows, t.m) * ceil(cols, t.n)), uint32(phases), 1}
	b.launch(kernel+"_"+t.name, grid, t.threads, 0, args...)
}

func conv(b *builder) error {
	if err := b.countable(); err != nil {
		return err
	}
	_, images, _ := b.shape(b.in.In[0])
	_, _, out := b.shape(b.in.In[1])
	relu := uint32(0)
	if b.in.ReLU {
		relu = 1
	}
	rows := images * b.in.Window.Places()
	args := append(append(b.operands(), b.window()...), uint32(out), relu, uint32(images))
	b.convolve("conv", b.target.convTile(rows, out), rows, out, 1, args...)
	return nil
}

// convDX launches the phases of the pixels together, one for each remainder down and across.
func convDX(b *builder) error {
	if err := b.countable(); err != nil {
		return err
	}
	_, images, _ := b.shape(b.in.In[0])
	_, _, out := b.shape(b.in.In[1])
	g := b.in.Window
	largest := images * ceil(g.Height, g.Stride) * ceil(g.Width, g.Stride)
	args := append(append(b.operands(), optional(b.in.Mask)), b.window()...)
	t := b.target.convTile(images*g.Height*g.Width, g.Channels)
	b.convolve("conv_dx", t, largest, g.Channels, g.Stride*g.Stride, append(args, uint32(out), uint32(images))...)
	return nil
}

// The division of the sum over places for the gradient of weights, cu/conv.cu's conv_dw.
const (
	convBlocks = 5    // of a multiprocessor, at once
	convLeast  = 96   // places of a part, at least, in chunks of the sum
	convMost   = 2048 // places of a part, at most, so that its sum in float32 is accurate
)

// convWeights is the tile of conv_dw.
var convWeights = tile{m: 96, n: 32, k: 12, threads: 96}

// convPart returns the number of places in a part of the sum for the gradient of weights: so many
// that the blocks fill the card once, unless the parts would be too long.
func (t Target) convPart(places, weights, outputs int) int {
	tiles := ceil(weights, convWeights.m) * ceil(outputs, convWeights.n)
	parts := max(1, convBlocks*class(t.Processors)/tiles)
	part := min(max(ceil(places, parts), convLeast), convMost)
	return ceil(part, convWeights.k) * convWeights.k
}

func convDW(b *builder) error {
	if err := b.countable(); err != nil {
		return err
	}
	x, dz := b.in.In[0], b.in.In[1]
	_, images, _ := b.shape(x)
	_, weights, out := b.shape(b.in.Out)
	places, n := images*b.in.Window.Places(), weights*out
	part := b.target.convPart(places, weights, out)
	parts := max(1, ceil(places, part))
	to := at(b.in.Out, 0)
	if parts > 1 {
		to = b.scratch(parts * n)
	}
	args := append([]any{to, at(x, 0), at(dz, 0)}, b.window()...)
	grid := [3]uint32{uint32(ceil(weights, convWeights.m) * ceil(out, convWeights.n)), uint32(parts), 1}
	b.launch("conv_dw", grid, convWeights.threads, 0, append(args, uint32(out), uint32(images), uint32(part))...)
	if parts > 1 {
		b.convParts(to, parts, n)
	}
	return nil
}

// convParts writes the sum of parts of n numbers each to the result.
func (b *builder) convParts(from Operand, parts, n int) {
	b.launch("conv_parts", [3]uint32{uint32(ceil(n, 32)), 1, 1}, 256, 0, at(b.in.Out, 0), from, uint32(parts), uint32(n))
}

// convDB is the sum over all places of all images, which are the rows of a matrix in memory. There
// may be hundreds of parts of few columns, which conv_parts adds with more threads than
// finish_product would.
func convDB(b *builder) error {
	_, images, _ := b.shape(b.in.In[0])
	_, _, out := b.shape(b.in.Out)
	rows := images * b.in.Window.Places()
	parts := ceil(rows, rowsOfPart)
	if parts <= 1 {
		b.sumRows(at(b.in.In[0], 0), absent, 1, rows, out, rows*out, rowsOfPart)
		return nil
	}
	partial := b.scratch(parts * out)
	b.launch("column_sum", [3]uint32{uint32(ceil(out, 32)), uint32(parts), 1}, 1024, 0,
		partial, at(b.in.In[0], 0), absent, int32(rows), int32(out), int64(rows*out), int32(1), int32(rowsOfPart))
	b.convParts(partial, parts, out)
	return nil
}

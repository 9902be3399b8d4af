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

// overImages launches a kernel over the numbers of the result. Its arguments are the operands, the
// window, more, and the number of results. The operands' elements are counted in 32 bits too.
func (b *builder) overImages(kernel string, operands []any, more ...any) error {
	for _, r := range b.in.In {
		if _, err := index(b.size(r)); err != nil {
			return err
		}
	}
	return b.counted(kernel, b.size(b.in.Out), append(operands, b.window()...), more...)
}

func conv(b *builder) error {
	_, _, out := b.shape(b.in.In[1])
	relu := uint32(0)
	if b.in.ReLU {
		relu = 1
	}
	return b.overImages("conv", b.operands(), uint32(out), relu)
}

func convDX(b *builder) error {
	_, _, out := b.shape(b.in.In[1])
	return b.overImages("conv_dx", append(b.operands(), optional(b.in.Mask)), uint32(out))
}

// convParts bounds the number of parts in which the gradient of the weights is summed over the
// images. A layer of an encoder from 32 to 32 channels has 72 blocks for each part: 16 parts fill
// any card.
const convParts = 16

func convDW(b *builder) error {
	x, dz := b.in.In[0], b.in.In[1]
	for _, r := range b.in.In {
		if _, err := index(b.size(r)); err != nil {
			return err
		}
	}
	n, err := index(b.size(b.in.Out))
	if err != nil {
		return err
	}
	_, images, _ := b.shape(x)
	_, _, out := b.shape(b.in.Out)
	const threads = 128
	parts, blocks := max(1, min(images, convParts)), (n+threads-1)/threads
	partial := b.scratch(2 * parts * int(n))
	args := append([]any{partial, at(x, 0), at(dz, 0)}, b.window()...)
	b.launch("conv_dw", [3]uint32{blocks, uint32(parts), 1}, threads, 0, append(args, uint32(out), uint32(images), n)...)
	b.launch("conv_dw_end", [3]uint32{blocks, 1, 1}, threads, 0, at(b.in.Out, 0), partial, uint32(parts), n)
	return nil
}

// convDB is the sum over all places of all images, which are the rows of a matrix in memory.
func convDB(b *builder) error {
	_, images, _ := b.shape(b.in.In[0])
	_, _, out := b.shape(b.in.Out)
	rows := images * b.in.Window.Places()
	b.sumRows(at(b.in.In[0], 0), absent, 1, rows, out, rows*out)
	return nil
}

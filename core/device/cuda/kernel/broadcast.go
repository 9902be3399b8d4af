package kernel

import (
	"fmt"
	"math"

	"pgrlab/core/device"
)

func init() {
	lowerings[device.RowScale] = rowScale
	lowerings[device.ColScale] = byColumn("col_scale")
	lowerings[device.ColAdd] = byColumn("col_add")
	lowerings[device.AddColumns] = func(b *builder) error {
		_, _, cols := b.shape(b.in.Out)
		_, _, narrow := b.shape(b.in.In[1])
		return b.counted("add_columns", b.size(b.in.Out), b.operands(), uint32(b.in.I[0]), uint32(narrow), uint32(cols))
	}
	lowerings[device.Members] = func(b *builder) error { return b.repeat(1) }
	lowerings[device.BroadcastMembers] = func(b *builder) error {
		members, _, _ := b.shape(b.in.Out)
		return b.repeat(float32(members))
	}
	lowerings[device.SpreadColumns] = spreadColumns
	lowerings[device.SumGrad] = func(b *builder) error { return b.spreadScalar(at(b.in.In[1], 0), uint64(0), b.in.F[0]) }
	lowerings[device.EntropyGradLogp] = func(b *builder) error {
		_, rows, _ := b.shape(b.in.Out)
		return b.spreadScalar(at(b.in.In[2], 0), at(b.in.In[1], 0), float64(rows))
	}
	lowerings[device.EntropyGradQ] = func(b *builder) error {
		_, rows, _ := b.shape(b.in.Out)
		return b.spreadScalar(at(b.in.In[1], 0), uint64(0), -float64(rows))
	}
	lowerings[device.Slice] = func(b *builder) error {
		_, _, cols := b.shape(b.in.Out)
		_, _, width := b.shape(b.in.In[0])
		return b.counted("slice", b.size(b.in.Out), b.operands(), uint32(b.in.I[0]), uint32(cols), uint32(width))
	}
	lowerings[device.Pad] = func(b *builder) error {
		_, _, cols := b.shape(b.in.In[0])
		_, _, width := b.shape(b.in.Out)
		return b.counted("pad", b.size(b.in.Out), b.operands(), uint32(b.in.I[0]), uint32(cols), uint32(width))
	}
	lowerings[device.Concat] = concat
	lowerings[device.SplitColumns] = func(b *builder) error { return b.rearrange("split_columns", b.in.Out) }
	lowerings[device.JoinMembers] = func(b *builder) error { return b.rearrange("join_members", b.in.In[0]) }
}

// index checks that a kernel that divides indices in 32 bits can handle n of them.
func index(n int) (uint32, error) {
	if n > math.MaxInt32 {
		return 0, fmt.Errorf("%d elements: at most %d", n, math.MaxInt32)
	}
	return uint32(n), nil
}

// counted launches a kernel with the grid's stride over n elements, fewer than 2³¹; n is the
// kernel's last parameter.
func (b *builder) counted(kernel string, n int, first []any, more ...any) error {
	count, err := index(n)
	if err != nil {
		return err
	}
	b.elements(kernel, n, append(append(first, more...), count)...)
	return nil
}

func rowScale(b *builder) error {
	_, _, cols := b.shape(b.in.Out)
	return b.counted("row_scale", b.size(b.in.Out), b.operands(), uint32(cols), uint32(b.size(b.in.In[1])))
}

func byColumn(kernel string) lowering {
	return func(b *builder) error {
		_, rows, cols := b.shape(b.in.Out)
		return b.counted(kernel, b.size(b.in.Out), b.operands(), uint32(cols), uint32(rows*cols))
	}
}

func (b *builder) repeat(divisor float32) error {
	return b.counted("repeat", b.size(b.in.Out), b.operands(), divisor, uint32(b.size(b.in.In[0])))
}

func spreadColumns(b *builder) error {
	_, _, cols := b.shape(b.in.Out)
	return b.counted("spread", b.size(b.in.Out), b.operands(), float32(b.in.F[0]), uint32(cols))
}

// rearrange moves columns between members and rows; split is the buffer with the members. For the kernels
// each place is a row.
func (b *builder) rearrange(kernel string, split device.Ref) error {
	members, rows, cols := b.shape(split)
	return b.counted(kernel, b.size(b.in.Out), b.operands(), uint32(members), uint32(cols/b.in.I[1]), uint32(rows*cols))
}

// spreadScalar writes x·y/divisor to every element; y may be absent.
func (b *builder) spreadScalar(x, y any, divisor float64) error {
	return b.counted("spread_scalar", b.size(b.in.Out), []any{at(b.in.Out, 0), x, y}, divisor)
}

// concat joins four operands at a time side by side.
func concat(b *builder) error {
	_, _, width := b.shape(b.in.Out)
	rows := 0
	if width > 0 {
		rows = b.size(b.in.Out) / width
	}
	const arrays = 4
	column := 0
	for first := 0; first < len(b.in.In); first += arrays {
		args, widths, all := []any{at(b.in.Out, 0)}, []any{}, 0
		for i := first; i < first+arrays; i++ {
			if i >= len(b.in.In) {
				args, widths = append(args, uint64(0)), append(widths, uint32(0))
				continue
			}
			_, _, cols := b.shape(b.in.In[i])
			args, widths = append(args, at(b.in.In[i], 0)), append(widths, uint32(cols))
			all += cols
		}
		args = append(append(args, widths...), uint32(column), uint32(width))
		if _, err := index(b.size(b.in.Out)); err != nil {
			return err
		}
		if err := b.counted("concat", rows*all, args); err != nil {
			return err
		}
		column += all
	}
	return nil
}

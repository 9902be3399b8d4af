package cpu

import (
	"pgrlab/core/device"
	"pgrlab/core/device/cpu/kernel"
)

func init() {
	for code, f := range map[device.Code]func(k *kernel.Family, dst, z []float32){
		device.ReLU: (*kernel.Family).ReLU, device.Tanh: (*kernel.Family).Tanh, device.SiLU: (*kernel.Family).SiLU,
		device.Mish: (*kernel.Family).Mish, device.ELU: (*kernel.Family).ELU,
	} {
		lowerings[code] = unary(f)
	}
	for code, f := range map[device.Code]func(k *kernel.Family, dst, a, b []float32){
		device.ReLUGrad: (*kernel.Family).ReLUGrad, device.TanhGrad: (*kernel.Family).TanhGrad, device.SiLUGrad: (*kernel.Family).SiLUGrad,
		device.MishGrad: (*kernel.Family).MishGrad, device.ELUGrad: (*kernel.Family).ELUGrad,
		device.Add: (*kernel.Family).Add, device.Sub: (*kernel.Family).Sub, device.Mul: (*kernel.Family).Mul,
	} {
		lowerings[code] = binary(f)
	}
	lowerings[device.Scale] = func(c *compiler, in device.Instr) {
		x, y, factor := c.data[in.In[0]], c.data[in.Out], float32(in.F[0])
		c.elementwise(in, func(lo, hi int) { c.k.Scale(y[lo:hi], x[lo:hi], factor) })
	}
	lowerings[device.Shift] = shift
	lowerings[device.RowScale] = rowScale
	lowerings[device.Concat] = concat
	lowerings[device.Slice] = slice
	lowerings[device.Pad] = pad
	lowerings[device.FillNormal] = fill
	lowerings[device.FillUniform] = fill
}

// block bounds one kernel call, which Go cannot preempt, to about 20 µs.
const block = 1 << 14

// elementwise emits a stage over the elements of each lane's rows.
func (c *compiler) elementwise(in device.Instr, run func(lo, hi int)) {
	members, rows, cols := c.shape(in.Out)
	switch {
	case members == 1 && c.continues(in, c.upright):
		c.columnwise(in, cols, nil, func(lo, hi int) {
			for at := 0; at < rows*cols; at += cols {
				run(at+lo, at+hi)
			}
		})
	case members == 1 && c.continues(in, c.imaged):
		c.imagewise(in, rows, imageStage{image: func(_ share, i int) {
			for at := i * cols; at < (i+1)*cols; at += block {
				run(at, min(at+block, (i+1)*cols))
			}
		}})
	case byMember(members) && c.continues(in, c.owned):
		c.eachMember(in, members, func(e int) {
			end := (e + 1) * rows * cols
			for at := e * rows * cols; at < end; at += block {
				run(at, min(at+block, end))
			}
		})
	default:
		c.rowwise(in, rows, nil, func(lo, hi int) {
			for e := range members {
				end := (e*rows + hi) * cols
				for at := (e*rows + lo) * cols; at < end; at += block {
					run(at, min(at+block, end))
				}
			}
		})
	}
}

// continues says whether an elementwise instruction goes over its operands in the way in which some were
// written: one of them is among these, and all have the shape of the result.
func (c *compiler) continues(in device.Instr, written map[device.Ref]bool) bool {
	members, rows, cols := c.shape(in.Out)
	some := false
	for _, r := range in.In {
		if m, h, w := c.shape(r); m != members || h != rows || w != cols {
			return false
		}
		some = some || written[r]
	}
	return some
}

// fill writes random numbers; an element's number depends only on its position.
func fill(c *compiler, in device.Instr) {
	members, rows, cols := c.shape(in.Out)
	y, stream, occasion, items := c.data[in.Out], in.Fill, c.occasion, in.Items
	if items == nil {
		items = new(device.Items)
	}
	take := func(dst []float32, occasion, first uint64) { c.k.Normals(dst, stream, occasion, first) }
	if in.Code == device.FillUniform {
		take = stream.FillUniform
	}
	c.rowwise(in, rows, nil, func(lo, hi int) {
		if items.Idle {
			return
		}
		for e := range members {
			from, to := (e*rows+lo)*cols, (e*rows+hi)*cols
			take(y[from:to], *occasion, items.First+uint64(from))
		}
	})
}

func shift(c *compiler, in device.Instr) {
	x, y, by := c.data[in.In[0]], c.data[in.Out], float32(in.F[0])
	c.elementwise(in, func(lo, hi int) {
		out := y[lo:hi]
		for j, v := range x[lo:hi] {
			out[j] = v + by
		}
	})
}

func rowScale(c *compiler, in device.Instr) {
	x, s, y := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out]
	_, _, cols := c.shape(in.Out)
	c.perRow(in, in.Out, nil, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			c.k.Scale(y[i*cols:(i+1)*cols], x[i*cols:(i+1)*cols], s[i%len(s)])
		}
	})
}

func concat(c *compiler, in device.Instr) {
	members, rows, width := c.shape(in.Out)
	y := c.data[in.Out]
	c.rowwise(in, rows, nil, func(lo, hi int) {
		column := 0
		for _, r := range in.In {
			x := c.data[r]
			_, _, cols := c.shape(r)
			for e := range members {
				for i := e*rows + lo; i < e*rows+hi; i++ {
					copy(y[i*width+column:i*width+column+cols], x[i*cols:])
				}
			}
			column += cols
		}
	})
}

func slice(c *compiler, in device.Instr) {
	members, rows, cols := c.shape(in.Out)
	_, _, width := c.shape(in.In[0])
	x, y, from := c.data[in.In[0]], c.data[in.Out], in.I[0]
	c.rowwise(in, rows, nil, func(lo, hi int) {
		for e := range members {
			for i := e*rows + lo; i < e*rows+hi; i++ {
				copy(y[i*cols:(i+1)*cols], x[i*width+from:])
			}
		}
	})
}

func pad(c *compiler, in device.Instr) {
	members, rows, width := c.shape(in.Out)
	_, _, cols := c.shape(in.In[0])
	x, y, at := c.data[in.In[0]], c.data[in.Out], in.I[0]
	c.rowwise(in, rows, nil, func(lo, hi int) {
		for e := range members {
			for i := e*rows + lo; i < e*rows+hi; i++ {
				row := y[i*width : (i+1)*width]
				clear(row[:at])
				copy(row[at:], x[i*cols:(i+1)*cols])
				clear(row[at+cols:])
			}
		}
	})
}

package cpu

import (
	"pgrlab/core/device"
	"pgrlab/core/device/cpu/kernel"
)

func init() {
	lowerings[device.ColScale] = byColumn((*kernel.Family).Mul)
	lowerings[device.ColAdd] = byColumn((*kernel.Family).Add)
	lowerings[device.AddColumns] = addColumns
	lowerings[device.Members] = members
	lowerings[device.SumMembers] = sumMembers
	lowerings[device.SplitColumns] = splitColumns
	lowerings[device.JoinMembers] = joinMembers
	lowerings[device.SumColumns] = sumColumns
	lowerings[device.SpreadColumns] = spreadColumns
	lowerings[device.Sum] = sum
	lowerings[device.SumGrad] = sumGrad
}

// perRow emits a stage over the rows of each lane, for all members: row i is row i%rows of member
// i/rows. wholes are operands that each lane reads as a whole.
func (c *compiler) perRow(in device.Instr, like device.Ref, wholes []device.Ref, run func(lo, hi int)) {
	members, rows, _ := c.shape(like)
	c.rowwise(in, rows, wholes, func(lo, hi int) {
		for e := range members {
			run(e*rows+lo, e*rows+hi)
		}
	})
}

// memberwise is elementwise with operands that each lane reads as a whole, for functions quick
// enough to be called once for a whole member.
func (c *compiler) memberwise(in device.Instr, wholes []device.Ref, run func(lo, hi int)) {
	_, _, cols := c.shape(in.Out)
	c.perRow(in, in.Out, wholes, func(lo, hi int) { run(lo*cols, hi*cols) })
}

func byColumn(f func(k *kernel.Family, dst, a, b []float32)) lowering {
	return func(c *compiler, in device.Instr) {
		x, s, y := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out]
		_, rows, cols := c.shape(in.Out)
		c.perRow(in, in.Out, in.In[1:], func(lo, hi int) {
			for i := lo; i < hi; i++ {
				column := i / rows * cols
				f(c.k, y[i*cols:(i+1)*cols], x[i*cols:(i+1)*cols], s[column:column+cols])
			}
		})
	}
}

func addColumns(c *compiler, in device.Instr) {
	a, y := c.data[in.In[0]], c.data[in.Out]
	_, _, cols := c.shape(in.Out)
	add := c.columnsAdded(in.In[1], in.I[0], in.Out)
	c.perRow(in, in.Out, nil, func(lo, hi int) {
		copy(y[lo*cols:hi*cols], a[lo*cols:])
		add(y, lo, hi)
	})
}

// columnsAdded returns what adds b to columns from column from on of rows lo to hi, over all members, of y.
func (c *compiler) columnsAdded(b device.Ref, from int, like device.Ref) func(y []float32, lo, hi int) {
	x := c.data[b]
	_, _, narrow := c.shape(b)
	_, _, cols := c.shape(like)
	return func(y []float32, lo, hi int) {
		for i := lo; i < hi; i++ {
			to := y[i*cols+from : i*cols+from+narrow]
			c.k.Add(to, to, x[i*narrow:(i+1)*narrow])
		}
	}
}

// members repeats its operand: [B,C] for each member, or [C] as the rows of the result.
func members(c *compiler, in device.Instr) {
	x, y := c.data[in.In[0]], c.data[in.Out]
	n, rows, cols := c.shape(in.Out)
	if _, of, _ := c.shape(in.In[0]); of != rows {
		c.rowwise(in, rows, in.In, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				copy(y[i*cols:(i+1)*cols], x)
			}
		})
		return
	}
	c.rowwise(in, rows, nil, func(lo, hi int) {
		for e := range n {
			copy(y[(e*rows+lo)*cols:(e*rows+hi)*cols], x[lo*cols:])
		}
	})
}

func sumMembers(c *compiler, in device.Instr) {
	x, y := c.data[in.In[0]], c.data[in.Out]
	_, rows, cols := c.shape(in.Out)
	n := c.p.Buffers[in.In[0]].Len() / max(1, rows*cols)
	var wholes []device.Ref
	if _, of, _ := c.shape(in.In[0]); of != rows { // [N,C], whose rows are the members
		wholes = in.In
	}
	c.rowwise(in, rows, wholes, func(lo, hi int) {
		sum := y[lo*cols : hi*cols]
		copy(sum, x[lo*cols:])
		for e := 1; e < n; e++ {
			c.k.Add(sum, sum, x[(e*rows+lo)*cols:(e*rows+hi)*cols])
		}
	})
}

func splitColumns(c *compiler, in device.Instr) {
	x, y := c.data[in.In[0]], c.data[in.Out]
	c.sideBySide(in, in.Out, func(apart, joined, width int) { copy(y[apart:apart+width], x[joined:]) })
}

func joinMembers(c *compiler, in device.Instr) {
	x, y := c.data[in.In[0]], c.data[in.Out]
	c.sideBySide(in, in.In[0], func(apart, joined, width int) { copy(y[joined:joined+width], x[apart:]) })
}

// sideBySide emits a stage over the columns of each member at each place of each row. move gets where they
// are in the buffer with members and in that without, and how many. For what moves, places are rows.
func (c *compiler) sideBySide(in device.Instr, split device.Ref, move func(apart, joined, width int)) {
	n, rows, cols := c.shape(split)
	places := in.I[1]
	all, width := rows*places, cols/places
	c.rowwise(in, rows, nil, func(lo, hi int) {
		for e := range n {
			for i := lo * places; i < hi*places; i++ {
				move((e*all+i)*width, (i*n+e)*width, width)
			}
		}
	})
}

func sumColumns(c *compiler, in device.Instr) {
	x, y, factor := c.data[in.In[0]], c.data[in.Out], in.F[0]
	_, _, cols := c.shape(in.In[0])
	c.perRow(in, in.Out, nil, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			y[i] = float32(total(x[i*cols:(i+1)*cols]) * factor)
		}
	})
}

// total is a sum in float64.
func total(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v)
	}
	return sum
}

func spreadColumns(c *compiler, in device.Instr) {
	x, y, factor := c.data[in.In[0]], c.data[in.Out], float32(in.F[0])
	_, _, cols := c.shape(in.Out)
	c.perRow(in, in.Out, nil, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row, v := y[i*cols:(i+1)*cols], factor*x[i]
			for j := range row {
				row[j] = v
			}
		}
	})
}

func sum(c *compiler, in device.Instr) {
	x := c.data[in.In[0]]
	members, rows, cols := c.shape(in.In[0])
	c.scalarSum(in, rows, nil, in.F[0], func(lo, hi int) float64 {
		sum := 0.0
		for e := range members {
			sum += total(x[(e*rows+lo)*cols : (e*rows+hi)*cols])
		}
		return sum
	})
}

// spread writes v everywhere, by copies that double: a loop writes a number at a time.
func spread(x []float32, v float32) {
	if len(x) == 0 {
		return
	}
	x[0] = v
	for done := 1; done < len(x); done *= 2 {
		copy(x[done:], x[:done])
	}
}

func sumGrad(c *compiler, in device.Instr) {
	dsum, dx, norm := c.data[in.In[1]], c.data[in.Out], in.F[0]
	c.memberwise(in, in.In[1:], func(lo, hi int) {
		spread(dx[lo:hi], float32(float64(dsum[0])/norm))
	})
}

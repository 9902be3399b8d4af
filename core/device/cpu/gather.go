package cpu

import (
	"math"

	"pgrlab/core/device"
)

func init() {
	lowerings[device.Gather] = gather
	lowerings[device.GatherGrad] = gatherGrad
}

// table is the geometry of a gather.
type table struct {
	index               []float32
	members, rows, cols int
	picks               int // for each member of the indices
}

func (c *compiler) table(in device.Instr) table {
	t := table{index: c.data[in.In[1]]}
	t.members, t.rows, t.cols = c.shape(in.In[0])
	_, t.picks, _ = c.shape(in.In[1])
	return t
}

// at returns the element where the row for pick i begins, or −1 if there is no such row.
func (t table) at(i int) int {
	v := t.index[i]
	if !(v >= 0 && float64(v) < float64(t.rows)) {
		return -1
	}
	row := int(v)
	if t.members > 1 {
		row += i / t.picks * t.rows
	}
	return row * t.cols
}

func gather(c *compiler, in device.Instr) {
	x, y, t := c.data[in.In[0]], c.data[in.Out], c.table(in)
	c.perRow(in, in.Out, in.In[:1], func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := y[i*t.cols : (i+1)*t.cols]
			if at := t.at(i); at >= 0 {
				copy(row, x[at:])
				continue
			}
			for j := range row {
				row[j] = float32(math.NaN())
			}
		}
	})
}

// gatherGrad adds up the gradients of the picked rows; each lane sums its own.
func gatherGrad(c *compiler, in device.Instr) {
	dy, t := c.data[in.In[2]], c.table(in)
	members, _, _ := c.shape(in.In[1])
	c.overRows(in, t.picks, in.In[:1], func(out []float32, lo, hi int) {
		clear(out)
		for e := range members {
			for i := e*t.picks + lo; i < e*t.picks+hi; i++ {
				if at := t.at(i); at >= 0 {
					row := out[at : at+t.cols]
					c.k.Add(row, row, dy[i*t.cols:])
				}
			}
		}
	})
}

package cpu

import (
	"pgrlab/core/device"
)

func init() {
	lowerings[device.TwoHotAt] = twoHotAt
	lowerings[device.BinMean] = binMean
}

// twoHotAt implements op.TwoHotAt.
func twoHotAt(c *compiler, in device.Instr) {
	x, bins, y := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out]
	k := len(bins)
	c.perRow(in, in.Out, in.In[1:], func(lo, hi int) {
		for i := lo; i < hi; i++ {
			twoHot(y[i*k:(i+1)*k], x[i], bins)
		}
	})
}

func twoHot(row []float32, x float32, bins []float32) {
	clear(row)
	above, end := 0, len(bins) // the first bin above x is one of these
	for above < end {
		if middle := (above + end) / 2; bins[middle] <= x {
			above = middle + 1
		} else {
			end = middle
		}
	}
	switch {
	case x != x: // keep NaN visible
		row[0] = x
	case above == 0:
		row[0] = 1
	case above == len(bins):
		row[above-1] = 1
	default:
		low, high := float64(bins[above-1]), float64(bins[above])
		row[above-1] = float32((high - float64(x)) / (high - low))
		row[above] = float32((float64(x) - low) / (high - low))
	}
}

// binMean implements op.BinMean.
func binMean(c *compiler, in device.Instr) {
	z, bins, y := c.data[in.In[0]], c.data[in.In[1]], c.data[in.Out]
	members, rows, k := c.shape(in.In[0])
	work := c.perShare(k)
	c.rowwiseShare(in, rows, in.In[1:], func(s share, lo, hi int) {
		p := work[s.place()]
		for e := range members {
			for i := e*rows + lo; i < e*rows+hi; i++ {
				row := z[i*k : (i+1)*k]
				total := c.k.ExpSum(p, row, c.k.Largest(row))
				y[i] = float32(c.k.MirroredDot(p, bins) / total)
			}
		}
	})
}

package cpu

import "pgrlab/core/device"

// Stages on images go through one image after the other, each image through all consecutive stages:
// what one layer hands to the next then stays in the cache, where a whole batch would not fit.

// imageStage is a stage that goes image by image.
type imageStage struct {
	wholes []device.Ref // operands that each share reads as a whole
	// summed is the number of rows of a result that is a sum over images, of which each lane has
	// its own; 0: the result is no such sum. Every part of a lane then goes through all of the
	// lane's images.
	summed  int
	prepare func(share)
	image   func(s share, i int)
}

// imagewise emits an image stage.
func (c *compiler) imagewise(in device.Instr, rows int, s imageStage) {
	by := c.byImages(rows)
	made := writes(by, in.Out)
	if s.summed > 0 {
		made = writes(c.grained(byLane, s.summed, rowGrain), in.Out)
		if by = (split{by: byRows, n: rows}); c.parts > 1 {
			by = split{by: whole, grain: all}
		}
	} else {
		c.imaged[in.Out] = true
	}
	uses := append(operands(by, s.wholes, in.In...), operands(by, s.wholes, in.Mask)...)
	uses = append(uses, made)
	c.schedule.add(stage{
		name: name(in), uses: uses, flops: c.p.FLOPs(in), members: rows, grain: by.grain, member: s.image, prepare: s.prepare,
		run: func(of share) {
			lo, hi, idle := of.each(rows, by.grain)
			if idle {
				return
			}
			if s.prepare != nil {
				s.prepare(of)
			}
			for i := lo; i < hi; i++ {
				s.image(of, i)
			}
		},
	})
}

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
	uses := []access{writes(by, in.Out)}
	if s.summed > 0 {
		uses = []access{writes(c.grained(byLane, s.summed, rowGrain), in.Out)}
		if by = (split{by: byRows, n: rows}); c.parts > 1 {
			by = split{by: whole, grain: all}
		}
	} else {
		c.imaged[in.Out] = true
	}
	for _, r := range append(append([]device.Ref(nil), in.In...), in.Mask) {
		switch {
		case r == device.None:
		case contains(s.wholes, r):
			uses = append(uses, reads(split{by: whole}, r)...)
		default:
			uses = append(uses, reads(by, r)...)
		}
	}
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

// standingImages reports whether an elementwise instruction goes image by image, because one of its
// operands was written that way.
func (c *compiler) standingImages(in device.Instr) bool {
	members, rows, cols := c.shape(in.Out)
	some := false
	for _, r := range in.In {
		m, h, w := c.shape(r)
		if m != members || h != rows || w != cols {
			return false
		}
		some = some || c.imaged[r]
	}
	return some && members == 1
}

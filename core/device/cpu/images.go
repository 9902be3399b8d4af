package cpu

import "pgrlab/core/device"

// Stages on images go one image after the other, each through all stages that follow
// each other: what a layer hands to the next stays in the cache then, where a whole batch
// of it would not fit.

// laneMemory is memory of each lane's own.
type laneMemory [Lanes][]float32

func newLaneMemory(n int) (m laneMemory) {
	for lane := range m {
		m[lane] = aligned(n)
	}
	return m
}

// imageStage is a stage that goes image by image.
type imageStage struct {
	wholes  []device.Ref // operands that each lane reads altogether
	summed  bool         // the result is a sum over images, of which each lane has its own
	prepare func(lane int)
	image   func(lane, i int)
}

// imagewise emits such a stage.
func (c *compiler) imagewise(in device.Instr, rows int, s imageStage) {
	by := split{byRows, rows}
	uses := []access{writes(by, in.Out)}
	if s.summed {
		uses = []access{writes(split{by: byLane}, in.Out)}
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
		name: name(in), uses: uses, flops: c.p.FLOPs(in), members: rows, member: s.image, prepare: s.prepare,
		run: func(lane int) {
			if s.prepare != nil {
				s.prepare(lane)
			}
			lo, hi := rowRange(rows, lane)
			for i := lo; i < hi; i++ {
				s.image(lane, i)
			}
		},
	})
}

// standingImages says whether an elementwise instruction goes image by image, because one
// of its operands was written so.
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

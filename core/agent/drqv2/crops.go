package drqv2

import (
	"slices"

	"pgrlab/core/agent"
)

// cropped is what is kept of a row of the last batch for display: the newest frame of s,
// whose memory stays its owner's, and its shift.
type cropped struct {
	frame        []byte
	down, across int
}

// Crops returns the newest frames of s of the last batch's first rows, before and after
// their shift.
func (x *Agent) Crops() (all []agent.Crop) {
	for _, c := range x.crops {
		if c.frame == nil {
			continue
		}
		crop := agent.Crop{Frame: slices.Clone(c.frame), Cropped: make([]byte, x.frames.Size()), Down: c.down - x.frames.Pad, Across: c.across - x.frames.Pad}
		x.frames.StackBytes(crop.Cropped, [][]byte{c.frame}, c.down, c.across)
		all = append(all, crop)
	}
	return all
}

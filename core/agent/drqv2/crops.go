package drqv2

import (
	"slices"

	"pgrlab/core/agent"
	"pgrlab/core/window"
)

// cropped is what is kept of a row of the last batch for display: the newest frame of s,
// whose memory stays its owner's, and its shift.
type cropped struct {
	frame        []byte
	down, across int
}

var _ agent.Shifter = (*Agent)(nil)

// Crops returns the newest frames of s of the last batch's first rows, before and after
// their shift.
func (x *Agent) Crops() (all []agent.Crop) {
	tone, numbers := new(window.Tone), make([]float32, x.frames.Size())
	for b := range tone {
		tone[b] = float32(b)
	}
	for _, c := range x.crops {
		if c.frame == nil {
			continue
		}
		x.frames.Stack(numbers, [][]byte{c.frame}, c.down, c.across, tone)
		crop := agent.Crop{Frame: slices.Clone(c.frame), Cropped: make([]byte, len(numbers)), Down: c.down - x.frames.Pad, Across: c.across - x.frames.Pad}
		for i, v := range numbers {
			crop.Cropped[i] = byte(v)
		}
		all = append(all, crop)
	}
	return all
}

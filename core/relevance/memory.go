package relevance

import (
	"pgrlab/core/nn"
	"pgrlab/core/replay"
)

// Memory estimates how many bytes the model takes; the estimate is never much too high. It does not
// overflow.
func (c ICMConfig) Memory(shape replay.Shape) float64 {
	h := c.Hidden
	parameters := nn.Parameters(shape.Obs, h, h, h) + nn.Parameters(2*h, h, h, shape.Act) +
		2*nn.Parameters(h+shape.Act, h, h, h, h, h) + nn.Parameters(h+shape.Act, h, h)
	rows := float64(c.Batch) + float64(c.ScoreRows)
	return 4 * (4*parameters + rows*(2*float64(shape.Obs)+float64(shape.Act)+4*float64(h)))
}

// Memory estimates how many bytes both networks take; the estimate is never much too high. It does
// not overflow.
func (c RNDConfig) Memory(shape replay.Shape) float64 {
	h := c.Hidden
	target, predictor := nn.Parameters(shape.Obs, h, h, c.Features), nn.Parameters(shape.Obs, h, h, h, h, c.Features)
	rows := float64(c.Batch) + float64(c.ScoreRows)
	return 4 * (target + 4*predictor + rows*(float64(shape.Obs)+4*float64(h)+2*float64(c.Features)))
}

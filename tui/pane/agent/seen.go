package agent

import (
	"image"

	"pgrlab/core/event"
	"pgrlab/tui/picture"
)

// sheet is what a learner sees in at most w by h pixels: the newest frame, and in a column
// beside it the others, the newer ones above. A picture of another size is as wide as it
// can be.
func sheet(m *event.Moment, w, h int) *image.RGBA {
	others := len(m.Seen) - 1
	side := min(w, h)
	small := 0
	if others > 0 {
		side = min(h, w*others/(others+1))
		small = side / others
	}
	img := image.NewRGBA(image.Rect(0, 0, side+small, side))
	picture.Frame(img, m.Seen[others], m.Side, image.Rect(0, 0, side, side))
	for i := range others {
		picture.Frame(img, m.Seen[others-1-i], m.Side, image.Rect(side, i*small, side+small, (i+1)*small))
	}
	return img
}

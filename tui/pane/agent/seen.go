package agent

import (
	"image"

	"pgrlab/core/event"
)

// channels are the numbers of a pixel of a frame.
const channels = 3

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
	paint(img, m.Seen[others], m.Side, image.Rect(0, 0, side, side))
	for i := range others {
		paint(img, m.Seen[others-1-i], m.Side, image.Rect(side, i*small, side+small, (i+1)*small))
	}
	return img
}

// paint draws a frame into a square of the picture: the means of its pixels where it is
// made smaller.
func paint(img *image.RGBA, frame []byte, side int, to image.Rectangle) {
	n := to.Dx()
	for y := range n {
		for x := range n {
			left, top := x*side/n, y*side/n
			right, bottom := max(left+1, (x+1)*side/n), max(top+1, (y+1)*side/n)
			var sum [channels]int
			for v := top; v < bottom; v++ {
				for u := left; u < right; u++ {
					for c := range channels {
						sum[c] += int(frame[(v*side+u)*channels+c])
					}
				}
			}
			at := img.PixOffset(to.Min.X+x, to.Min.Y+y)
			for c := range channels {
				img.Pix[at+c] = byte(sum[c] / ((right - left) * (bottom - top)))
			}
			img.Pix[at+channels] = 255
		}
	}
}

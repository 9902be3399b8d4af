package picture

import "image"

// channels is the number of channels of a frame's pixel.
const channels = 3

// Frame draws a frame, [side,side,3] bytes of red, green and blue, into a square of the image; a
// smaller square gets the means of the frame's pixels.
func Frame(img *image.RGBA, frame []byte, side int, to image.Rectangle) {
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

package relevance

// greySide is the side of the pictures that pseudo-counts are computed from (Bellemare et al. 2016,
// section 5).
const greySide = 42

// grey turns frames into pictures of 42 × 42 symbols, which are grey values in bins of equal width.
// A pixel is the mean of the frame over the pixel's area. All numbers are integers, so that no
// value depends on how sums are rounded.
type grey struct {
	area areaMean
	bins int
}

func newGrey(side, bins int) *grey { return &grey{newAreaMean(side, greySide), bins} }

// The weights of red, green and blue are those of ITU-R BT.601, in thousandths.
const red, green, blue, thousand = 299, 587, 114, 1000

// picture writes the symbols of a frame, line by line.
func (g *grey) picture(dst []uint8, frame []byte) {
	whole := int64(256*thousand) * int64(g.area.from*g.area.from)
	var sums [colours]int64
	for y := range greySide {
		for x := range greySide {
			g.area.sums(&sums, frame, y, x)
			dst[y*greySide+x] = uint8(int64(g.bins) * (red*sums[0] + green*sums[1] + blue*sums[2]) / whole)
		}
	}
}

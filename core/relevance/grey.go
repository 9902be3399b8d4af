package relevance

// greySide is the side of the pictures that pseudo-counts are made of (Bellemare et al. 2016,
// section 5).
const greySide = 42

// grey makes pictures of frames: 42 × 42 symbols, which are grey values in bins of equal
// width. A pixel is the mean of the frame over its area. All numbers are whole, so that no
// value depends on how sums are rounded.
type grey struct {
	side, bins int
	first      [greySide]int     // first pixel that each pixel of the picture covers
	share      [greySide][]int64 // of it and the following ones, in parts of side
}

func newGrey(side, bins int) *grey {
	g := &grey{side: side, bins: bins}
	for i := range greySide {
		// In units of 1/42 of a frame's pixel, pixel i of the picture is [i·side, (i+1)·side).
		lo, hi := i*side, (i+1)*side
		g.first[i] = lo / greySide
		for p := g.first[i]; p*greySide < hi; p++ {
			g.share[i] = append(g.share[i], int64(min(hi, (p+1)*greySide)-max(lo, p*greySide)))
		}
	}
	return g
}

// The weights of red, green and blue are those of ITU-R BT.601, in thousandths.
const red, green, blue, thousand = 299, 587, 114, 1000

// picture writes the symbols of a frame, line by line.
func (g *grey) picture(dst []uint8, frame []byte) {
	whole := int64(256*thousand) * int64(g.side*g.side)
	for y := range greySide {
		for x := range greySide {
			sum := int64(0)
			for i, down := range g.share[y] {
				line := frame[((g.first[y]+i)*g.side+g.first[x])*colours:]
				for k, across := range g.share[x] {
					p := line[k*colours : k*colours+colours : k*colours+colours]
					sum += down * across * (red*int64(p[0]) + green*int64(p[1]) + blue*int64(p[2]))
				}
			}
			dst[y*greySide+x] = uint8(int64(g.bins) * sum / whole)
		}
	}
}

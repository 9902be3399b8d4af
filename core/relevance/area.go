package relevance

// areaMean resizes square pictures: each pixel is the mean of the given picture over the pixel's
// area. Weights are integers, so that no value depends on how sums are rounded; the weights of a
// pixel add up to from·from.
type areaMean struct {
	from, to int       // sides
	first    []int     // given line or column in which each new one begins, [to]
	share    [][]int64 // weights of that line or column and of the following ones
}

func newAreaMean(from, to int) areaMean {
	a := areaMean{from: from, to: to, first: make([]int, to), share: make([][]int64, to)}
	for i := range to {
		// In units of 1/to of a given pixel, pixel i is [i·from, (i+1)·from).
		lo, hi := i*from, (i+1)*from
		a.first[i] = lo / to
		for p := a.first[i]; p*to < hi; p++ {
			a.share[i] = append(a.share[i], int64(min(hi, (p+1)*to)-max(lo, p*to)))
		}
	}
	return a
}

// sums writes the weighted sums of a pixel's red, green and blue.
func (a areaMean) sums(dst *[colours]int64, frame []byte, y, x int) {
	*dst = [colours]int64{}
	for i, down := range a.share[y] {
		line := frame[((a.first[y]+i)*a.from+a.first[x])*colours:]
		for k, across := range a.share[x] {
			p, weight := line[k*colours:k*colours+colours:k*colours+colours], down*across
			dst[0] += weight * int64(p[0])
			dst[1] += weight * int64(p[1])
			dst[2] += weight * int64(p[2])
		}
	}
}

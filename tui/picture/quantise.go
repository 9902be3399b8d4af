package picture

import (
	"cmp"
	"image"
	"slices"
)

// most256 is how many colours a sixel image has at most.
const most256 = 256

// quantised is an image in at most 256 colours: the palette and, for each pixel, row by row, its
// index in the palette, -1 without colour. An image of few colours keeps them; of many colours,
// similar ones are replaced by their mean, by median cut (Heckbert 1982).
func quantised(img *image.RGBA) (palette []rgb, at []int16) {
	if palette, at = counted(img); palette != nil {
		return palette, at
	}
	bins := binned(img)
	boxes := cut(bins, most256)
	place := make([]int16, 1<<(3*binBits))
	palette = make([]rgb, len(boxes))
	for i, box := range boxes {
		palette[i] = mean(box)
		for _, b := range box {
			place[b.code] = int16(i)
		}
	}
	at = at[:0]
	each(img, func(c rgb, seen bool) {
		if seen {
			at = append(at, place[c.bin()])
		} else {
			at = append(at, -1)
		}
	})
	return palette, at
}

// each calls do for each pixel, row by row.
func each(img *image.RGBA, do func(c rgb, seen bool)) {
	for y := range img.Rect.Dy() {
		row := img.Pix[y*img.Stride:][:4*img.Rect.Dx()]
		for i := 0; i < len(row); i += 4 {
			do(rgb{row[i], row[i+1], row[i+2]}, row[i+3] > 0)
		}
	}
}

// counted lists the colours of an image that has few; without a palette the image has too many. The
// second result has room for all pixels.
func counted(img *image.RGBA) (palette []rgb, at []int16) {
	places := map[rgb]int16{}
	at = make([]int16, 0, img.Rect.Dx()*img.Rect.Dy())
	var last rgb
	place, fits := int16(-1), true
	each(img, func(c rgb, seen bool) {
		switch {
		case !seen:
			at = append(at, -1)
			return
		case !fits:
			return
		case place < 0 || c != last:
			var known bool
			if place, known = places[c]; !known {
				place = int16(len(palette))
				places[c], palette = place, append(palette, c)
			}
			last, fits = c, len(palette) <= most256
		}
		at = append(at, place)
	})
	if !fits {
		return nil, at
	}
	if palette == nil {
		palette = []rgb{}
	}
	return palette, at
}

// binBits is how many bits of a channel distinguish colours.
const binBits = 6

// bin is the set of colours whose channels share their highest bits.
type bin struct {
	code  int
	count int
	sum   [channels]int
}

func (c rgb) bin() int {
	const drop = 8 - binBits
	return int(c[0]>>drop)<<(2*binBits) | int(c[1]>>drop)<<binBits | int(c[2]>>drop)
}

// binned are the bins that contain pixels of an image.
func binned(img *image.RGBA) (bins []bin) {
	number := make([]int32, 1<<(3*binBits)) // of the bin, counted from 1
	each(img, func(c rgb, seen bool) {
		if !seen {
			return
		}
		code := c.bin()
		if number[code] == 0 {
			bins = append(bins, bin{code: code})
			number[code] = int32(len(bins))
		}
		b := &bins[number[code]-1]
		b.count++
		for i, v := range c {
			b.sum[i] += int(v)
		}
	})
	return bins
}

// cut divides bins into at most n boxes of similar bins. Again and again it takes the box with the
// largest product of pixels and length, and cuts it across its longest side at the median of its
// pixels.
func cut(bins []bin, n int) [][]bin {
	type box struct {
		bins         []bin
		along, score int
	}
	measured := func(bins []bin) box {
		b := box{bins: bins}
		count := 0
		for _, x := range bins {
			count += x.count
		}
		for i := range channels {
			least, most := 256, 0
			for _, x := range bins {
				v := x.sum[i] / x.count
				least, most = min(least, v), max(most, v)
			}
			if score := (most - least) * count; score > b.score {
				b.along, b.score = i, score
			}
		}
		return b
	}
	boxes := []box{measured(bins)}
	for len(boxes) < n {
		at := 0
		for i := range boxes {
			if boxes[i].score > boxes[at].score {
				at = i
			}
		}
		b := boxes[at]
		if b.score == 0 {
			break
		}
		slices.SortFunc(b.bins, func(x, y bin) int {
			return cmp.Or(cmp.Compare(x.sum[b.along]/x.count, y.sum[b.along]/y.count), cmp.Compare(x.code, y.code))
		})
		half := median(b.bins)
		boxes[at] = measured(b.bins[:half])
		boxes = append(boxes, measured(b.bins[half:]))
	}
	out := make([][]bin, len(boxes))
	for i, b := range boxes {
		out[i] = b.bins
	}
	return out
}

// median is how many of the bins hold half of their pixels: at least one bin, and not all.
func median(bins []bin) int {
	total := 0
	for _, b := range bins {
		total += b.count
	}
	sum := 0
	for i, b := range bins {
		if sum += b.count; 2*sum >= total {
			return min(max(1, i+1), len(bins)-1)
		}
	}
	return len(bins) - 1
}

// mean is the mean colour of the pixels in a box.
func mean(box []bin) rgb {
	var sum [channels]int
	count := 0
	for _, b := range box {
		count += b.count
		for i, v := range b.sum {
			sum[i] += v
		}
	}
	var c rgb
	for i, v := range sum {
		c[i] = uint8((v + count/2) / count)
	}
	return c
}

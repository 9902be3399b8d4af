package picture

import (
	"image"
	"strconv"

	"github.com/charmbracelet/x/ansi"
)

// We encode sixels ourselves: frames come while an agent trains, and the encoder of
// github.com/charmbracelet/x/ansi/sixel, which looks every pixel up in maps, takes several times as
// long.

// bandHeight is the number of pixels, one below the other, in a sixel.
const bandHeight = 6

// appendSixel appends an image as sixels of at most 256 colours (VT340's manual, EK-VT3XX-TP).
// Pixels without colour leave what was there. No line break follows the last line, because it might
// scroll the screen.
func appendSixel(to []byte, img *image.RGBA) []byte {
	palette, at := quantised(img)
	w, h := img.Rect.Dx(), img.Rect.Dy()
	data := append([]byte(nil), `"1;1;`...)
	data = strconv.AppendInt(data, int64(w), 10)
	data = append(data, ';')
	data = strconv.AppendInt(data, int64(h), 10)
	for i, c := range palette {
		data = append(data, '#')
		data = append(data, decimal[i]...)
		data = append(data, ";2"...)
		for _, v := range c {
			data = append(data, ';')
			data = append(data, decimal[(int(v)*100+127)/255]...)
		}
	}
	b := band{w: w, bits: make([]byte, len(palette)*w)}
	for y := 0; y < h; y += bandHeight {
		if y > 0 {
			data = append(data, '-')
		}
		b.take(at[y*w : min(h, y+bandHeight)*w])
		data = b.append(data)
	}
	return append(to, ansi.SixelGraphics(0, 1, 0, data)...)
}

// band is a line of sixels: for every colour that occurs, a line of w sixels.
type band struct {
	w       int
	bits    []byte // [colours, w]; the rows of colours that do not occur are 0
	colours []int  // those that occur, in the order of their first pixel
	occurs  [most256]bool
}

// take reads up to six rows of pixels.
func (b *band) take(at []int16) {
	for i, c := range at {
		if c < 0 {
			continue
		}
		if !b.occurs[c] {
			b.occurs[c] = true
			b.colours = append(b.colours, int(c))
		}
		b.bits[int(c)*b.w+i%b.w] |= 1 << (i / b.w)
	}
}

// append appends the band to data and clears it.
func (b *band) append(data []byte) []byte {
	for i, c := range b.colours {
		if i > 0 {
			data = append(data, '$') // back to the beginning of the line
		}
		data = append(data, '#')
		data = append(data, decimal[c]...)
		row := b.bits[c*b.w : (c+1)*b.w]
		for x := 0; x < b.w; {
			n := 1
			for x+n < b.w && row[x+n] == row[x] {
				n++
			}
			if x+n == b.w && row[x] == 0 {
				break
			}
			data = appendRepeated(data, n, '?'+row[x])
			x += n
		}
		clear(row)
		b.occurs[c] = false
	}
	b.colours = b.colours[:0]
	return data
}

// appendRepeated appends the same sixel n times.
func appendRepeated(data []byte, n int, sixel byte) []byte {
	if n > 3 {
		data = append(data, '!')
		data = strconv.AppendInt(data, int64(n), 10)
		n = 1
	}
	for range n {
		data = append(data, sixel)
	}
	return data
}

package picture

import (
	"image"
	"strconv"

	"github.com/muesli/termenv"
)

// Style is how an image is written.
type Style int

// The styles.
const (
	ASCII      Style = iota // one character a cell by brightness, no colour
	Colours16               // half blocks in the 16 colours of ANSI terminals
	Colours256              // half blocks in xterm's 256 colours
	TrueColour              // half blocks in 24-bit colour
)

// For is the best style for a terminal with the given colour profile; unicode says whether it can
// show half blocks.
func For(p termenv.Profile, unicode bool) Style {
	switch {
	case !unicode:
		return ASCII
	case p == termenv.TrueColor:
		return TrueColour
	case p == termenv.ANSI256:
		return Colours256
	case p == termenv.ANSI:
		return Colours16
	}
	return ASCII
}

// upperHalf shows the foreground above the background.
const upperHalf = "▀"

const reset = "\x1b[0m"

// Lines writes img as h lines of w cells each, in the style s. img should have 2·h rows of w
// pixels; an image of another size is stretched. Every line begins and ends without colour, so that
// lines can be put beside other text. If w or h is below 1 there are no lines.
func Lines(img *image.RGBA, w, h int, s Style) []string {
	if w <= 0 || h <= 0 || img.Rect.Empty() {
		return nil
	}
	lines := make([]string, h)
	p := pixels{img: img, w: w, h: 2 * h}
	buf := make([]byte, 0, 40*w) // two colours and a block in every cell
	for y := range lines {
		if s == ASCII {
			buf = p.plain(buf[:0], y)
		} else {
			buf = p.coloured(buf[:0], y, s)
		}
		lines[y] = string(buf)
	}
	return lines
}

// pixels reads an image as if it had w by h pixels.
type pixels struct {
	img  *image.RGBA
	w, h int
}

// rgb is a colour without transparency.
type rgb [3]uint8

func (p *pixels) at(x, y int) rgb {
	size := p.img.Rect.Size()
	i := p.img.PixOffset(p.img.Rect.Min.X+x*size.X/p.w, p.img.Rect.Min.Y+y*size.Y/p.h)
	return rgb(p.img.Pix[i : i+3])
}

// coloured appends a line of half blocks. It writes a colour only where the colour changes.
func (p *pixels) coloured(buf []byte, y int, s Style) []byte {
	const none = -1
	above, below := none, none
	for x := range p.w {
		top, bottom := s.index(p.at(x, 2*y), x, 2*y), s.index(p.at(x, 2*y+1), x, 2*y+1)
		if bottom != below {
			buf = s.appendColour(buf, bottom, background)
			below = bottom
		}
		if top == bottom { // a blank has no seams in any font
			buf = append(buf, ' ')
			continue
		}
		if top != above {
			buf = s.appendColour(buf, top, foreground)
			above = top
		}
		buf = append(buf, upperHalf...)
	}
	return append(buf, reset...)
}

// layer says which of a cell's two colours is set; its value is what SGR adds to the numbers of the
// foreground.
type layer int

const (
	foreground layer = 0
	background layer = 10
)

// index is the number of a colour in the style's palette.
func (s Style) index(c rgb, x, y int) int {
	switch s {
	case TrueColour:
		return int(c[0])<<16 | int(c[1])<<8 | int(c[2])
	case Colours256:
		return nearest256(brightened(c)) // not dithered: the palette's colours are so far apart that dithering would be noise
	default:
		return nearest16(dithered(saturated(c), x, y, dither16))
	}
}

// appendColour appends the control sequence (ECMA-48 SGR) that chooses a colour.
func (s Style) appendColour(buf []byte, index int, l layer) []byte {
	buf = append(buf, "\x1b["...)
	switch {
	case s == TrueColour:
		buf = append(buf, decimal[38+int(l)]...)
		buf = append(buf, ";2;"...)
		buf = append(buf, decimal[index>>16]...)
		buf = append(buf, ';')
		buf = append(buf, decimal[index>>8&0xff]...)
		buf = append(buf, ';')
		buf = append(buf, decimal[index&0xff]...)
	case s == Colours256:
		buf = append(buf, decimal[38+int(l)]...)
		buf = append(buf, ";5;"...)
		buf = append(buf, decimal[index]...)
	case index < 8:
		buf = append(buf, decimal[30+int(l)+index]...)
	default: // the eight bright colours
		buf = append(buf, decimal[90+int(l)+index-8]...)
	}
	return append(buf, 'm')
}

// decimal has the numbers in control sequences as text.
var decimal = func() (table [256]string) {
	for i := range table {
		table[i] = strconv.Itoa(i)
	}
	return table
}()

// ramp has characters in order of brightness, for a dark ground.
const ramp = " .,:;-=+*oO#%@"

// plain appends a line of ASCII. Pixels darker than the tasks' skies stay blank, and pixels as
// bright as the tasks' bodies get the fullest character.
func (p *pixels) plain(buf []byte, y int) []byte {
	const dark, bright = 0.32, 0.6
	for x := range p.w {
		l := (luminance(p.at(x, 2*y)) + luminance(p.at(x, 2*y+1))) / 2
		l = (l - dark) / (bright - dark)
		buf = append(buf, ramp[min(max(int(l*float64(len(ramp))), 0), len(ramp)-1)])
	}
	return buf
}

// luminance is the Rec. 709 brightness of a colour, in [0,1].
func luminance(c rgb) float64 {
	return (0.2126*float64(c[0]) + 0.7152*float64(c[1]) + 0.0722*float64(c[2])) / 255
}

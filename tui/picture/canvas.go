package picture

import (
	"image"
	"math"
)

// Protocol is the way a terminal is sent an image.
type Protocol int

// The protocols.
const (
	Characters Protocol = iota // no protocol: half blocks or ASCII, as the style says
	Kitty                      // kitty's graphics protocol, with Unicode placeholders in the cells
	Sixel                      // DEC's sixel graphics
)

// String is characters, kitty or sixel.
func (p Protocol) String() string { return [...]string{"characters", "kitty", "sixel"}[p] }

// Canvas is a surface for images, made of terminal cells. Two canvases are equal when the same
// image gives the same lines on both.
type Canvas struct {
	style  Style
	images *Images // nil: characters
	cell   image.Point
	epoch  int
}

// On is a canvas that draws images with characters.
func On(s Style) Canvas { return Canvas{style: s, cell: image.Pt(1, 2)} }

// Pixels says whether the terminal shows real pixels.
func (c Canvas) Pixels() bool { return c.images != nil }

// Colours says whether images have colours on this canvas.
func (c Canvas) Colours() bool { return c.Pixels() || c.style != ASCII }

// Lines writes img as h lines of w cells each. img should have the size of the cells; an image of
// another size is stretched. If w or h is below 1 there are no lines.
func (c Canvas) Lines(img *image.RGBA, w, h int) []string {
	if c.images == nil || max(w, h) > len(diacritics()) {
		return Lines(img, w, h, c.style)
	}
	if w <= 0 || h <= 0 || img.Rect.Empty() {
		return nil
	}
	return c.images.lines(img, w, h)
}

// Size is the size of w by h cells in pixels.
func (c Canvas) Size(w, h int) image.Point { return image.Pt(w*c.cell.X, h*c.cell.Y) }

// Scene is the size at which to draw a scene for w by h cells: in the proportions of the cells, but
// with so few pixels that drawing and sending it does not take long.
func (c Canvas) Scene(w, h int) image.Point {
	const most = 320 * 240
	size := c.Size(w, h)
	if !c.Pixels() || size.X*size.Y <= most {
		return size
	}
	by := math.Sqrt(most / float64(size.X*size.Y))
	return image.Pt(max(1, int(by*float64(size.X))), max(1, int(by*float64(size.Y))))
}

// Square writes a frame, [side,side,3] bytes, as n/2 lines of n cells each, with the largest square
// that fits.
func (c Canvas) Square(frame []byte, side, n int) []string {
	size := c.Size(n, n/2)
	img := image.NewRGBA(image.Rectangle{Max: size})
	k := min(size.X, size.Y)
	corner := image.Pt((size.X-k)/2, 0)
	Frame(img, frame, side, image.Rectangle{Min: corner, Max: corner.Add(image.Pt(k, k))})
	return c.Lines(img, n, n/2)
}

// Blank is an image without colour of at least w by h pixels that fills whole cells, and the number
// of these cells.
func (c Canvas) Blank(w, h int) (img *image.RGBA, cells image.Point) {
	cells = image.Pt((w+c.cell.X-1)/c.cell.X, (h+c.cell.Y-1)/c.cell.Y)
	if c.Pixels() { // half blocks are stretched by less than one block
		w, h = cells.X*c.cell.X, cells.Y*c.cell.Y
	}
	return image.NewRGBA(image.Rect(0, 0, w, h)), cells
}

package picture

import (
	"image"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// run2D is a stack of equal runs, one below the other, from line y on.
type run2D struct {
	run
	y, rows int
}

// largestSixel is the largest side of a sixel image in pixels: the limit of xterm's default
// configuration. Larger images are drawn in parts.
const largestSixel = 1000

// blank appends a piece of a line as a sixel terminal gets it, and notes what to draw. Cells that
// showed an image of the same size are painted over, not wiped first, so that nothing flickers.
func (m *Images) blank(out []byte, draw []run2D, p piece, old []run, y int) ([]byte, []run2D) {
	r := p.run
	if r.n == 0 {
		return append(out, p.text...), draw
	}
	if slices.Contains(old, r) {
		return append(out, ansi.CursorForward(r.n)...), draw
	}
	now := m.all[r.id]
	if now == nil {
		return append(out, strings.Repeat(" ", r.n)...), draw
	}
	i := slices.IndexFunc(old, func(o run) bool {
		was := m.all[o.id]
		o.id = r.id
		return o == r && was != nil && was.img.Rect == now.img.Rect && was.w == now.w && was.h == now.h
	})
	if i >= 0 {
		out = append(out, ansi.CursorForward(r.n)...)
	} else {
		out = append(out, strings.Repeat(" ", r.n)...)
	}
	for i := range draw {
		d := &draw[i]
		above := d.run
		if above.row += d.rows; above == r && d.y+d.rows == y {
			d.rows++
			return out, draw
		}
	}
	return out, append(draw, run2D{r, y, 1})
}

// drawSixels appends the images of the runs to a frame, and leaves the cursor where the frame left
// it.
func (m *Images) drawSixels(out []byte, draw []run2D) []byte {
	if len(draw) == 0 {
		return out
	}
	out = append(out, ansi.SaveCursor...)
	wide, high := max(1, largestSixel/m.cell.X), max(1, largestSixel/m.cell.Y)
	for _, d := range draw {
		for top := 0; top < d.rows; top += high {
			for left := 0; left < d.n; left += wide {
				part := image.Rect(left, top, min(d.n, left+wide), min(d.rows, top+high))
				out = append(out, ansi.CursorPosition(d.x+left+1, d.y+top+1)...)
				out = appendSixel(out, m.all[d.id].cells(part.Add(image.Pt(d.col, d.row)), m.cell))
			}
		}
	}
	return append(out, ansi.RestoreCursor...)
}

// cells is a part of an image, given in cells of the given size in pixels.
func (k *kept) cells(part image.Rectangle, cell image.Point) *image.RGBA {
	whole := image.Pt(k.w*cell.X, k.h*cell.Y)
	from := image.Pt(part.Min.X*cell.X, part.Min.Y*cell.Y)
	to := image.NewRGBA(image.Rect(0, 0, part.Dx()*cell.X, part.Dy()*cell.Y))
	size := k.img.Rect.Size()
	for y := range to.Rect.Dy() {
		v := (from.Y + y) * size.Y / whole.Y
		for x := range to.Rect.Dx() {
			u := (from.X + x) * size.X / whole.X
			copy(to.Pix[y*to.Stride+4*x:][:4], k.img.Pix[v*k.img.Stride+4*u:])
		}
	}
	return to
}

package generator

import (
	"image"
	"strings"

	"pgrlab/core/event"
	"pgrlab/tui/format"
	"pgrlab/tui/picture"
)

// leastFrames is how many frames of a prediction stand side by side at least: one that was seen, and those after it.
const leastFrames = 4

// frames are the frames of a prediction, as last drawn.
type frames struct {
	of    *event.OpenLoopFrames
	sheet *image.RGBA // its image; nil if it is none
	on    picture.Canvas
	w, h  int
	lines []string
}

// worldFrames draws real frames above those that were predicted, below a line with their steps.
func (p *Pane) worldFrames(of *event.OpenLoopFrames, w, h int) []string {
	k, canvas := &p.frames, p.Canvas()
	if k.of != of {
		*k = frames{of: of}
		k.sheet, _ = of.Sheet()
	}
	if k.lines == nil || k.on != canvas || k.w != w || k.h != h {
		k.on, k.w, k.h = canvas, w, h
		k.lines = p.frameLines(k, w, h)
	}
	return k.lines
}

func (p *Pane) frameLines(k *frames, w, h int) []string {
	t, cell := p.Theme, k.on.Size(1, 1)
	if k.sheet == nil || w < leastFrames || h < 3 {
		return nil
	}
	room := k.on.Size(w, h-1)
	shown := shownFrames(k.of.Steps, max(leastFrames, room.X/(room.Y/2+cell.X)))
	across := w / len(shown) // cells of a column, one of which stays free
	side := min(room.Y/2, (across-1)*cell.X)
	if side < 1 {
		return nil
	}
	across = (side+cell.X-1)/cell.X + 1
	img, cells := k.on.Blank(across*len(shown)*cell.X, 2*side)
	var steps strings.Builder
	for i, column := range shown {
		for y := range 2 {
			at := image.Pt(i*across*cell.X, y*side)
			picture.Frame(img, pixels(k.sheet, image.Pt(column, y).Mul(k.of.Side), k.of.Side), k.of.Side, image.Rectangle{Min: at, Max: at.Add(image.Pt(side, side))})
		}
		name := t.Dim.On("seen")
		if step := k.of.Steps[column]; step > 0 {
			name = "+" + format.Count(step)
		}
		steps.WriteString(t.Fit(name, across))
	}
	return append([]string{t.Fit(steps.String(), w)}, k.on.Lines(img, cells.X, cells.Y)...)
}

// shownFrames are at most n columns: the last frame that was seen and, evenly spread, those after it; if there is
// room, the frames that were seen before.
func shownFrames(steps []int, n int) (all []int) {
	seen := 0
	for _, s := range steps {
		if s <= 0 {
			seen++
		}
	}
	after := len(steps) - seen
	if n >= len(steps) {
		n = len(steps)
	}
	before := max(min(seen, 1), n-after)
	for i := seen - before; i < seen; i++ {
		all = append(all, i)
	}
	n = min(after, n-before)
	for i := range n {
		all = append(all, seen+i*(after-1)/max(1, n-1))
	}
	return all
}

// pixels is a square of an image as the bytes of a frame.
func pixels(img *image.RGBA, from image.Point, side int) []byte {
	frame := make([]byte, 0, 3*side*side)
	for y := range side {
		for x := range side {
			at := img.PixOffset(from.X+x, from.Y+y)
			frame = append(frame, img.Pix[at:at+3]...)
		}
	}
	return frame
}

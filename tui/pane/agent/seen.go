package agent

import (
	"fmt"
	"image"
	"strings"

	"pgrlab/core/event"
	"pgrlab/tui/picture"
)

// leastCrop is the smallest side, in pixels, at which a frame of a batch is still readable.
const leastCrop = 10

// seenLines shows what a learner sees in w by h cells: the stack of frames that its next action
// answers and, below, frames of the last batch beside their randomly shifted versions.
func (p *Pane) seenLines(w, h int, canvas picture.Canvas) []string {
	t, m := p.Theme, p.Snap.Moment
	below := p.cropLines(m, w, max(h/4, min(h/3, 7)), canvas)
	stack, cells := sheet(m, w, h-len(below), canvas)
	lines := t.Fill(canvas.Lines(stack, cells.X, cells.Y), w, min(h-len(below), cells.Y))
	return t.Fill(append(lines, below...), w, h)
}

// cropLines are pairs of a frame of the last batch and its crop, below a title: as many pairs as
// fit into w cells, in h rows.
func (p *Pane) cropLines(m *event.Moment, w, h int, canvas picture.Canvas) []string {
	t := p.Theme
	side := 2 * (h - 1)
	const gap = 2
	n := min(len(m.Crops), (w+gap)/(2*side+1+gap))
	if side < leastCrop || n < 1 {
		return nil
	}
	lines := make([]string, h)
	for i, c := range m.Crops[:n] {
		pair := []string{t.Fit(t.Dim.On("shifted ")+shiftText(c), 2*side+1)}
		before, after := canvas.Square(c.Frame, m.Side, side), canvas.Square(c.Cropped, m.Side, side)
		for y := range before {
			pair = append(pair, before[y]+" "+after[y])
		}
		for y := range lines {
			if i > 0 {
				lines[y] += strings.Repeat(" ", gap)
			}
			lines[y] += pair[y]
		}
	}
	return lines
}

// shiftText says in which direction a frame of a batch was shifted.
func shiftText(c event.Crop) string {
	along := func(by int, one, other string) string {
		if by < 0 {
			return fmt.Sprintf("%d %s", -by, one)
		}
		return fmt.Sprintf("%d %s", by, other)
	}
	switch { // content from below has moved up
	case c.Down == 0 && c.Across == 0:
		return "by nothing"
	case c.Down == 0:
		return along(c.Across, "right", "left")
	case c.Across == 0:
		return along(c.Down, "down", "up")
	}
	return along(c.Down, "down", "up") + " " + along(c.Across, "right", "left")
}

// sheet is a picture of what a learner sees, in at most w by h cells, with the number of cells it
// takes: the newest frame and, in a column beside it, the other frames, newer ones above. If the
// cells have other proportions the picture is as large as fits.
func sheet(m *event.Moment, w, h int, canvas picture.Canvas) (img *image.RGBA, cells image.Point) {
	size := canvas.Size(w, h)
	w, h = size.X, size.Y
	others := len(m.Seen) - 1
	side := min(w, h)
	small := 0
	if others > 0 {
		side = min(h, w*others/(others+1))
		small = side / others
	}
	img, cells = canvas.Blank(side+small, side)
	picture.Frame(img, m.Seen[others], m.Side, image.Rect(0, 0, side, side))
	for i := range others {
		picture.Frame(img, m.Seen[others-1-i], m.Side, image.Rect(side, i*small, side+small, (i+1)*small))
	}
	return img, cells
}

package agent

import (
	"fmt"
	"image"
	"strings"

	"pgrlab/core/event"
	"pgrlab/tui/picture"
)

// leastCrop is the side below which a frame of a batch shows nothing, in pixels.
const leastCrop = 10

// seenLines are what a learner sees in w by h cells: the stack that its next action answers,
// and below it frames of the last batch beside what their random shift made of them.
func (p *Pane) seenLines(w, h int, canvas picture.Canvas) []string {
	t, m := p.Theme, p.Snap.Moment
	below := p.cropLines(m, w, max(h/4, min(h/3, 7)), canvas)
	stack, cells := sheet(m, w, h-len(below), canvas)
	lines := t.Fill(canvas.Lines(stack, cells.X, cells.Y), w, min(h-len(below), cells.Y))
	return t.Fill(append(lines, below...), w, h)
}

// cropLines are pairs of a frame of the last batch and its crop, with a title above: as many
// as there is room for in w cells, in h rows.
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
		before, behind := canvas.Square(c.Frame, m.Side, side), canvas.Square(c.Cropped, m.Side, side)
		for y := range before {
			pair = append(pair, before[y]+" "+behind[y])
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

// shiftText says where a frame of a batch went.
func shiftText(c event.Crop) string {
	along := func(by int, one, other string) string {
		if by < 0 {
			return fmt.Sprintf("%d %s", -by, one)
		}
		return fmt.Sprintf("%d %s", by, other)
	}
	switch { // what comes from below has moved up
	case c.Down == 0 && c.Across == 0:
		return "by nothing"
	case c.Down == 0:
		return along(c.Across, "right", "left")
	case c.Across == 0:
		return along(c.Down, "down", "up")
	}
	return along(c.Down, "down", "up") + " " + along(c.Across, "right", "left")
}

// sheet is what a learner sees in at most w by h cells, and in how many: the newest frame, and
// in a column beside it the others, the newer ones above. A picture of another size is as
// wide as it can be.
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

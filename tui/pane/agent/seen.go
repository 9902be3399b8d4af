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
func (p *Pane) seenLines(w, h int, style picture.Style) []string {
	t, m := p.Theme, p.Snap.Moment
	below := p.cropLines(m, w, max(h/4, min(h/3, 7)), style)
	stack := sheet(m, w, 2*(h-len(below)))
	lines := t.Fill(picture.Lines(stack, stack.Rect.Dx(), (stack.Rect.Dy()+1)/2, style), w, min(h-len(below), (stack.Rect.Dy()+1)/2))
	return t.Fill(append(lines, below...), w, h)
}

// cropLines are pairs of a frame of the last batch and its crop, with a title above: as many
// as there is room for in w cells, in h rows.
func (p *Pane) cropLines(m *event.Moment, w, h int, style picture.Style) []string {
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
		before, behind := picture.Lines(square(c.Frame, m.Side, side), side, side/2, style), picture.Lines(square(c.Cropped, m.Side, side), side, side/2, style)
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

// square is a frame in a square of n pixels.
func square(frame []byte, side, n int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, n, n))
	picture.Frame(img, frame, side, img.Rect)
	return img
}

// sheet is what a learner sees in at most w by h pixels: the newest frame, and in a column
// beside it the others, the newer ones above. A picture of another size is as wide as it
// can be.
func sheet(m *event.Moment, w, h int) *image.RGBA {
	others := len(m.Seen) - 1
	side := min(w, h)
	small := 0
	if others > 0 {
		side = min(h, w*others/(others+1))
		small = side / others
	}
	img := image.NewRGBA(image.Rect(0, 0, side+small, side))
	picture.Frame(img, m.Seen[others], m.Side, image.Rect(0, 0, side, side))
	for i := range others {
		picture.Frame(img, m.Seen[others-1-i], m.Side, image.Rect(side, i*small, side+small, (i+1)*small))
	}
	return img
}

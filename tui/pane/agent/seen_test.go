package agent

import (
	"bytes"
	"image"
	"testing"

	"pgrlab/core/event"
)

// The newest frame is the large one, the others stand beside it, newer ones above, and a
// frame that is made smaller keeps its means.
func TestSheet(t *testing.T) {
	const side = 4
	m := &event.Moment{Side: side}
	for _, grey := range []byte{10, 100, 200} {
		m.Seen = append(m.Seen, bytes.Repeat([]byte{grey, 0, 255}, side*side))
	}
	copy(m.Seen[2], bytes.Repeat([]byte{0, 0, 255}, 1)) // one pixel of the first 2 by 2
	img := sheet(m, 30, 2)
	if img.Rect != image.Rect(0, 0, 3, 2) {
		t.Fatalf("%v", img.Rect)
	}
	for at, red := range map[image.Point]uint8{{0, 0}: 150, {1, 0}: 200, {1, 1}: 200, {2, 0}: 100, {2, 1}: 10} {
		if c := img.RGBAAt(at.X, at.Y); c.R != red || c.G != 0 || c.B != 255 || c.A != 255 {
			t.Errorf("%v is %v, want red %d", at, c, red)
		}
	}
	for _, size := range []image.Point{{48, 32}, {9, 40}, {100, 70}, {3, 1}, {8, 6}} {
		if got := sheet(m, size.X, size.Y).Rect; got.Dx() > size.X || got.Dy() > size.Y || got.Dy() == 0 {
			t.Errorf("in %v there are %v", size, got)
		}
	}
	m.Seen = m.Seen[2:]
	if got := sheet(m, 8, 12).Rect; got != image.Rect(0, 0, 8, 8) {
		t.Errorf("one frame has %v", got)
	}
}

package agent

import (
	"bytes"
	"image"
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"pgrlab/core/event"
	"pgrlab/tui/pane"
	"pgrlab/tui/picture"
	"pgrlab/tui/theme"
)

// The newest frame is large and the others stand beside it, newer ones higher. A frame that is
// shrunk keeps its means.
func TestSheet(t *testing.T) {
	const side = 4
	m := &event.Moment{Side: side}
	for _, grey := range []byte{10, 100, 200} {
		m.Seen = append(m.Seen, bytes.Repeat([]byte{grey, 0, 255}, side*side))
	}
	copy(m.Seen[2], bytes.Repeat([]byte{0, 0, 255}, 1)) // one pixel of the first 2 by 2
	canvas := picture.On(picture.ASCII)
	img, cells := sheet(m, 30, 1, canvas)
	if img.Rect != image.Rect(0, 0, 3, 2) || cells != image.Pt(3, 1) {
		t.Fatalf("%v in %v cells", img.Rect, cells)
	}
	for at, red := range map[image.Point]uint8{{0, 0}: 150, {1, 0}: 200, {1, 1}: 200, {2, 0}: 100, {2, 1}: 10} {
		if c := img.RGBAAt(at.X, at.Y); c.R != red || c.G != 0 || c.B != 255 || c.A != 255 {
			t.Errorf("%v is %v, want red %d", at, c, red)
		}
	}
	for _, size := range []image.Point{{48, 32}, {9, 40}, {100, 70}, {3, 2}, {8, 6}} {
		img, _ := sheet(m, size.X, size.Y/2, canvas)
		if got := img.Rect; got.Dx() > size.X || got.Dy() > size.Y || got.Dy() == 0 {
			t.Errorf("in %v there are %v", size, got)
		}
	}
	m.Seen = m.Seen[2:]
	if img, _ := sheet(m, 8, 6, canvas); img.Rect != image.Rect(0, 0, 8, 8) {
		t.Errorf("one frame has %v", img.Rect)
	}
}

// Frames of a batch stand beside their crops, as many pairs as there is room for, and the text says
// by how much the image was shifted.
func TestCropsBesideTheirFrames(t *testing.T) {
	const side = 4
	p := New(&pane.Run{Theme: theme.New(lipgloss.NewRenderer(io.Discard), theme.ASCII)})
	p.Theme.Renderer.SetColorProfile(termenv.Ascii)
	m := &event.Moment{Side: side}
	for i := range 4 {
		m.Crops = append(m.Crops, event.Crop{
			Frame: bytes.Repeat([]byte{0}, 3*side*side), Cropped: bytes.Repeat([]byte{255}, 3*side*side), Down: i - 1, Across: 2 * (i - 1),
		})
	}
	for _, room := range []struct{ w, h, pairs int }{{200, 7, 4}, {54, 7, 2}, {53, 7, 2}, {51, 7, 1}, {24, 7, 0}, {200, 5, 0}} {
		lines := p.cropLines(m, room.w, room.h, picture.On(picture.ASCII))
		if room.pairs == 0 {
			if lines != nil {
				t.Errorf("%+v has %d lines", room, len(lines))
			}
			continue
		}
		n := 12 // pixels of a side
		if len(lines) != room.h || theme.Width(lines[1]) != room.pairs*(2*n+1)+2*(room.pairs-1) {
			t.Fatalf("%+v: %d lines of %d columns", room, len(lines), theme.Width(lines[1]))
		}
		if want := strings.Repeat(" ", n+1) + strings.Repeat("@", n); !strings.HasPrefix(lines[1], want) {
			t.Errorf("%+v: %q, want %q", room, lines[1], want)
		}
		if room.pairs == 4 && strings.Join(strings.Fields(lines[0]), " ") != "shifted 1 down 2 right shifted by nothing shifted 1 up 2 left shifted 2 up 4 left" {
			t.Errorf("%q", lines[0])
		}
	}
}

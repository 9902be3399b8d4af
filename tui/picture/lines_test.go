package picture

import (
	"image"
	"image/color"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"
)

var styles = map[string]Style{"ascii": ASCII, "16": Colours16, "256": Colours256, "true": TrueColour}

// noise is an image whose neighbouring pixels differ.
func noise(w, h int) *image.RGBA {
	r := rand.New(rand.NewPCG(1, 2))
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = uint8(r.UintN(256))
	}
	return img
}

func TestLinesHaveTheSizeAskedFor(t *testing.T) {
	for name, s := range styles {
		for _, size := range [][2]int{{1, 1}, {3, 2}, {80, 24}, {37, 11}} {
			for _, img := range []*image.RGBA{noise(size[0], 2*size[1]), noise(5, 7)} {
				lines := Lines(img, size[0], size[1], s)
				if len(lines) != size[1] {
					t.Fatalf("%s %v: %d lines", name, size, len(lines))
				}
				for _, l := range lines {
					if w := ansi.StringWidth(l); w != size[0] {
						t.Errorf("%s %v: a line of %d cells: %q", name, size, w, l)
					}
					if !utf8.ValidString(l) {
						t.Errorf("%s %v: not UTF-8: %q", name, size, l)
					}
				}
			}
		}
		if lines := Lines(noise(4, 4), 0, 3, s); lines != nil {
			t.Errorf("%s: no columns: %q", name, lines)
		}
		if lines := Lines(image.NewRGBA(image.Rectangle{}), 2, 2, s); lines != nil {
			t.Errorf("%s: no pixels: %q", name, lines)
		}
	}
}

// flat is an image of one colour above another.
func flat(w int, top, bottom color.RGBA) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, 2))
	for x := range w {
		img.SetRGBA(x, 0, top)
		img.SetRGBA(x, 1, bottom)
	}
	return img
}

func TestLinesWriteColoursWhereTheyChange(t *testing.T) {
	red, blue := color.RGBA{255, 0, 0, 255}, color.RGBA{0, 0, 255, 255}
	for name, c := range map[string]struct {
		img  *image.RGBA
		s    Style
		want string
	}{
		"true colour": {flat(2, red, blue), TrueColour, "\x1b[48;2;0;0;255m\x1b[38;2;255;0;0m▀▀\x1b[0m"},
		"equal":       {flat(2, red, red), TrueColour, "\x1b[48;2;255;0;0m  \x1b[0m"},
		// 160 is level 4 of red in the cube, 19 level 3 of blue, where brightening has brought it.
		"256":   {flat(1, color.RGBA{225, 0, 0, 255}, color.RGBA{0, 0, 135, 255}), Colours256, "\x1b[48;5;19m\x1b[38;5;196m▀\x1b[0m"},
		"16":    {flat(1, color.RGBA{0, 0, 0, 255}, color.RGBA{255, 255, 0, 255}), Colours16, "\x1b[103m\x1b[30m▀\x1b[0m"},
		"ascii": {flat(3, color.RGBA{255, 255, 255, 255}, color.RGBA{255, 255, 255, 255}), ASCII, "@@@"},
	} {
		if got := Lines(c.img, c.img.Rect.Dx(), 1, c.s)[0]; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Plain lines use no colour: they have no escape sequence, and a brighter pixel is not drawn
// darker.
func TestPlainLinesGrowWithBrightness(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 256, 2))
	for x := range 256 {
		for y := range 2 {
			img.SetRGBA(x, y, color.RGBA{uint8(x), uint8(x), uint8(x), 255})
		}
	}
	line, last := Lines(img, 256, 1, ASCII)[0], 0
	for _, c := range line {
		at := strings.IndexRune(ramp, c)
		if at < last {
			t.Fatalf("%q is darker than %q in %q", c, ramp[last], line)
		}
		last = at
	}
	if last != len(ramp)-1 || line[0] != ' ' {
		t.Errorf("from %q to %q, want the whole ramp", line[0], ramp[last])
	}
}

func TestEveryColourOfAPaletteIsNearestToItself(t *testing.T) {
	for i, c := range palette16 {
		if got := nearest(c, palette16[:]); got != i {
			t.Errorf("16: %v is colour %d, found %d", c, i, got)
		}
	}
	for i, c := range palette256() {
		if got := palette256()[nearest(c, palette256())]; got != c { // some greys are in the cube as well
			t.Errorf("256: %v (%d) became %v", c, i, got)
		}
	}
}

func TestStyleFollowsTheTerminal(t *testing.T) {
	for _, c := range []struct {
		p       termenv.Profile
		unicode bool
		want    Style
	}{
		{termenv.TrueColor, true, TrueColour}, {termenv.ANSI256, true, Colours256}, {termenv.ANSI, true, Colours16},
		{termenv.Ascii, true, ASCII}, {termenv.TrueColor, false, ASCII},
	} {
		if got := For(c.p, c.unicode); got != c.want {
			t.Errorf("profile %v, unicode %v: style %v, want %v", c.p, c.unicode, got, c.want)
		}
	}
}

func BenchmarkLines(b *testing.B) {
	img := noise(160, 90)
	for b.Loop() {
		Lines(img, 160, 45, TrueColour)
	}
}

// A sky whose colour changes only with the height is drawn without noise: each line of 256 colours
// has one colour above and one below.
func TestSkiesAreCalmIn256Colours(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 60, 40))
	for y := range 40 {
		for x := range 60 {
			img.SetRGBA(x, y, color.RGBA{uint8(30 + y), uint8(50 + y), uint8(110 - y), 255})
		}
	}
	for y, line := range Lines(img, 60, 20, Colours256) {
		if n := strings.Count(line, "\x1b[38;5;"); n > 1 {
			t.Errorf("line %d changes its colour %d times: %q", y, n, line)
		}
	}
}

package picture

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/kitty"
)

// screen is a terminal of w by h cells that understands what Bubble Tea's renderer and Frame write.
// A character erases what a sixel has painted in its cell.
type screen struct {
	t       *testing.T
	w, h    int
	cell    image.Point
	text    [][]string
	painted *image.RGBA
	images  map[int]image.Image // of kitty
	chunks  string
	options kitty.Options
	at      image.Point
	saved   image.Point
}

func newTestScreen(t *testing.T, w, h int, cell image.Point) *screen {
	s := &screen{t: t, w: w, h: h, cell: cell, images: map[int]image.Image{}}
	s.erase()
	return s
}

func (s *screen) erase() {
	s.text = make([][]string, s.h)
	for y := range s.text {
		s.text[y] = strings.Split(strings.Repeat(" ", s.w), "")
	}
	s.painted = image.NewRGBA(image.Rect(0, 0, s.w*s.cell.X, s.h*s.cell.Y))
}

func (s *screen) put(text string) {
	if s.at.X >= s.w || s.at.Y >= s.h {
		s.t.Fatalf("%q at %v", text, s.at)
	}
	s.text[s.at.Y][s.at.X] = text
	for y := range s.cell.Y {
		for x := range s.cell.X {
			s.painted.SetRGBA(s.at.X*s.cell.X+x, s.at.Y*s.cell.Y+y, color.RGBA{})
		}
	}
	s.at.X++
}

func (s *screen) Write(p []byte) (int, error) {
	colour := ""
	for rest := string(p); rest != ""; {
		seq, width, n, _ := ansi.DecodeSequence(rest, ansi.NormalState, nil)
		rest = rest[n:]
		switch {
		case width > 0 && strings.HasPrefix(seq, string(placeholder)):
			s.put(colour + seq)
		case width > 0:
			s.put(seq)
		case seq == "\n":
			s.at.Y++
			if s.at.Y >= s.h {
				s.t.Fatal("the screen scrolls")
			}
		case seq == "\r":
			s.at.X = 0
		case strings.HasPrefix(seq, "\x1b_G"):
			s.kitty(seq[3 : len(seq)-2])
		case strings.HasPrefix(seq, "\x1bP"):
			s.sixel(seq)
		case seq == ansi.SaveCursor:
			s.saved = s.at
		case seq == ansi.RestoreCursor:
			s.at = s.saved
		case strings.HasSuffix(seq, "m"):
			colour = seq
		default:
			s.control(seq)
		}
	}
	return len(p), nil
}

func (s *screen) control(seq string) {
	body := strings.TrimPrefix(seq[:len(seq)-1], "\x1b[")
	var n []int
	for _, k := range strings.Split(body, ";") {
		v, _ := strconv.Atoi(k)
		n = append(n, v)
	}
	switch {
	case strings.HasPrefix(body, "?"):
	case seq == ansi.EraseEntireScreen:
		s.erase()
	case seq == ansi.CursorHomePosition:
		s.at = image.Point{}
	case seq == ansi.EraseLineRight:
		for at := s.at; s.at.X < s.w; {
			s.put(" ")
			if s.at.X == s.w {
				s.at = at
				break
			}
		}
	case strings.HasSuffix(seq, "H"):
		s.at = image.Pt(max(0, n[len(n)-1]-1), max(0, n[0]-1))
		if len(n) == 1 {
			s.at.X = 0
		}
	case strings.HasSuffix(seq, "C"):
		s.at.X = min(s.w, s.at.X+max(1, n[0]))
	case seq == ansi.EraseScreenBelow:
	case seq == ansi.EraseEntireLine:
	default:
		s.t.Errorf("unknown %q", seq)
	}
}

func (s *screen) kitty(body string) {
	options, data, _ := strings.Cut(body, ";")
	if len(data) > 4096 {
		s.t.Errorf("a chunk of %d bytes", len(data))
	}
	if s.chunks == "" {
		s.options = kitty.Options{}
		s.options.UnmarshalText([]byte(options))
	}
	s.chunks += data
	switch {
	case !strings.Contains(options, "q=2"):
		s.t.Errorf("%q may be answered", options)
	case strings.Contains(options, "m=1"):
		return
	case s.options.Action == kitty.Delete:
		if s.images[s.options.ID] == nil || !s.options.DeleteResources || s.options.Delete != kitty.DeleteID {
			s.t.Errorf("%q deletes what is not there", body)
		}
		delete(s.images, s.options.ID)
	default:
		raw, err := base64.StdEncoding.DecodeString(s.chunks)
		if err != nil {
			s.t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(raw))
		if err != nil || !s.options.VirtualPlacement {
			s.t.Fatal(err, options)
		}
		s.images[s.options.ID] = img
	}
	s.chunks = ""
}

// sixel paints a sixel sequence, as the VT340's manual defines it.
func (s *screen) sixel(seq string) {
	_, data, _ := strings.Cut(strings.TrimSuffix(seq, "\x1b\\"), "q")
	corner := image.Pt(s.at.X*s.cell.X, s.at.Y*s.cell.Y)
	palette := map[int]color.RGBA{}
	var ink color.RGBA
	x, y, repeat := 0, 0, 1
	for data != "" {
		c := data[0]
		data = data[1:]
		n := 0
		for n < len(data) && strings.IndexByte("0123456789;", data[n]) >= 0 && strings.IndexByte("\"#!", c) >= 0 {
			n++
		}
		var args []int
		for _, a := range strings.Split(data[:n], ";") {
			v, _ := strconv.Atoi(a)
			args = append(args, v)
		}
		data = data[n:]
		switch {
		case c == '"':
			if len(args) != 4 || args[0] != 1 || args[1] != 1 {
				s.t.Errorf("raster attributes %v", args)
			}
			if corner.Y+args[3] > (s.h-1)*s.cell.Y || corner.X+args[2] > s.painted.Rect.Dx() || max(args[2], args[3]) > largestSixel {
				s.t.Errorf("an image of %d by %d at %v is too large, or would scroll the screen", args[2], args[3], s.at)
			}
		case c == '#' && len(args) == 5:
			palette[args[0]] = color.RGBA{uint8(args[2] * 255 / 100), uint8(args[3] * 255 / 100), uint8(args[4] * 255 / 100), 255}
			ink = palette[args[0]]
		case c == '#':
			ink = palette[args[0]]
		case c == '!':
			repeat = args[0]
		case c == '$':
			x = 0
		case c == '-':
			x, y = 0, y+6
			if data == "" {
				s.t.Error("a line break after the last line may scroll the screen")
			}
		case c >= '?' && c <= '~':
			for range repeat {
				for bit := range 6 {
					if (c-'?')>>bit&1 == 1 {
						s.painted.SetRGBA(corner.X+x, corner.Y+y+bit, ink)
					}
				}
				x++
			}
			repeat = 1
		default:
			s.t.Fatalf("%q is no sixel", c)
		}
	}
	if len(palette) > 256 {
		s.t.Errorf("%d colours", len(palette))
	}
	s.at = image.Pt(0, s.h-1) // terminals differ here, so nothing may depend on it
}

// shows returns what a person sees in a cell of an image, pixel for pixel; it returns nil where
// there is no image.
func (s *screen) shows(x, y int) *image.RGBA {
	to := image.NewRGBA(image.Rectangle{Max: s.cell})
	if text := s.text[y][x]; strings.Contains(text, string(placeholder)) {
		all, _ := pieces([]byte(text))
		r := all[len(all)-1].run
		img := s.images[int(r.id)]
		if img == nil {
			s.t.Fatalf("cell %d, %d shows image %d, which is not there", x, y, r.id)
		}
		for v := range s.cell.Y {
			for u := range s.cell.X {
				to.Set(u, v, img.At(r.col*s.cell.X+u, r.row*s.cell.Y+v))
			}
		}
		return to
	}
	blank := true
	for v := range s.cell.Y {
		for u := range s.cell.X {
			c := s.painted.RGBAAt(x*s.cell.X+u, y*s.cell.Y+v)
			to.SetRGBA(u, v, c)
			blank = blank && c.A == 0
		}
	}
	if blank {
		return nil
	}
	return to
}

// line is the text of a line; cells of images are ▒.
func (s *screen) line(y int) string {
	var b strings.Builder
	for x, c := range s.text[y] {
		if s.shows(x, y) != nil {
			c = "▒"
		}
		b.WriteString(c)
	}
	if !utf8.ValidString(b.String()) {
		s.t.Errorf("line %d is not UTF-8", y)
	}
	return b.String()
}

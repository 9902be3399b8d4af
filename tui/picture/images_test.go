package picture

import (
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"pgrlab/core/testing/racing"
)

var testCell = image.Pt(7, 13)

// patches is an image with colours that sixels reproduce exactly: each channel is a multiple of 20
// per cent.
func patches(seed uint64, w, h int) *image.RGBA {
	r := rand.New(rand.NewPCG(seed, 1))
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetRGBA(x, y, color.RGBA{51 * uint8(r.IntN(6)), 51 * uint8(r.IntN(6)), 51 * uint8(r.IntN(6)), 255})
		}
	}
	return img
}

// shown is a program that draws what its messages say, on a screen behind Frame.
type shown struct {
	t       *testing.T
	images  *Images
	on      *screen
	program *tea.Program
	drawn   chan struct{} // something was written
	mu      sync.Mutex    // guards all that Write changes; the test holds it except while it waits
	written int           // bytes
}

type drawing []string

type drawer struct{ lines []string }

func (d *drawer) Init() tea.Cmd { return nil }
func (d *drawer) View() string  { return strings.Join(d.lines, "\n") }
func (d *drawer) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if lines, is := msg.(drawing); is {
		d.lines = lines
	}
	return d, nil
}

func (s *shown) Write(p []byte) (int, error) {
	s.mu.Lock()
	out := s.images.Frame(p)
	s.written += len(out)
	s.on.Write(out)
	s.mu.Unlock()
	select {
	case s.drawn <- struct{}{}:
	default:
	}
	return len(p), nil
}

// show draws lines by Bubble Tea's own renderer, and returns when they are on the screen. The
// number on the last line distinguishes one frame from another.
func (s *shown) show(n int, lines ...string) {
	s.t.Helper()
	for len(lines) < s.on.h-1 {
		lines = append(lines, strings.Repeat(" ", s.on.w))
	}
	foot := fmt.Sprintf("%-*d", s.on.w, n)
	s.written = 0
	go s.program.Send(drawing(append(lines, foot)))
	for strings.Join(s.on.text[s.on.h-1], "") != foot {
		s.mu.Unlock()
		<-s.drawn
		s.mu.Lock()
	}
}

// send gives the program a message.
func (s *shown) send(msg tea.Msg) {
	s.mu.Unlock()
	s.program.Send(msg)
	s.mu.Lock()
}

func start(t *testing.T, p Protocol, w, h int) *shown {
	s := &shown{t: t, images: NewImages(), on: newTestScreen(t, w, h, testCell), drawn: make(chan struct{}, 1)}
	s.images.Use(p, testCell)
	s.program = tea.NewProgram(&drawer{lines: []string{"start"}}, tea.WithAltScreen(), tea.WithFPS(60), tea.WithInput(nil), tea.WithOutput(s), tea.WithoutSignalHandler())
	ended := make(chan struct{})
	s.mu.Lock()
	go func() {
		defer close(ended)
		s.program.Run()
	}()
	go s.program.Send(tea.WindowSizeMsg{Width: w, Height: h})
	t.Cleanup(func() {
		s.mu.Unlock()
		s.program.Quit()
		<-ended
		if len(s.on.images) > 0 {
			t.Errorf("%d images are left behind", len(s.on.images))
		}
	})
	return s
}

// cells checks that an image of w cells stands at x, y, as far as its part.
func (s *shown) cells(img *image.RGBA, x, y int, part image.Rectangle) {
	s.t.Helper()
	for v := part.Min.Y; v < part.Max.Y; v++ {
		for u := part.Min.X; u < part.Max.X; u++ {
			got := s.on.shows(x+u, y+v)
			if got == nil {
				s.t.Fatalf("cell %d, %d shows nothing", u, v)
			}
			for b := range testCell.Y {
				for a := range testCell.X {
					if want := img.RGBAAt(u*testCell.X+a, v*testCell.Y+b); got.RGBAAt(a, b) != want {
						s.t.Fatalf("cell %d, %d: pixel %d, %d is %v, want %v", u, v, a, b, got.RGBAAt(a, b), want)
					}
				}
			}
		}
	}
}

// An image appears on the terminal pixel for pixel: beside text that changes, below a box, replaced
// by another image, moved, and removed. Nothing of it remains after its removal.
func TestImagesAmongCells(t *testing.T) {
	for _, p := range []Protocol{Kitty, Sixel} {
		t.Run(p.String(), func(t *testing.T) {
			const w, h = 24, 9
			s := start(t, p, w, h)
			canvas := s.images.Canvas(TrueColour)
			one, two := patches(1, 6*testCell.X, 4*testCell.Y), patches(2, 6*testCell.X, 4*testCell.Y)
			beside := func(img *image.RGBA, text string) (lines []string) {
				for _, l := range canvas.Lines(img, 6, 4) {
					lines = append(lines, fmt.Sprintf(" %s %-*s", l, w-8, text))
				}
				return lines
			}
			all := image.Rect(0, 0, 6, 4)
			s.show(1, beside(one, "text")...)
			s.cells(one, 1, 0, all)
			first := s.written
			s.show(2, beside(one, "other text")...)
			s.cells(one, 1, 0, all)
			if got, want := s.on.line(0), fmt.Sprintf(" ▒▒▒▒▒▒ %-*s", w-8, "other text"); got != want {
				t.Errorf("%q, want %q", got, want)
			}
			if s.written > first/2 {
				t.Errorf("text beside an image takes %d bytes, with the image %d", s.written, first)
			}
			s.show(3, beside(two, "other text")...)
			s.cells(two, 1, 0, all)

			covered := beside(two, "text")
			for y := 1; y < 3; y++ {
				covered[y] = ansi.Cut(covered[y], 0, 3) + "[]" + ansi.Cut(covered[y], 5, w)
			}
			s.show(4, covered...)
			if got, want := s.on.line(1), fmt.Sprintf(" ▒▒[]▒▒ %-*s", w-8, "text"); got != want {
				t.Errorf("below a box %q, want %q", got, want)
			}
			for _, part := range []image.Rectangle{image.Rect(0, 0, 6, 1), image.Rect(0, 1, 2, 3), image.Rect(4, 1, 6, 3), image.Rect(0, 3, 6, 4)} {
				s.cells(two, 1, 0, part)
			}
			s.show(5, beside(two, "text")...)
			s.cells(two, 1, 0, all)

			s.show(6, append([]string{strings.Repeat("-", w)}, beside(two, "text")...)...)
			s.cells(two, 1, 1, all)
			if got := s.on.line(0); got != strings.Repeat("-", w) {
				t.Errorf("above an image that moved: %q", got)
			}
			s.show(7, "text"+strings.Repeat(" ", w-4))
			for y := range h {
				if strings.Contains(s.on.line(y), "▒") {
					t.Errorf("line %d: %q", y, s.on.line(y))
				}
			}
			if len(s.on.images) > 0 {
				t.Errorf("%d images are kept", len(s.on.images))
			}
			s.show(8, beside(two, "text")...) // the lines as they were drawn before
			s.cells(two, 1, 0, all)
			s.send(tea.WindowSizeMsg{Width: w, Height: h}) // everything is written again
			s.show(9, beside(one, "text")...)
			s.cells(one, 1, 0, all)
		})
	}
}

// An image of another size is stretched, a large one is sent in pieces, and wide ones of sixels are
// cut.
func TestImagesOfOtherSizes(t *testing.T) {
	for _, p := range []Protocol{Kitty, Sixel} {
		s := start(t, p, 200, 6)
		canvas := s.images.Canvas(TrueColour)
		large := patches(3, 190*testCell.X, 4*testCell.Y)
		s.show(1, canvas.Lines(large, 190, 4)...)
		s.cells(large, 0, 0, image.Rect(0, 0, 190, 4))
		if p == Sixel {
			small, big := patches(4, 2, 1), image.NewRGBA(image.Rect(0, 0, 4*testCell.X, 2*testCell.Y))
			for y := range big.Rect.Dy() {
				for x := range big.Rect.Dx() {
					big.SetRGBA(x, y, small.RGBAAt(x/(2*testCell.X), 0))
				}
			}
			s.show(2, canvas.Lines(small, 4, 2)...)
			s.cells(big, 0, 0, image.Rect(0, 0, 4, 2))
		}
	}
}

// The same image has the same lines. If an image is forgotten while its lines are still drawn, this
// is reported.
func TestImagesAreForgotten(t *testing.T) {
	if racing.On {
		t.Skip("many images on one goroutine: the detector sees those of a program that draws")
	}
	m := NewImages()
	m.Use(Kitty, testCell)
	c := m.Canvas(TrueColour)
	first := patches(0, 512, 512)
	lines := c.Lines(first, 2, 1)
	if again := m.Canvas(TrueColour).Lines(first, 2, 1); again[0] != lines[0] || m.Canvas(TrueColour) != c {
		t.Errorf("the same image is %q and %q", lines, again)
	}
	frame := []byte(ansi.CursorHomePosition + lines[0])
	if m.Frame(frame); m.Lost() {
		t.Error("an image is lost at once")
	}
	for i := range uint64(mostKept>>20 + 1) {
		m.Frame(frame)
		c.Lines(patches(i+1, 512, 512), 2, 1)
	}
	if m.Frame(frame); m.Lost() {
		t.Error("an image that is shown is forgotten")
	}
	m.Frame([]byte(ansi.CursorHomePosition + "text"))
	for i := range uint64(mostKept>>20 + 1) {
		m.Frame([]byte(ansi.CursorHomePosition + "text"))
		c.Lines(patches(i+100, 512, 512), 2, 1)
	}
	if m.bytes > mostKept+1<<20 {
		t.Errorf("%d bytes are kept", m.bytes)
	}
	if m.Frame(frame); !m.Lost() || m.Lost() || m.Canvas(TrueColour) == c {
		t.Error("an image that is gone is not missed, or more than once")
	}
}

// Without a protocol, without UTF-8 or without a terminal, pictures are characters.
func TestCanvasesOfCharacters(t *testing.T) {
	var none *Images
	m := NewImages()
	img := patches(1, 4, 4)
	for _, c := range []Canvas{none.Canvas(TrueColour), m.Canvas(TrueColour), On(TrueColour)} {
		if got, want := c.Lines(img, 4, 2), Lines(img, 4, 2, TrueColour); strings.Join(got, "\n") != strings.Join(want, "\n") || c.Size(4, 2) != image.Pt(4, 4) {
			t.Errorf("%q of %v", got, c.Size(4, 2))
		}
	}
	screen := image.Pt(80, 24)
	if m.Resize(screen, testCell) || !m.Use(Kitty, testCell) || m.Use(Kitty, testCell) || m.Resize(screen, image.Point{}) || !m.Resize(screen, image.Pt(8, 16)) {
		t.Error("a change is not reported, or something else is")
	}
	if c := m.Canvas(ASCII); c.Pixels() || c.Lines(img, 4, 2)[0] != Lines(img, 4, 2, ASCII)[0] {
		t.Error("a terminal without UTF-8 is given placeholders")
	}
	for claimed, pixels := range map[image.Point]bool{screen: true, image.Pt(600, 250): false} {
		if m.Resize(claimed, image.Pt(50, 100)); m.Canvas(TrueColour).Pixels() != pixels {
			t.Errorf("a screen of %v cells with 50x100 pixels each: pixels %v", claimed, !pixels)
		}
	}
	frame := []byte(ansi.CursorHomePosition + "x")
	if got := none.Frame(frame); string(got) != string(frame) {
		t.Errorf("%q", got)
	}
}

// BenchmarkFrame draws an agent's frame of 64 by 64 as 480 by 480, in the form that the terminal is
// sent.
func BenchmarkFrame(b *testing.B) {
	frame := make([]byte, 64*64*channels)
	for i := range frame { // a sky and a floor, with a body
		frame[i] = byte(40 + 2*(i/(64*channels)) + 30*(i%channels))
	}
	for _, p := range []Protocol{Kitty, Sixel} {
		b.Run(p.String(), func(b *testing.B) {
			m := NewImages()
			m.Use(p, image.Pt(8, 16))
			c := m.Canvas(TrueColour)
			bytes := 0
			for b.Loop() {
				frame[0]++ // another image each time
				lines := c.Square(frame, 64, 60)
				bytes = len(m.Frame([]byte(ansi.CursorHomePosition + strings.Join(lines, "\r\n") + "\r\n")))
			}
			b.ReportMetric(float64(bytes), "bytes")
		})
	}
}

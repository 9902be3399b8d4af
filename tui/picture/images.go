package picture

import (
	"hash/maphash"
	"image"
	"math/rand/v2"
	"sync"
)

// Images are the images that one terminal shows, or may be asked to show again. The parts of a
// screen draw them into lines of cells with a Canvas's Lines; Frame turns what is written to the
// terminal into output that shows them. Both may be called from any goroutine. A nil Images has no
// images.
type Images struct {
	mu       sync.Mutex
	protocol Protocol
	cell     image.Point // size of a cell in pixels
	screen   image.Point // size of the screen in cells; 0 by 0: not known yet
	epoch    int         // generation of drawn lines: older lines may name forgotten images
	lost     bool        // a line with a forgotten image was written
	newest   uint32
	frame    int // number of the newest frame
	bytes    int // size of all images
	all      map[uint32]*kept
	same     map[content]uint32

	rows [][]run         // what the terminal shows in each line
	sent map[uint32]bool // kitty: the images that the terminal has
}

// kept is an image that is kept, drawn in w by h cells.
type kept struct {
	content
	img  *image.RGBA
	used int // the last frame that showed it
}

// content is the key that distinguishes images.
type content struct {
	hash uint64
	w, h int // cells
}

// mostKept is how many bytes of images are kept; images in the current frame stay beyond it.
const mostKept = 64 << 20

// VT340Cell is the size of a cell in pixels on the terminal that sixels were made for. It stands in
// for terminals that do not report theirs.
var VT340Cell = image.Pt(10, 20)

// NewImages has no images yet, and draws with characters.
func NewImages() *Images {
	return &Images{all: map[uint32]*kept{}, same: map[content]uint32{}, sent: map[uint32]bool{}, newest: rand.Uint32()}
}

var seed = maphash.MakeSeed()

// Use sets the protocol and the size of a cell from now on, and says whether that changes anything.
// If so, everything must be drawn again.
func (m *Images) Use(p Protocol, cell image.Point) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if cell.X < 1 || cell.Y < 1 {
		cell = VT340Cell
	}
	if p == m.protocol && cell == m.cell {
		return false
	}
	m.protocol, m.cell = p, cell
	m.epoch++
	return true
}

// mostPixels is how many pixels a screen has at most to be drawn in pixels: those of an 8K display.
// A terminal may claim more; images cost memory and time of the process that draws them.
const mostPixels = 7680 * 4320

// Resize notes the size of the screen in cells, and is Use with a new size of a cell, of which 0 by 0
// means unknown and changes nothing.
func (m *Images) Resize(screen, cell image.Point) bool {
	m.mu.Lock()
	m.screen = screen
	p := m.protocol
	m.mu.Unlock()
	return p != Characters && cell.X > 0 && cell.Y > 0 && m.Use(p, cell)
}

// Placeholders says whether images are drawn with kitty's placeholders.
func (m *Images) Placeholders() bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.protocol == Kitty
}

// Canvas returns the current canvas; s is the style for images drawn with characters.
func (m *Images) Canvas(s Style) Canvas {
	if m == nil {
		return On(s)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	tooLarge := m.screen.X*m.cell.X*m.screen.Y*m.cell.Y > mostPixels
	if m.protocol == Characters || s == ASCII || tooLarge { // without UTF-8 there are no placeholders
		c := On(s)
		c.epoch = m.epoch
		return c
	}
	return Canvas{style: s, images: m, cell: m.cell, epoch: m.epoch}
}

// Lost says, once, that lines with forgotten images were written: everything must be drawn again.
func (m *Images) Lost() bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	lost := m.lost
	if m.lost = false; lost {
		m.epoch++
	}
	return lost
}

// lines are the lines of an image in w by h cells. The same image has the same lines for as long as
// it is kept.
func (m *Images) lines(img *image.RGBA, w, h int) []string {
	var sum maphash.Hash
	sum.SetSeed(seed)
	size := img.Rect.Size()
	sum.Write([]byte{byte(size.X), byte(size.X >> 8), byte(size.Y), byte(size.Y >> 8)})
	for y := range size.Y {
		from := img.PixOffset(img.Rect.Min.X, img.Rect.Min.Y+y)
		sum.Write(img.Pix[from : from+4*size.X])
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c := content{sum.Sum64(), w, h}
	id, known := m.same[c]
	if !known {
		m.forget()
		id = m.name()
		m.all[id], m.same[c] = &kept{content: c, img: copied(img)}, id
		m.bytes += len(m.all[id].img.Pix)
	}
	m.all[id].used = m.frame
	return placeholders(id, w, h)
}

// name is an unused image number: 24 bits, as many as a colour has, and not 0.
func (m *Images) name() uint32 {
	for {
		m.newest = (m.newest + 1) & 0xffffff
		if m.newest != 0 && m.all[m.newest] == nil {
			return m.newest
		}
	}
}

// forget makes room for one more image: it drops the images that were shown longest ago, but none
// of the current frame.
func (m *Images) forget() {
	for m.bytes > mostKept {
		var oldest uint32
		for id, k := range m.all {
			if k.used < m.frame && (oldest == 0 || k.used < m.all[oldest].used) {
				oldest = id
			}
		}
		if oldest == 0 {
			return
		}
		m.bytes -= len(m.all[oldest].img.Pix)
		delete(m.same, m.all[oldest].content)
		delete(m.all, oldest)
	}
}

// copied is a copy of an image with its corner at 0.
func copied(img *image.RGBA) *image.RGBA {
	to := image.NewRGBA(image.Rectangle{Max: img.Rect.Size()})
	for y := range to.Rect.Dy() {
		from := img.PixOffset(img.Rect.Min.X, img.Rect.Min.Y+y)
		copy(to.Pix[y*to.Stride:(y+1)*to.Stride], img.Pix[from:])
	}
	return to
}

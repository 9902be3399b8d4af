package tui

import (
	"cmp"
	"context"
	"image"
	"io"
	"os"
	"slices"

	tea "github.com/charmbracelet/bubbletea"
	"golang.org/x/term"

	"pgrlab/tui/picture"
	"pgrlab/tui/query"
	"pgrlab/tui/theme"
)

// PictureChoices are the ways to draw pictures: what the terminal says it can show, kitty's
// protocol, sixels, or half blocks. The first is the default.
var PictureChoices = []string{"auto", picture.Kitty.String(), picture.Sixel.String(), "blocks"}

// Pictures are the pictures on one terminal: its protocol, the questions put to it and its images.
type Pictures struct {
	images *picture.Images
	asker  *query.Asker       // nil: the terminal is not asked
	cell   func() image.Point // nil: the system does not know the cell's size
	out    io.Writer
}

// newPictures draws by the protocol wanted; auto asks the terminal, if it may be asked.
func newPictures(want string, set theme.CharacterSet, term string, o Options, cell func() image.Point) *Pictures {
	p := &Pictures{images: picture.NewImages(), cell: cell}
	for _, protocol := range []picture.Protocol{picture.Kitty, picture.Sixel} {
		if want == protocol.String() {
			p.images.Use(protocol, p.systemCell())
		}
	}
	// Consoles print sequences that they do not know.
	if want == PictureChoices[0] && set == theme.Unicode && canWait && !slices.Contains([]string{"", "dumb", "linux"}, term) {
		p.asker = query.New(o.clock(), cmp.Or(o.patience, query.Patience))
	}
	return p
}

// TerminalPictures are the pictures on the terminal behind a file of this process.
func TerminalPictures(want string, set theme.CharacterSet, out *os.File) *Pictures {
	return newPictures(want, set, os.Getenv("TERM"), Options{}, func() image.Point { return cellOf(out) })
}

func (p *Pictures) systemCell() image.Point {
	if p.cell == nil {
		return image.Point{}
	}
	return p.cell()
}

// PicturesAnswered is what a terminal has said about pictures.
type PicturesAnswered struct{ answers query.Answers }

// Ask asks the terminal, and delivers PicturesAnswered when it has answered, however long that
// takes. The terminal must pass bytes on as they come, as it does while a program runs.
func (p *Pictures) Ask(ctx context.Context) tea.Cmd {
	if p == nil || p.asker == nil {
		return nil
	}
	return func() tea.Msg {
		got, err := p.asker.Ask(ctx, p.out)
		if err != nil { // the terminal is gone, which other parts see as well
			return nil
		}
		return PicturesAnswered{got}
	}
}

// Take switches to the protocol of the terminal's answer, and says whether that changes anything.
func (p *Pictures) Take(msg PicturesAnswered) bool {
	return p.images.Use(msg.answers.Protocol(p.systemCell()))
}

// Resized takes the size of the screen in cells, reads the size of a cell again and says whether that
// has changed. Call it after each change of the terminal's size.
func (p *Pictures) Resized(columns, rows int) bool {
	return p != nil && p.images.Resize(image.Pt(columns, rows), p.systemCell())
}

// Canvas returns what pictures are drawn on.
func (p *Pictures) Canvas(s picture.Style) picture.Canvas {
	if p == nil {
		return picture.On(s)
	}
	return p.images.Canvas(s)
}

// Streams are this process's terminal, as a program with pictures reads and writes it.
func (p *Pictures) Streams(in, out *os.File) (io.Reader, io.Writer) {
	gone := func(error) {} // the program notices this as well
	frames := &frames{to: out, lost: gone, images: p.images}
	p.out = frames
	return &screenInput{File: in, lost: gone, asker: p.asker}, &screenOutput{out, frames}
}

// Lost says, once, that everything must be drawn again.
func (p *Pictures) Lost() bool { return p != nil && p.images.Lost() }

// Settle waits for answers that are still due when the terminal is given back: they would be typed
// into the shell.
func (p *Pictures) Settle(in *os.File) {
	if p.asker.Open() == 0 {
		return
	}
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return
	}
	defer term.Restore(int(in.Fd()), before)
	var buf [256]byte
	for left := p.asker.Open(); left > 0 && HasInput(in, left); left = p.asker.Open() {
		n, err := in.Read(buf[:])
		if err != nil {
			return
		}
		p.asker.Keys(buf[:n])
	}
}

// Suspend stops this process for its shell, once the terminal has answered.
func (p *Pictures) Suspend() tea.Msg {
	if p != nil && !p.asker.Rest() { // the process is being stopped already
		return nil
	}
	return tea.SuspendMsg{}
}

// Resumed is called when the process has its terminal back.
func (p *Pictures) Resumed() {
	if p != nil {
		p.asker.Wake()
	}
}

// cellOf is the size in pixels of a terminal's cell as the system reports it; 0 by 0: unknown.
func cellOf(f *os.File) image.Point {
	columns, rows, w, h := windowSize(f)
	if columns < 1 || rows < 1 {
		return image.Point{}
	}
	return image.Pt(w/columns, h/rows)
}

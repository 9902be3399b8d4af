package tui

import (
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

// PictureChoices are how pictures may be drawn: as the terminal answers that it can, by
// kitty's protocol, as sixels, or in half blocks. The first is the default.
var PictureChoices = []string{"auto", picture.Kitty.String(), picture.Sixel.String(), "blocks"}

// Pictures are those of one terminal: how it shows them, which it is asked, and which it has.
type Pictures struct {
	images *picture.Images
	asker  *query.Asker       // nil: it is not asked
	cell   func() image.Point // nil: the system does not know it
	out    io.Writer
}

// newPictures are drawn as a person wants; auto asks a terminal that may be asked.
func newPictures(want string, set theme.CharacterSet, term string, o Options, cell func() image.Point) *Pictures {
	p := &Pictures{images: picture.NewImages(), cell: cell}
	for _, protocol := range []picture.Protocol{picture.Kitty, picture.Sixel} {
		if want == protocol.String() {
			p.images.Use(protocol, p.systemCell())
		}
	}
	// Consoles print what they do not know.
	if want == PictureChoices[0] && set == theme.Unicode && canWait && !slices.Contains([]string{"", "dumb", "linux"}, term) {
		p.asker = query.New(o.clock())
	}
	return p
}

// TerminalPictures are those of the terminal behind a file of this process.
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

// Ask asks the terminal, and delivers PicturesAnswered when it has answered, however long
// that takes. It wants a terminal that passes on bytes as they come, as that of a running
// program does.
func (p *Pictures) Ask(ctx context.Context) tea.Cmd {
	if p == nil || p.asker == nil {
		return nil
	}
	return func() tea.Msg {
		got, err := p.asker.Ask(ctx, p.out)
		if err != nil { // the terminal is gone, which others see as well
			return nil
		}
		return PicturesAnswered{got}
	}
}

// Take draws as the terminal has answered, and says whether that changes anything.
func (p *Pictures) Take(msg PicturesAnswered) bool {
	return p.images.Use(msg.answers.Protocol(p.systemCell()))
}

// Resized takes the size of a cell, which may be another one, and says whether it is. It is
// for after each change of the terminal's size.
func (p *Pictures) Resized() bool { return p != nil && p.images.Resize(p.systemCell()) }

// Canvas is what to draw on.
func (p *Pictures) Canvas(s picture.Style) picture.Canvas {
	if p == nil {
		return picture.On(s)
	}
	return p.images.Canvas(s)
}

// Streams are the terminal of this process as a program with pictures reads and writes it.
func (p *Pictures) Streams(in, out *os.File) (io.Reader, io.Writer) {
	gone := func(error) {} // the program sees it as well
	frames := &frames{to: out, lost: gone, images: p.images}
	p.out = frames
	return &screenInput{in, gone, p.asker}, &screenOutput{out, frames}
}

// Lost says, once, that all must be drawn again.
func (p *Pictures) Lost() bool { return p != nil && p.images.Lost() }

// Settle waits for answers of a terminal that is given back before they have come: they
// would be typed into the shell.
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

// Suspend stops this process for its shell, when the terminal has answered.
func (p *Pictures) Suspend() tea.Msg {
	if p != nil && !p.asker.Rest() { // it is being stopped
		return nil
	}
	return tea.SuspendMsg{}
}

// Resumed is for when the process has its terminal back.
func (p *Pictures) Resumed() {
	if p != nil {
		p.asker.Wake()
	}
}

// cellOf is the size of a cell of a terminal in pixels, as the system knows it; 0 by 0: it
// does not.
func cellOf(f *os.File) image.Point {
	columns, rows, w, h := windowSize(f)
	if columns < 1 || rows < 1 {
		return image.Point{}
	}
	return image.Pt(w/columns, h/rows)
}

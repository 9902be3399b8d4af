package tui

import (
	"io"
	"os"
	"sync"
	"time"

	"pgrlab/tui/picture"
)

// The escape sequences of synchronized output: a terminal that knows mode 2026
// shows what is written between them at once; others ignore them.
const (
	beginUpdate = "\x1b[?2026h"
	endUpdate   = "\x1b[?2026l"
)

// frames makes every write, which is one frame, one synchronized update, and sees to the
// images in it. Those of kitty's placeholders are better off without: kitty 0.41 shows cells
// whose image came in one as black, one frame in four of a scene that moves.
type frames struct {
	to     io.Writer
	lost   func(error)
	link   *link           // nil: how long writing takes does not matter
	images *picture.Images // nil: there are none
	mu     sync.Mutex
	buf    []byte
}

func (o *frames) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf = o.buf[:0]
	if frame := o.images.Frame(p); o.images.Placeholders() {
		o.buf = append(o.buf, frame...)
	} else {
		o.buf = append(append(append(o.buf, beginUpdate...), frame...), endUpdate...)
	}
	begin := time.Now()
	if _, err := o.to.Write(o.buf); err != nil {
		o.lost(err)
		return 0, err
	}
	if o.link != nil {
		o.link.wrote(len(o.buf), time.Since(begin))
	}
	return len(p), nil
}

// screenOutput is the terminal of this process as the screen writes to it. The
// embedded file lets the program find the terminal's size and modes.
type screenOutput struct {
	*os.File
	frames *frames
}

func (o *screenOutput) Write(p []byte) (int, error) { return o.frames.Write(p) }

// WriteString keeps io.WriteString from reaching the file past Write.
func (o *screenOutput) WriteString(s string) (int, error) { return o.Write([]byte(s)) }

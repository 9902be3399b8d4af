package tui

import (
	"io"
	"os"
	"sync"
	"time"

	"pgrlab/tui/picture"
)

// The escape sequences of synchronized output: a terminal with mode 2026 shows everything
// between them at once; others ignore them.
const (
	beginUpdate = "\x1b[?2026h"
	endUpdate   = "\x1b[?2026l"
)

// frames makes every write, which is one frame, a synchronized update, and handles the images in
// it. Frames with kitty's placeholders are not synchronized: kitty 0.41 shows the cells of an image
// that came in a synchronized update as black, in one frame in four of a moving scene.
type frames struct {
	to     io.Writer
	lost   func(error)
	link   *link           // nil: the time that writing takes is not measured
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

// screenOutput is this process's terminal as the screen writes to it. The embedded file lets the
// program find the terminal's size and modes.
type screenOutput struct {
	*os.File
	frames *frames
}

func (o *screenOutput) Write(p []byte) (int, error) { return o.frames.Write(p) }

// WriteString goes through Write: io.WriteString must not reach the file directly.
func (o *screenOutput) WriteString(s string) (int, error) { return o.Write([]byte(s)) }

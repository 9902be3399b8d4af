package tui

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// The escape sequences of synchronized output: a terminal that knows mode 2026
// shows what is written between them at once; others ignore them.
const (
	beginUpdate = "\x1b[?2026h"
	endUpdate   = "\x1b[?2026l"
)

// screenOutput is the terminal as the screen writes to it: every write, which is one
// frame, is one synchronized update. It only adds bytes. The embedded file lets the
// program find the terminal's size and modes.
type screenOutput struct {
	*os.File
	lost func(error)
	link *link
	mu   sync.Mutex
	buf  []byte
}

func (o *screenOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf = append(append(append(o.buf[:0], beginUpdate...), p...), endUpdate...)
	begin := time.Now()
	if _, err := o.File.Write(o.buf); err != nil {
		o.lost(err)
		return 0, err
	}
	if o.link != nil {
		o.link.wrote(len(o.buf), time.Since(begin))
	}
	return len(p), nil
}

// WriteString keeps io.WriteString from reaching the file past Write.
func (o *screenOutput) WriteString(s string) (int, error) { return o.Write([]byte(s)) }

// screenInput is the keyboard; the end of the file is a hang-up.
type screenInput struct {
	*os.File
	lost func(error)
}

func (i *screenInput) Read(p []byte) (int, error) {
	n, err := i.File.Read(p)
	if n == 0 && err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		if errors.Is(err, io.EOF) {
			err = io.EOF
		}
		i.lost(err)
	}
	return n, err
}

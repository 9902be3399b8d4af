package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"pgrlab/core/printable"
	"pgrlab/core/run"
	"pgrlab/tui"
)

// DetachKey leaves a screen at once, whatever the lab does: ctrl+\.
const DetachKey = 0x1c

// SuspendKey is ctrl+z: it concerns the process at the terminal, not the lab.
const SuspendKey = 0x1a

// errLeft is the cause when the person chose to leave.
var errLeft = errors.New("detached")

// Attach shows the screen of the lab that dial connects to until the person leaves, the lab ends or ctx
// ends; said is one line for the person. The caller takes care of the terminal's modes. If the run moves
// to another process, it dials until that process listens, and goes on there.
func Attach(ctx context.Context, dial Dial, dir string, t Terminal) (said string, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &client{Terminal: t, dial: dial, dir: dir, screen: newGate(t.Output), leave: cancel}
	a, err := c.follow(ctx)
	if a.Ended {
		if t.Ended != nil {
			t.Ended()
		}
		return a.Said, err
	}
	if err != nil && errors.Is(context.Cause(ctx), errLeft) {
		return Left(dir), nil
	}
	return a.Said, err
}

// Left is what Attach says when the person has left by the detach key, or the keyboard has ended:
// the lab has not restored the terminal then.
func Left(dir string) string { return LeftBy + dir }

// LeftBy is the beginning of that text.
const LeftBy = "detached; training goes on: pgrlab attach "

// client is a terminal at which a run is shown, whichever process draws the screen.
type client struct {
	Terminal
	dial   Dial
	dir    string
	screen *gate
	leave  context.CancelCauseFunc
	begin  sync.Once // begins to read keys and sizes

	mu   sync.Mutex                      // also for Size
	to   func(kind byte, content []byte) // sends keys and sizes to what draws the screen; nil: nothing does
	seen int                             // the env step at which the run moved to another process; 0: it has not
}

// follow shows the run until the person leaves or the run is over, and then its end, if there is a way to
// show that.
func (c *client) follow(ctx context.Context) (answer, error) {
	conn, err := c.dial(ctx)
	if err != nil && c.Past == nil {
		return answer{}, err
	}
	for err == nil {
		a, failed := c.show(ctx, conn)
		switch {
		case failed != nil:
			return answer{}, failed
		case a.Ended:
			return a, c.showPast(ctx)
		case !a.Moved:
			return a, nil
		}
		conn, err = c.again(ctx)
	}
	if ctx.Err() != nil || run.IsHeld(c.dir) {
		return answer{}, err
	}
	return answer{Said: "the run has ended: " + c.dir, Ended: true}, c.showPast(ctx)
}

// show shows the screen of a lab until the lab ends it.
func (c *client) show(ctx context.Context, conn net.Conn) (answer, error) {
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	c.mu.Lock()
	writeJSON(conn, frameHello, c.hello())                                     // an error of the line shows in reading
	c.to = func(kind byte, content []byte) { writeFrame(conn, kind, content) } // the same
	c.mu.Unlock()
	c.begin.Do(func() { c.listen(ctx) })
	var out io.Writer = c.screen
	if c.Plain {
		out = printable.NewWriter(out) // lines; a screen, in contrast, has to draw
	}
	a, err := readAnswer(ctx, conn, c.dir, out)
	conn.Close() // ends a write that send waits for
	c.mu.Lock()
	defer c.mu.Unlock()
	c.to = nil
	if a.Moved {
		c.seen = a.Step
		c.sayMoving()
	}
	return a, err
}

// hello asks for a screen at the terminal as it is now.
func (c *client) hello() hello {
	h := hello{
		Protocol: protocol, Want: wantScreen, Name: c.Name, Size: c.Size, Environ: c.Environ, Characters: c.Characters, Plain: c.Plain, Guest: c.Guest,
		Follows: true, Seen: c.seen,
	}
	if c.Watch {
		h.Want = wantWatch
	}
	return h
}

// listen begins to send what the terminal sends.
func (c *client) listen(ctx context.Context) {
	go typeOn(c.Terminal, c.screen, c.send, c.leave)
	go c.sizeOn(ctx)
}

// redialEvery is how often a client looks whether a run that moves has come to its new process.
const redialEvery = 100 * time.Millisecond

// again connects to the process that the run moves to. After an error the run has ended, or ctx has.
func (c *client) again(ctx context.Context) (net.Conn, error) {
	tick := time.NewTicker(redialEvery)
	defer tick.Stop()
	for {
		conn, err := c.dial(ctx)
		if err == nil || !errors.As(err, new(Between)) && !errors.As(err, new(Stopping)) {
			return conn, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// sayMoving says on the screen's last line why nothing moves; the caller holds mu.
func (c *client) sayMoving() {
	const text = "the run moves to a process of its own, and this screen with it (q leaves)"
	if c.Plain {
		fmt.Fprintln(c.screen, text)
		return
	}
	fmt.Fprintf(c.screen, "\x1b[0m\x1b[%d;1H\x1b[2K%s", max(1, c.Size.Rows), ansi.Truncate(text, c.Size.Columns, ""))
}

// showPast shows, in this process, the end of a run that no lab has any more.
func (c *client) showPast(ctx context.Context) error {
	if c.Past == nil || ctx.Err() != nil {
		return nil
	}
	o, err := c.Past()
	if err != nil {
		return err
	}
	keys, typed := io.Pipe()
	sizes := make(chan tui.Size, 1)
	c.mu.Lock()
	c.hello().prepare(&o)
	sizes <- limited(c.Size)
	c.to = func(kind byte, content []byte) { receive(ctx, kind, content, typed, sizes) }
	c.mu.Unlock()
	c.begin.Do(func() { c.listen(ctx) })
	_, err = tui.Serve(ctx, o, tui.Viewer{Input: keys, Output: c.screen, Sizes: sizes, Environ: environ(c.Environ)})
	keys.Close() // ends a write that send waits for
	return err
}

// leavingKeys leave while nothing draws the screen, as they do on it: q, ctrl+c, ctrl+d, ctrl+z.
const leavingKeys = "q\x03\x04\x1a"

// send sends keys to what draws the screen.
func (c *client) send(kind byte, content []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.to != nil:
		c.to(kind, content)
	case kind == frameKeys && strings.ContainsAny(string(content), leavingKeys):
		c.leave(errLeft)
	}
}

// typeOn sends keys until the keyboard ends; the detach key ends the screen.
func typeOn(t Terminal, screen *gate, send func(byte, []byte), leave context.CancelCauseFunc) {
	var buf [1024]byte
	for {
		n, err := t.Keys.Read(buf[:])
		keys := buf[:n]
		screen.line.Received(keys)
		switch {
		case !t.Plain && slices.Contains(keys, DetachKey):
			screen.late(t) // no longer than that: the lab may be stuck in a write
			leave(errLeft)
			return
		case t.Suspend != nil && slices.Contains(keys, SuspendKey):
			screen.closed(t, keys, send, t.Suspend)
		case n > 0:
			send(frameKeys, keys)
		}
		if err != nil {
			leave(errLeft)
			return
		}
	}
}

// sizeOn sends sizes until ctx ends.
func (c *client) sizeOn(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-c.Sizes:
			c.mu.Lock()
			if c.Size = s; c.to != nil {
				c.to(frameSize, sizeBytes(s))
			} else if !c.Plain {
				io.WriteString(c.screen, "\x1b[2J")
				c.sayMoving()
			}
			c.mu.Unlock()
		}
	}
}

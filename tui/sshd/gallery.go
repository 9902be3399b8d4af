package sshd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"pgrlab/tui"
	"pgrlab/tui/remote"
)

// Attach shows the screen of a run on a terminal until either of them ends it, as remote.Attach
// does.
type Attach func(ctx context.Context, t remote.Terminal) (said string, err error)

// Gallery holds the screens that several visitors watch: one screen is drawn for all visitors with
// equal terminals, and closes when the last of them has left.
type Gallery struct {
	mu      sync.Mutex
	screens map[string]*shared
}

// NewGallery is a gallery without screens.
func NewGallery() *Gallery { return &Gallery{screens: map[string]*shared{}} }

// shared is a screen that is drawn once and shown to several visitors.
type shared struct {
	mu    sync.Mutex
	seats map[*seat]bool
	size  tui.Size
	sizes chan tui.Size // a size sent here makes the whole screen be drawn again
	stop  context.CancelFunc

	done chan struct{} // closed when the screen is over; said and err are set then
	said string
	err  error
}

// alike is a key for a screen: the run and everything that affects the drawing.
func alike(run string, t remote.Terminal) string { return fmt.Sprintf("%q %s", run, t.Look()) }

// Watch shows a run to one more visitor, whose terminal keeps its size, until ctx ends (err is then
// its cause) or the screen is over; it calls over then, which is to end a write to a terminal that
// accepts nothing.
func (g *Gallery) Watch(ctx context.Context, run string, attach Attach, t remote.Terminal, over func()) (said string, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &seat{out: t.Output, news: make(chan struct{}, 1)}
	on := g.join(run, attach, t, s)
	defer g.leave(alike(run, t), on, s)
	written := make(chan struct{})
	go func() {
		defer close(written)
		if err := s.write(ctx, on.redraw); err != nil {
			cancel(err)
		}
	}()
	defer func() { // later output must not mix with it on the connection
		cancel(nil)
		<-written
	}()
	select {
	case <-on.done:
		over()
		return on.said, on.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// join gives a visitor a seat before a screen; the first visitor starts the screen.
func (g *Gallery) join(run string, attach Attach, t remote.Terminal, s *seat) *shared {
	g.mu.Lock()
	defer g.mu.Unlock()
	s.put([]byte(tui.EnterSequence))
	name := alike(run, t)
	if on := g.screens[name]; on != nil {
		on.mu.Lock()
		on.seats[s] = true
		on.mu.Unlock()
		on.redraw()
		return on
	}
	ctx, stop := context.WithCancel(context.Background()) // for all who watch, not only for the first
	on := &shared{seats: map[*seat]bool{s: true}, size: t.Size, sizes: make(chan tui.Size, 1), stop: stop, done: make(chan struct{})}
	g.screens[name] = on
	t.Keys, t.Output, t.Sizes = silence{ctx}, on, on.sizes
	go func() {
		defer stop()
		on.said, on.err = attach(ctx, t)
		g.mu.Lock()
		if g.screens[name] == on {
			delete(g.screens, name)
		}
		g.mu.Unlock()
		close(on.done)
	}()
	return on
}

// leave removes a visitor's seat, and ends the screen with the last one.
func (g *Gallery) leave(name string, on *shared, s *seat) {
	g.mu.Lock()
	defer g.mu.Unlock()
	on.mu.Lock()
	delete(on.seats, s)
	empty := len(on.seats) == 0
	on.mu.Unlock()
	if empty {
		on.stop()
		if g.screens[name] == on {
			delete(g.screens, name)
		}
	}
}

// Write gives every seat the new output. It never waits for a seat.
func (on *shared) Write(p []byte) (int, error) {
	drawn := slices.Clone(p)
	on.mu.Lock()
	defer on.mu.Unlock()
	for s := range on.seats {
		s.put(drawn)
	}
	return len(p), nil
}

// redraw requests the whole screen once more: a visitor who is new or has missed output cannot use
// the changes alone.
func (on *shared) redraw() {
	select {
	case on.sizes <- on.size:
	default: // already requested
	}
}

// silence is a keyboard without keys.
type silence struct{ ctx context.Context }

// Read waits until the screen ends.
func (s silence) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, io.EOF
}

// maxBehind is how much output waits for a visitor, in bytes: more than the largest screen has. A
// visitor who is further behind misses output, and gets the whole screen when the connection is
// free.
const maxBehind = 4 << 20

// seat is a visitor's place before a shared screen.
type seat struct {
	out  io.Writer
	news chan struct{} // holds one signal: there is something in queue

	mu     sync.Mutex
	queue  [][]byte
	bytes  int
	missed bool // some output was dropped
}

func (s *seat) put(drawn []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.news <- struct{}{}:
	default:
	}
	if s.bytes+len(drawn) > maxBehind {
		s.queue, s.bytes, s.missed = nil, 0, true
		return
	}
	s.queue, s.bytes = append(s.queue, drawn), s.bytes+len(drawn)
}

// take returns the waiting output, and whether output before it was dropped.
func (s *seat) take() (queue [][]byte, missed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	queue, missed = s.queue, s.missed
	s.queue, s.bytes, s.missed = nil, 0, false
	return queue, missed
}

// write writes the queued output until ctx ends; it calls redraw when output was dropped.
func (s *seat) write(ctx context.Context, redraw func()) error {
	for {
		queue, missed := s.take()
		if missed {
			redraw()
		}
		for _, drawn := range queue {
			if _, err := s.out.Write(drawn); err != nil {
				return err
			}
		}
		if len(queue) > 0 {
			continue // more may have arrived meanwhile
		}
		select {
		case <-s.news:
		case <-ctx.Done():
			return nil
		}
	}
}

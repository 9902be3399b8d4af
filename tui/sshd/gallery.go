package sshd

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"pgrlab/tui"
	"pgrlab/tui/remote"
)

// Attach shows the screen of a run on a terminal until one of them has enough, as
// remote.Attach does.
type Attach func(ctx context.Context, t remote.Terminal) (said string, err error)

// Gallery holds the screens that several visitors look at: one is drawn for all whose
// terminals are alike, and goes when the last of them has left.
type Gallery struct {
	mu      sync.Mutex
	screens map[string]*shared
}

// NewGallery is one without screens.
func NewGallery() *Gallery { return &Gallery{screens: map[string]*shared{}} }

// shared is a screen that is drawn once and seen by several.
type shared struct {
	mu    sync.Mutex
	seats map[*seat]bool
	size  tui.Size
	sizes chan tui.Size // sending one has all of it drawn again
	stop  context.CancelFunc

	done chan struct{} // closed when it is over; what follows is set then
	said string
	err  error
}

// alike names a screen by run and by all that has a part in how it is drawn.
func alike(run string, t remote.Terminal) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %v %v", run, t.Size, t.Characters)
	for _, name := range slices.Sorted(maps.Keys(t.Environ)) {
		fmt.Fprintf(&b, " %q=%q", name, t.Environ[name])
	}
	return b.String()
}

// Watch shows a run to one more visitor, whose terminal keeps its size, until ctx ends
// (err is its cause then) or the screen is over.
func (g *Gallery) Watch(ctx context.Context, run string, attach Attach, t remote.Terminal) (said string, err error) {
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
	defer func() { // what comes after must not meet it on the line
		cancel(nil)
		<-written
	}()
	select {
	case <-on.done:
		return on.said, on.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// join seats a visitor before a screen, which is begun where it is the first.
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
	ctx, stop := context.WithCancel(context.Background()) // of all who look, not of the first
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

// leave takes a visitor's seat away, and the screen with the last.
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

// Write gives every seat what was drawn. It never waits for any.
func (on *shared) Write(p []byte) (int, error) {
	drawn := slices.Clone(p)
	on.mu.Lock()
	defer on.mu.Unlock()
	for s := range on.seats {
		s.put(drawn)
	}
	return len(p), nil
}

// redraw asks for the whole screen once more: who has come, or has missed something, sees
// nothing of what only changes.
func (on *shared) redraw() {
	select {
	case on.sizes <- on.size:
	default: // it is asked for already
	}
}

// silence is a keyboard without keys.
type silence struct{ ctx context.Context }

// Read waits for the end.
func (s silence) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, io.EOF
}

// maxBehind is how much of what was drawn waits for a visitor, in bytes: more than the
// largest screen has. Who is further behind misses it, and gets the whole screen when the
// line is free.
const maxBehind = 4 << 20

// seat is a visitor's place before a shared screen.
type seat struct {
	out  io.Writer
	news chan struct{} // one waits: there is something in queue

	mu     sync.Mutex
	queue  [][]byte
	bytes  int
	missed bool // part of what was drawn
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

// take is what waits, and whether what came before it was missed.
func (s *seat) take() (queue [][]byte, missed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	queue, missed = s.queue, s.missed
	s.queue, s.bytes, s.missed = nil, 0, false
	return queue, missed
}

// write writes what is put until ctx ends; redraw is called when something was missed.
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
			continue // more may have come meanwhile
		}
		select {
		case <-s.news:
		case <-ctx.Done():
			return nil
		}
	}
}

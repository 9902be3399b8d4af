package session

import (
	"context"
	"sync"
)

// A beginning starts a run at most once, from the screen's goroutine, and reports the result after
// the screen is gone, however early that was.
type beginning struct {
	start func() error
	mu    sync.Mutex
	begun bool
	over  bool // the screen is gone: do not start any more
	err   error
}

func newBeginning(start func() error) *beginning { return &beginning{start: start} }

func (b *beginning) do() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return context.Canceled
	}
	if !b.begun {
		b.begun = true
		b.err = b.start()
	}
	return b.err
}

// end waits for a start in progress and prevents any other.
func (b *beginning) end() (err error, begun bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	return b.err, b.begun
}

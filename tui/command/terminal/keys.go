package terminal

import (
	"io"
	"sync"

	"github.com/muesli/cancelreader"
)

// Keys are read from a keyboard until they end: the next reader gets every key that
// is pressed from then on.
type Keys struct {
	from cancelreader.CancelReader

	mu    sync.Mutex // held while it reads
	ended bool
}

// NewKeys reads keys from a keyboard.
func NewKeys(from io.Reader) (*Keys, error) {
	r, err := cancelreader.NewReader(from)
	if err != nil {
		return nil, err
	}
	return &Keys{from: r}, nil
}

// Read waits for keys; after end there are none.
func (k *Keys) Read(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended {
		return 0, io.EOF
	}
	return k.from.Read(p)
}

// End ends a read that waits, and all later ones.
func (k *Keys) End() {
	if !k.from.Cancel() {
		return // this kind of keyboard cannot be left
	}
	k.mu.Lock() // closing it under a read would leave that waiting for the next key
	defer k.mu.Unlock()
	k.ended = true
	k.from.Close()
}

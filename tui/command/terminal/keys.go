package terminal

import (
	"io"
	"sync"

	"github.com/muesli/cancelreader"
)

// Keys are read from a keyboard until End: the next reader gets every key pressed from then on.
type Keys struct {
	from cancelreader.CancelReader

	mu    sync.Mutex // held during a read
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

// Read waits for keys; after End there are none.
func (k *Keys) Read(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended {
		return 0, io.EOF
	}
	return k.from.Read(p)
}

// End ends a waiting read, and all later ones.
func (k *Keys) End() {
	if !k.from.Cancel() {
		return // this kind of keyboard cannot be interrupted
	}
	k.mu.Lock() // closing during a read would leave the read waiting for the next key
	defer k.mu.Unlock()
	k.ended = true
	k.from.Close()
}

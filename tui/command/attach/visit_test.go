package attach

import (
	"errors"
	"testing"
	"time"

	"pgrlab/tui"
)

// A window whose edge is dragged is a new screen once it has its last size; a key counts at once.
func TestAWindowIsResizedOnce(t *testing.T) {
	for _, want := range []error{errResized, errKey} {
		typed, sizes, still := make(chan []byte), make(chan tui.Size), make(chan time.Time)
		l := &looking{keys: &keyboard{typed: typed}, sizes: sizes, still: func() <-chan time.Time { return still }}
		var size tui.Size
		ended := make(chan error, 1)
		go func() { ended <- l.listen(t.Context(), &size) }()
		last := tui.Size{}
		for n := range 30 {
			last = tui.Size{Columns: 80 + n, Rows: 24}
			select {
			case sizes <- last:
			case err := <-ended:
				t.Fatalf("after %d sizes: %v", n, err)
			}
		}
		if want == errKey {
			typed <- []byte("j")
		} else {
			still <- time.Time{}
		}
		if err := <-ended; !errors.Is(err, want) || size != last {
			t.Errorf("%v at %v, want %v at %v", err, size, want, last)
		}
	}
}

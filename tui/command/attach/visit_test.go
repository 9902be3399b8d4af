package attach

import (
	"context"
	"errors"
	"io"
	"strings"
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

// What a visitor pastes is shortened before anything keeps it.
func TestVisitorsPasteLittle(t *testing.T) {
	const megabyte = 1 << 20
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	k := newKeyboard(ctx, strings.NewReader("\x1b[200~"+strings.Repeat("x", megabyte)+"\x1b[201~j"))
	got, err := io.ReadAll(k.until(ctx))
	if err != nil || len(got) > megabyte/10 || !strings.HasSuffix(string(got), "\x1b[201~j") {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

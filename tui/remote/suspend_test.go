package remote

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"pgrlab/tui/query"
)

// keyboard gives a piece at each read, and then ends.
type keyboard []string

func (k *keyboard) Read(p []byte) (int, error) {
	if len(*k) == 0 {
		return 0, io.EOF
	}
	n := copy(p, (*k)[0])
	*k = (*k)[1:]
	return n, nil
}

// gateTo returns a gate for which no time passes: an answer is due until it comes.
func gateTo(to io.Writer) *gate {
	g := newGate(to)
	g.line = query.NewLine(func() time.Time { return time.Unix(1, 0) })
	return g
}

// When a screen is suspended while its terminal still has questions to answer, the answers go to
// the lab, not to the shell and not to the keys; so do the answers to what the lab asks after the
// first one. Meanwhile, what the lab draws waits.
func TestAnswersOfASuspendedScreenAreForTheLab(t *testing.T) {
	const first, second = "\x1bP>|foot(1.21.0)\x1b\\\x1b[?62;4;22c", "\x1b[6;14;7t\x1b[?62;4;22c"
	keys := keyboard{"j\x1a\x1bP>|foot(1.2", "1.0)\x1b\\\x1b[?62;4", ";22c", "ls" + second, "rest"}
	var screen strings.Builder
	g := gateTo(&screen)
	g.Write([]byte("\x1b[>0q\x1b[c"))
	var sent []string
	send := func(kind byte, content []byte) {
		if sent = append(sent, string(content)); string(content) == first {
			g.Write([]byte("\x1b[16t\x1b[c")) // the lab asks another question
		}
	}
	suspended := 0
	terminal := Terminal{Keys: &keys, More: func(time.Duration) bool { return len(keys) > 0 }, Suspend: func() {
		suspended++
		if g.mu.TryLock() {
			t.Error("the lab may write into the shell's terminal")
		}
		if g.line.Open() > 0 || !slices.Equal(keys, keyboard{"rest"}) {
			t.Errorf("answers are due for %v when the shell gets the terminal; not read: %q", g.line.Open(), []string(keys))
		}
	}}
	typeOn(terminal, g, send, func(error) {})
	if want := []string{first, second, "rest"}; !slices.Equal(sent, want) || suspended != 1 {
		t.Errorf("the lab got %q, want %q; suspended %d times", sent, want, suspended)
	}
}

// After the detach key, no answer reaches the shell either.
func TestAnswersOfAScreenThatIsLeft(t *testing.T) {
	keys := keyboard{"\x1c", "\x1b[?62;4;22c", "shell"}
	g := gateTo(io.Discard)
	g.Write([]byte("\x1b[c"))
	var why error
	var leave context.CancelCauseFunc = func(err error) { why = err }
	typeOn(Terminal{Keys: &keys, More: func(time.Duration) bool { return true }}, g, func(byte, []byte) {}, leave)
	if why != errLeft || !slices.Equal(keys, keyboard{"shell"}) {
		t.Errorf("left: %v; not read: %q", why, []string(keys))
	}
}

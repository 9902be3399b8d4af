package tui

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"pgrlab/core/pace"
)

// longEnough is how long a screen may take to show something, on a machine that is busy
// with other things.
const longEnough = 5 * time.Minute

// shared is a writer that a test may look at while something writes.
type shared struct {
	mu  sync.Mutex
	buf bytes.Buffer
	new chan struct{}
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.new <- struct{}{}:
	default:
	}
	return s.buf.Write(p)
}

func (s *shared) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

func TestGoldenPlain(t *testing.T) {
	f := newFake()
	f.advance(24_000)
	clock := time.Date(2026, 11, 21, 12, 10, 0, 0, time.UTC)
	in, person := io.Pipe()
	out := &shared{new: make(chan struct{}, 1)}
	ended := make(chan Outcome, 1)
	go func() {
		o, err := runPlain(context.Background(), Options{Config: fakeConfig(), Clock: func() time.Time { return clock },
			Start: func() (Lab, error) { return f, nil }}, in, out)
		if err != nil {
			t.Error(err)
		}
		ended <- o
	}()
	say := func(line, want string) {
		t.Helper()
		if line != "" {
			io.WriteString(person, line+"\n")
		}
		limit := time.After(longEnough)
		for !strings.Contains(out.text(), want) {
			select {
			case <-out.new:
				pace.Look()
			case <-limit:
				t.Fatalf("no %q after %q:\n%s", want, line, out.text())
			}
		}
	}
	say("", "running: After 24,000 environment steps")
	say("ratio 0.75", "#1 r ratio 0.5 → 0.75")
	say("F td", "type !: now")
	say("esc", "do not apply")
	say("note the reward grows", "noted")
	say("guidance 99", "out of range")
	say("stage guidance 3", "256 samples in")
	io.WriteString(person, "drop\n")
	say("lesson guidance", "step 1 of 6")
	io.WriteString(person, "\n")
	say("", "step 3 of 6")
	say("esc", "the lesson is over")
	say("runs", "TOUCHED ×1")
	say("pause", "pause   by screen")
	say("quit", "leave it training")
	io.WriteString(person, "d\n")
	select {
	case o := <-ended:
		if o != Detached {
			t.Errorf("%v", o)
		}
	case <-time.After(longEnough):
		t.Fatal("d does not leave")
	}
	if strings.ContainsAny(out.text(), "\x1b\r") {
		t.Errorf("control characters in %q", out.text())
	}
	golden(t, "plain", out.text())
}

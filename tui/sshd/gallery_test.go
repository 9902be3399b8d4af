package sshd

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"pgrlab/tui"
	"pgrlab/tui/remote"
	"pgrlab/tui/theme"
)

// drawn is a run whose screens the test draws.
type drawn struct {
	begun   chan remote.Terminal // receives each screen that begins
	stopped chan bool            // receives when all have left a screen
	end     chan string          // ends the run, with these last words
}

func newDrawn() *drawn {
	return &drawn{make(chan remote.Terminal, 10), make(chan bool, 10), make(chan string)}
}

func (d *drawn) attach(ctx context.Context, t remote.Terminal) (string, error) {
	d.begun <- t
	select {
	case said := <-d.end:
		return said, nil
	case <-ctx.Done():
		d.stopped <- true
		return "", ctx.Err()
	}
}

// viewer is a terminal that shows what it is sent.
type viewer struct {
	mu    sync.Mutex
	text  bytes.Buffer
	more  chan bool
	leave context.CancelCauseFunc
	left  chan error
	said  string
}

func (v *viewer) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	defer func() {
		select {
		case v.more <- true:
		default:
		}
	}()
	return v.text.Write(p)
}

// until waits until the terminal has shown a text.
func (v *viewer) until(text string) {
	v.when(func(shown *bytes.Buffer) bool { return bytes.Contains(shown.Bytes(), []byte(text)) })
}

// when waits until the terminal has shown what wanted accepts.
func (v *viewer) when(wanted func(shown *bytes.Buffer) bool) {
	for {
		v.mu.Lock()
		found := wanted(&v.text)
		v.mu.Unlock()
		if found {
			return
		}
		<-v.more
	}
}

var errEnough = errors.New("enough")

// look begins a viewer's look at a run.
func look(g *Gallery, d *drawn, size tui.Size) *viewer {
	v := &viewer{more: make(chan bool, 1), left: make(chan error, 1)}
	ctx, leave := context.WithCancelCause(context.Background())
	v.leave = leave
	go func() {
		var err error
		v.said, err = g.Watch(ctx, "run", d.attach, remote.Terminal{Output: v, Size: size, Environ: map[string]string{"TERM": "xterm"}}, func() {})
		v.left <- err
	}()
	return v
}

func TestAlikeTerminalsShareAScreen(t *testing.T) {
	g, d := NewGallery(), newDrawn()
	a := look(g, d, tui.Size{Columns: 80, Rows: 24})
	screen := <-d.begun
	screen.Output.Write([]byte("first"))
	a.until("first")
	b := look(g, d, tui.Size{Columns: 80, Rows: 24})
	if size := <-screen.Sizes; size != screen.Size { // everything is drawn again for a viewer who comes late
		t.Errorf("it is drawn again at %v", size)
	}
	c := look(g, d, tui.Size{Columns: 81, Rows: 24})
	other := <-d.begun
	screen.Output.Write([]byte("second"))
	other.Output.Write([]byte("wider"))
	a.until("second")
	b.until("second")
	c.until("wider")
	if strings.Contains(c.text.String(), "second") || strings.Contains(b.text.String(), "first") {
		t.Error("a viewer sees what is not theirs")
	}
	a.leave(errEnough)
	if err := <-a.left; !errors.Is(err, errEnough) {
		t.Error(err)
	}
	screen.Output.Write([]byte("third"))
	b.until("third")
	if strings.Contains(a.text.String(), "third") {
		t.Error("who has left still sees it")
	}
	b.leave(errEnough)
	<-b.left
	<-d.stopped // the last viewer has left
	d.end <- "over"
	if err := <-c.left; err != nil || c.said != "over" {
		t.Errorf("%q, %v", c.said, err)
	}
	again := look(g, d, tui.Size{Columns: 80, Rows: 24})
	<-d.begun
	again.leave(errEnough)
	<-again.left
	<-d.stopped
	if len(g.screens) != 0 {
		t.Errorf("%d screens are left", len(g.screens))
	}
}

// Screens are drawn once for terminals with the same size and colours, whatever language they speak and
// whatever program shows them.
func TestWhatMakesTerminalsAlike(t *testing.T) {
	with := func(environ ...string) remote.Terminal {
		t := remote.Terminal{Size: tui.Size{Columns: 80, Rows: 24}, Environ: map[string]string{"TERM": "xterm-256color", "LANG": "C.UTF-8"}}
		for i := 0; i < len(environ); i += 2 {
			t.Environ[environ[i]] = environ[i+1]
		}
		return t
	}
	for _, same := range [][]string{{"LANG", "de_DE.UTF-8"}, {"LC_ALL", "fr_FR.UTF-8"}, {"TERM_PROGRAM", "iTerm.app"}, {"TERM", "tmux-256color"}, {"COLORFGBG", "15;0"}} {
		if a, b := alike("run", with()), alike("run", with(same...)); a != b {
			t.Errorf("%v: %s, not %s", same, b, a)
		}
	}
	other := with()
	other.Characters = theme.ASCII
	for name, b := range map[string]remote.Terminal{"ASCII": other, "true colour": with("COLORTERM", "truecolor"), "no colour": with("NO_COLOR", "1"), "light": with("COLORFGBG", "0;15"), "few colours": with("TERM", "vt100")} {
		if alike("run", with()) == alike("run", b) {
			t.Errorf("%s makes no difference", name)
		}
	}
	if alike("run", with()) == alike("another", with()) {
		t.Error("two runs share a screen")
	}
}

// stuck is a terminal that accepts nothing until the test lets it.
type stuck struct {
	viewer
	taking, go_ chan bool
}

func (s *stuck) Write(p []byte) (int, error) {
	s.taking <- true
	<-s.go_
	return s.viewer.Write(p)
}

// A terminal that does not accept what is drawn delays no other. When it accepts again it is sent no
// old frames, but the whole screen.
func TestASlowTerminalHoldsUpNoOther(t *testing.T) {
	g, d := NewGallery(), newDrawn()
	slow := &stuck{taking: make(chan bool, 100), go_: make(chan bool)}
	slow.more, slow.left = make(chan bool, 1), make(chan error, 1)
	ctx, leave := context.WithCancelCause(context.Background())
	size := tui.Size{Columns: 80, Rows: 24}
	go func() {
		_, err := g.Watch(ctx, "run", d.attach, remote.Terminal{Output: slow, Size: size, Environ: map[string]string{"TERM": "xterm"}}, func() {})
		slow.left <- err
	}()
	screen := <-d.begun
	<-slow.taking // it is stuck in the first frame that it gets
	quick := look(g, d, size)
	<-screen.Sizes
	frame := bytes.Repeat([]byte("x"), 1<<20)
	for n := range 2 * maxBehind / len(frame) {
		screen.Output.Write(frame)
		quick.when(func(shown *bytes.Buffer) bool { return shown.Len() > n*len(frame) })
	}
	screen.Output.Write([]byte("old"))
	quick.until("old")
	for n := range maxBehind / len(frame) { // so many that old ones are dropped
		screen.Output.Write(frame)
		quick.when(func(shown *bytes.Buffer) bool { return shown.Len() > 2*maxBehind+n*len(frame) })
	}
	close(slow.go_)
	<-screen.Sizes // the slow one has missed something
	screen.Output.Write([]byte("whole"))
	slow.until("whole")
	if strings.Contains(slow.text.String(), "old") {
		t.Error("it was sent an old frame")
	}
	leave(errEnough)
	quick.leave(errEnough)
	<-slow.left
	<-quick.left
	<-d.stopped
}

// A visitor whose terminal accepts nothing does not keep the place when the run's screen is over.
func TestAScreenEndsForATerminalThatIsStuck(t *testing.T) {
	g, d := NewGallery(), newDrawn()
	still := &stuck{taking: make(chan bool, 1), go_: make(chan bool)}
	left := make(chan string)
	go func() {
		said, _ := g.Watch(t.Context(), "run", d.attach, remote.Terminal{Output: still}, func() { close(still.go_) })
		left <- said
	}()
	<-d.begun
	<-still.taking
	d.end <- "over"
	if said := <-left; said != "over" {
		t.Errorf("the last words are %q", said)
	}
}

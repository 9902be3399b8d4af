package tui

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"pgrlab/tui/pane"
	"pgrlab/tui/testing/pty"
)

// These are the answers of a kitty and of an xterm with sixels.
const (
	kittyIs   = "\x1bP>|kitty(0.39.1)\x1b\\\x1b[?62;52c"
	kittyCan  = "\x1b_Gi=31;OK\x1b\\\x1b[6;20;10t\x1b[?62;52c"
	xtermIs   = "\x1bP>|XTerm(379)\x1b\\\x1b[?63;1;2;4;6;9;15;16;22;28c"
	xtermCan  = "\x1b[?1;0;1024S\x1b[6;20;10t\x1b[?63;1;2;4;6;9;15;16;22;28c"
	questions = "\x1b[>0q\x1b[c"
	details   = "\x1b[16t\x1b[?1;1;0S\x1b[c"
)

// newPictured is a session of a screen that can draw its task, on a terminal with the given name.
func newPictured(t *testing.T, name, pictures string) (s *session, program *os.File) {
	t.Helper()
	t.Setenv("TERM", name)
	t.Setenv("COLORTERM", "truecolor")
	t.Setenv("NO_COLOR", "")
	person, program := terminalPair(t)
	if err := pty.Resize(program, 120, 40); err != nil {
		t.Fatal(err)
	}
	s = &session{person: person, fake: newFake(), seen: make(chan []byte, 1024), ended: make(chan ending, 1)}
	s.fake.pose = []float64{0} // in all snapshots, also of a later look
	s.fake.advance(24_000)
	about := pane.About{Config: fakeConfig(), Draw: stripes}
	go func() {
		for {
			buf := make([]byte, 4096)
			n, err := person.Read(buf)
			if err != nil {
				return
			}
			s.seen <- buf[:n]
		}
	}()
	go func() {
		o, err := Run(context.Background(), Options{About: about, Input: program, Output: program, Pictures: pictures, patience: longEnough, Start: func() (pane.Lab, error) { return s.fake, nil }})
		s.ended <- ending{o, err}
	}()
	return s, program
}

// The terminal is queried while its screen is shown. After its answers, pictures are drawn as
// pixels; the answers are not taken for keys.
func TestPicturesAsTheTerminalAnswers(t *testing.T) {
	for _, c := range []struct{ is, can, image, gone string }{
		{kittyIs, kittyCan, "\x1b_Gf=100,q=2,", "\x1b_Gq=2,"},
		{xtermIs, xtermCan, "\x1bP0;1q\"1;1;", "\x1b[?1049l"},
	} {
		s, _ := newPictured(t, "xterm-256color", "")
		s.await(t, questions, "KNOBS")
		s.person.WriteString("v")
		s.await(t, "▀")
		s.person.WriteString(c.is)
		s.await(t, details)
		s.person.WriteString(c.can)
		s.await(t, c.image)
		s.person.WriteString("q")
		s.await(t, "stop and save")
		s.person.WriteString("d")
		s.await(t, c.gone)
		s.end(t, Detached)
		if n := s.fake.changes(); n != 0 {
			t.Errorf("the answers changed %d things", n)
		}
	}
}

// No query is sent when the user has chosen a protocol, or to a terminal that would print it.
func TestTerminalsThatAreNotAsked(t *testing.T) {
	for _, c := range []struct{ term, pictures, want string }{
		{"xterm-256color", "blocks", "▀"}, {"linux", "auto", "▀"}, {"xterm-256color", "sixel", "\x1bP0;1q\"1;1;"},
	} {
		s, _ := newPictured(t, c.term, c.pictures)
		var all []byte
		until := func(text string) {
			t.Helper()
			for limit := time.After(longEnough); !bytes.Contains(all, []byte(text)); {
				select {
				case b := <-s.seen:
					all = append(all, b...)
				case <-limit:
					t.Fatalf("%+v: no %q", c, text)
				}
			}
		}
		until("KNOBS")
		s.person.WriteString("v")
		until(c.want)
		if i := strings.Index(string(all), "\x1b[c"); i >= 0 {
			t.Errorf("%+v is asked", c)
		}
		s.person.WriteString("q")
		until("stop and save")
		s.person.WriteString("d")
		s.end(t, Detached)
	}
}

// When a screen is left before its terminal has answered, the answer does not reach the shell.
func TestAnswersDoNotReachTheShell(t *testing.T) {
	s, program := newPictured(t, "xterm-256color", "")
	if _, err := term.MakeRaw(int(program.Fd())); err != nil { // so that the test can count what is typed
		t.Fatal(err)
	}
	s.await(t, "KNOBS")
	s.person.WriteString("q")
	s.await(t, "stop and save")
	s.person.WriteString("d")
	s.await(t, "\x1b[?1049l")
	s.person.WriteString(xtermIs)
	s.end(t, Detached)
	if n, err := unix.IoctlGetInt(int(program.Fd()), unix.TIOCINQ); err != nil || n > 0 {
		t.Errorf("%d bytes are left for the shell, %v", n, err)
	}
}

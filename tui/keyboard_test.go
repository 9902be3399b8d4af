package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/testing/racing"
	"pgrlab/tui/pane"
)

// keyBytes are keys as terminals send them.
var keyBytes = []string{
	"j", "k", "l", "h", "e", "p", " ", "q", "d", "s", "n", ":", "/", "?", "@", "3", "z", "é", "ω", "漢", "\r", "\t", "\x7f", "\x07",
	"\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1bOA", "\x1b[Z", "\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[1;2D", "\x1bOP", "\x1b[[A", "\x1bj", "\x1b\x1b[A",
	"\x1b[<0;20;40M", "\x1b[M 4@", "\x1b[I", "note ", "guidance 3", "jjj",
	"\x1b[200~some text\npasted\x1b[201~",
}

// pieces are the bytes of a terminal, one piece for each read.
type pieces struct{ left [][]byte }

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.left[0])
	if p.left[0] = p.left[0][n:]; len(p.left[0]) == 0 {
		p.left = p.left[1:]
	}
	return n, nil
}

// listener keeps the messages of its keyboard.
type listener struct{ messages []tea.Msg }

func (l *listener) Init() tea.Cmd { return nil }
func (l *listener) View() string  { return "" }
func (l *listener) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyMsg:
		if msg.Type == tea.KeyCtrlBackslash {
			return l, tea.Quit
		}
		l.messages = append(l.messages, msg)
	case tea.MouseMsg:
		l.messages = append(l.messages, msg)
	}
	return l, nil
}

// messagesOf returns the messages that the screen's program makes of pieces; more says whether it waits
// for the rest of a key.
func messagesOf(t *testing.T, in []string, more func(left int) bool) []tea.Msg {
	t.Helper()
	p := &pieces{}
	for _, s := range append(slices.Clone(in), "\x1c") {
		p.left = append(p.left, []byte(s))
	}
	read := readerFunc(func(b []byte) (int, error) {
		return readKeys(p, func() bool { return more(len(p.left)) }, b, func(error) {})
	})
	l := &listener{}
	if _, err := tea.NewProgram(l, tea.WithInput(read), tea.WithOutput(io.Discard), tea.WithoutRenderer(), tea.WithoutSignalHandler()).Run(); err != nil {
		t.Fatal(err)
	}
	return l.messages
}

// after returns the state of a screen after the messages, as text.
func after(t *testing.T, messages []tea.Msg) string {
	t.Helper()
	s := running(t, 120, 36, 24_000)
	quit := false
	for _, msg := range messages {
		_, cmd := s.Update(msg)
		quit = quit || quits(cmd)
	}
	sent, err := json.Marshal(s.fake.commands)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("quit %v sent %s\n%s", quit, sent, s.View())
}

func quits(cmd tea.Cmd) bool {
	if cmd == nil {
		return false
	}
	switch msg := cmd().(type) {
	case tea.QuitMsg:
		return true
	case tea.BatchMsg:
		return slices.ContainsFunc(msg, quits)
	}
	return false
}

// Keys have the same effect however the line cuts them into reads. The test cuts 75 lines of keys
// four times each, and 300 in the long form.
func TestKeysDoNotDependOnReads(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	trials := racing.Few(75, 5)
	if os.Getenv("PGRLAB_SOAK") != "" {
		trials = 300
	}
	for trial := range trials {
		var keys []string
		for range 1 + r.IntN(12) {
			keys = append(keys, keyBytes[r.IntN(len(keyBytes))])
		}
		var single []string // characters outside of escape sequences are keys of their own
		for _, k := range keys {
			if k[0] == escape {
				single = append(single, k)
			} else {
				single = append(single, strings.Split(k, "")...)
			}
		}
		want := after(t, messagesOf(t, single, func(int) bool { return false }))
		all := strings.Join(keys, "")
		for range 4 {
			var cut []string
			for rest := all; rest != ""; {
				n := 1 + r.IntN(min(len(rest), 1+r.IntN(40)))
				cut, rest = append(cut, rest[:n]), rest[n:]
			}
			if got := after(t, messagesOf(t, cut, func(left int) bool { return left > 1 })); got != want {
				t.Fatalf("trial %d: the keys %q, cut into %q:\n%s\none by one:\n%s", trial, keys, cut, got, want)
			}
		}
	}
}

func TestUnfinishedKeys(t *testing.T) {
	for _, k := range keyBytes {
		if unfinished([]byte(k)) {
			t.Errorf("%q is a whole key", k)
		}
		if k[0] != escape && len([]rune(k)) > 1 || strings.HasPrefix(k, "\x1b[200~") {
			continue // several keys, or one without an end of its own
		}
		for n := 1; n < len(k); n++ {
			if !unfinished([]byte("j" + k[:n])) {
				t.Errorf("%q of %q is the beginning of a key", k[:n], k)
			}
		}
	}
}

// Answers of a terminal are completed too, before they are separated from the keys.
func TestUnfinishedAnswers(t *testing.T) {
	for _, a := range []string{"\x1bP>|XTerm(379)\x1b\\", "\x1b_Gi=31;OK\x1b\\", "\x1b[?62;4;22c", "\x1b[6;20;10t"} {
		for n := 1; n < len(a); n++ {
			if !unfinished([]byte("j" + a[:n])) {
				t.Errorf("%q of %q is the beginning of an answer", a[:n], a)
			}
		}
		if unfinished([]byte(a)) {
			t.Errorf("%q is a whole answer", a)
		}
	}
	for _, k := range []string{"\x1bPx", "\x1b_x", "\x1bP>x", "\x1b_Hi"} {
		if unfinished([]byte(k)) {
			t.Errorf("%q are keys", k)
		}
	}
}

func TestBurstsAreKeys(t *testing.T) {
	s := running(t, 120, 36, 24_000)
	burst := func(text string) {
		for _, msg := range messagesOf(t, []string{text}, func(int) bool { return false }) {
			s.Update(msg)
		}
	}
	burst("jjj")
	if s.knobs.Selected != 3 {
		t.Errorf("jjj moves to row %d", s.knobs.Selected)
	}
	burst(":note hello\r")
	s.Update(polled{})
	s.contains(t, "note    hello", "● RUN")
	burst(":pane runs\r")
	if s.focus != pane.Runs {
		t.Errorf(":pane runs goes to %s", string(s.focus))
	}
	burst("qdp")
	if !s.leaving.closed || s.fake.changes() != 1 {
		t.Errorf("after the key that leaves: sent %#v", s.fake.commands)
	}
}

func TestPastedText(t *testing.T) {
	const pasted = "\x1b[200~p q\x1b[201~"
	paste := func(s *screen) {
		for _, msg := range messagesOf(t, []string{pasted}, func(int) bool { return false }) {
			s.Update(msg)
		}
	}
	s := running(t, 120, 36, 24_000)
	paste(s)
	if s.lastCommand() != nil || s.dialog != nil {
		t.Errorf("pasted text does things: sent %#v, dialog %v", s.lastCommand(), s.dialog)
	}
	s.contains(t, "pasted text is not taken for keys")
	s.press("n")
	paste(s)
	if s.entry == nil || s.entry.Text() != "p q" {
		t.Errorf("text pasted into a prompt is %v", s.entry)
	}
	p := newPickerScreen(t, 120, 36)
	paste(p)
	p.contains(t, "pasted text is not taken for keys")
}

// Typing replaces what a prompt proposes, as in a selected field.
func TestProposalIsReplacedByTyping(t *testing.T) {
	proposal := func() *screen {
		s := running(t, 120, 36, 24_000)
		s.press("down", "right", "@")
		if s.entry == nil || s.entry.Text() != "25000" {
			t.Fatalf("@ proposes %v", s.entry)
		}
		return s
	}
	for keys, want := range map[string]string{
		"9000": "9000", "": "25000", "\x7f": "", "\x7f31": "31", "\x1b[C1": "250001", "\x1b[D\x1b[D1": "250100", "\x1b[H1": "125000",
		"\x1b[200~77000\x1b[201~": "77000", "\x1b[3~": "", " 4": " 4",
	} {
		s := proposal()
		for _, msg := range messagesOf(t, []string{keys}, func(int) bool { return false }) {
			s.Update(msg)
		}
		if s.entry == nil || s.entry.Text() != want {
			t.Errorf("%q gives %v, want %q", keys, s.entry, want)
		}
	}
	s := proposal()
	s.press("up", "enter")
	s.contains(t, "for step 25,000")
}

// The keyboard of a served screen ends with its input, and with its context.
func TestServedKeyboardEnds(t *testing.T) {
	lost := newOnce()
	k := newKeyboard(context.Background(), strings.NewReader("jé"), nil, lost.do)
	got, err := io.ReadAll(k)
	if string(got) != "jé" || err != nil || !lost.happened() {
		t.Errorf("%q, %v, hung up %v", got, err, lost.happened())
	}
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	k = newKeyboard(ctx, r, nil, func(error) {})
	cancel()
	if _, err := w.Write([]byte("x")); err != nil { // it is read, though nothing waits for it any more
		t.Fatal(err)
	}
	w.Close()
	for range k.pieces { // closes
	}
}

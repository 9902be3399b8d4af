package tui

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/core/testing/pace"
	"pgrlab/tui/pane"
	"pgrlab/tui/testing/pty"
)

// terminalPair opens a pseudo terminal: person is the side of the user, program that of the
// program.
func terminalPair(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, program, err := pty.Open(80, 24)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { person.Close(); program.Close() })
	return person, program
}

// session is a screen that runs on a pseudo terminal.
type session struct {
	person *os.File
	fake   *fakeLab
	seen   chan []byte
	text   []byte
	ended  chan ending
	over   *ending // the ending, once it is known
}

type ending struct {
	outcome Outcome
	err     error
}

func newSession(t *testing.T, ctx context.Context) *session {
	t.Helper()
	person, program := terminalPair(t)
	s := &session{person: person, fake: newFake(), seen: make(chan []byte, 1024), ended: make(chan ending, 1)}
	s.fake.advance(24_000)
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
		o, err := Run(ctx, Options{About: pane.About{Config: fakeConfig()}, Input: program, Output: program, Start: func() (pane.Lab, error) { return s.fake, nil }})
		s.ended <- ending{o, err}
	}()
	return s
}

// await reads until texts have been sent to the terminal, in any order, and forgets what it has read.
func (s *session) await(t *testing.T, texts ...string) {
	t.Helper()
	limit := time.After(longEnough)
	missing := func(text string) bool { return !bytes.Contains(s.text, []byte(text)) }
	for slices.ContainsFunc(texts, missing) {
		select {
		case b := <-s.seen:
			pace.Look()
			s.text = append(s.text, b...)
		case e := <-s.ended: // what it wrote last may not have been read yet
			s.over = &e
		case <-limit:
			t.Fatalf("not all of %q in %q; ended: %+v", texts, s.text, s.over)
		}
	}
	s.text = nil
}

func (s *session) end(t *testing.T, want Outcome) {
	t.Helper()
	limit := time.After(longEnough)
	for s.over == nil {
		select {
		case <-s.seen:
		case e := <-s.ended:
			s.over = &e
		case <-limit:
			t.Fatal("the screen does not end")
		}
	}
	if s.over.outcome != want || s.over.err != nil {
		t.Errorf("%v, %v; want %v", s.over.outcome, s.over.err, want)
	}
}

func TestRunDetaches(t *testing.T) {
	s := newSession(t, context.Background())
	s.await(t, "KNOBS")
	s.person.WriteString("q")
	s.await(t, "stop and save")
	s.person.WriteString("d")
	s.end(t, Detached)
}

func TestRunStops(t *testing.T) {
	s := newSession(t, context.Background())
	s.await(t, "KNOBS")
	s.person.WriteString("\x03")
	s.await(t, "stop and save")
	s.person.WriteString("\x03")
	s.end(t, StopRequested)
	if _, ok := s.fake.commands[len(s.fake.commands)-1].(event.Stop); !ok {
		t.Errorf("sent %#v", s.fake.commands)
	}
}

func TestRunSurvivesAHangup(t *testing.T) {
	s := newSession(t, context.Background())
	s.await(t, "KNOBS")
	s.person.Close()
	s.end(t, HungUp)
	if len(s.fake.commands) != 0 {
		t.Errorf("the hang-up sent %#v to the run", s.fake.commands)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := newSession(t, ctx)
	s.await(t, "KNOBS")
	cancel()
	s.end(t, Cancelled)
}

// panicking is a model that panics at its first message.
type panicking struct{}

func (panicking) Init() tea.Cmd                       { return func() tea.Msg { return polled{} } }
func (panicking) Update(tea.Msg) (tea.Model, tea.Cmd) { panic("boom") }
func (panicking) View() string                        { return "" }

func TestPanicBecomesAnError(t *testing.T) {
	err := runProgram(tea.NewProgram(panicking{}, tea.WithInput(nil), tea.WithoutRenderer(), tea.WithoutCatchPanics(), tea.WithoutSignalHandler()))
	var p *panicError
	if !errors.As(err, &p) || p.value != "boom" {
		t.Fatalf("%v", err)
	}
	_, w := pipe(t)
	folder := t.TempDir()
	m := New(Options{About: pane.About{Folder: folder}})
	m.History.Take(event.Event{Type: event.TypeCheckpoint, Body: event.Checkpointed{Obs: event.CheckpointObs{Path: "checkpoints/24000"}}})
	outcome, err := m.outcome(func() bool { return false }, context.Background(), err, w)
	if outcome != Failed || err == nil || !strings.Contains(err.Error(), "boom; the run was saved last in "+folder+"/checkpoints/24000") {
		t.Errorf("%v, %v", outcome, err)
	}
	if trace, err := os.ReadFile(p.trace); err != nil || !bytes.Contains(trace, []byte("Update")) {
		t.Errorf("the stack is not in %q: %v", p.trace, err)
	}
}

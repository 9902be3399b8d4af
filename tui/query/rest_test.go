package query

import (
	"testing"
	"time"
)

// asking returns an Asker whose questions the test can read one after another.
func asking(t *testing.T, now func() time.Time) (a *Asker, questions chan string, got chan Answers) {
	t.Helper()
	a, questions, got = New(now, time.Hour), make(chan string, 8), make(chan Answers, 1)
	go func() {
		answers, err := a.Ask(t.Context(), said(questions))
		if err == nil {
			got <- answers
		}
	}()
	return a, questions, got
}

type said chan string

func (s said) Write(p []byte) (int, error) {
	s <- string(p)
	return len(p), nil
}

const (
	footIs  = "\x1bP>|foot(1.21.0)\x1b\\\x1b[?62;4;22;28;29c"
	footCan = "\x1b[6;14;7t\x1b[?1;0;1024S\x1b[?62;4;22;28;29c"
)

// Before a terminal is given to the shell, its pending answer is waited for, and nothing more is
// asked until the terminal is back.
func TestATerminalThatIsLentAnswersFirst(t *testing.T) {
	a, questions, got := asking(t, time.Now)
	if q := <-questions; q != xtversion {
		t.Fatalf("asked %q", q)
	}
	type rest struct {
		first bool
		open  time.Duration
	}
	rested := make(chan rest)
	go func() { rested <- rest{a.Rest(), a.Open()} }()
	<-resting(a)
	a.Keys([]byte(footIs))
	if r := <-rested; !r.first || r.open != 0 {
		t.Errorf("%+v", r)
	}
	if a.Rest() {
		t.Error("it is lent twice")
	}
	if len(questions) > 0 {
		t.Errorf("the shell's terminal is asked %q", <-questions)
	}
	a.Wake()
	if q := <-questions; q != sizes+da1 {
		t.Errorf("asked %q", q)
	}
	a.Keys([]byte(footCan))
	if answers := <-got; answers.Colours != 1024 || answers.Cell.X != 7 {
		t.Errorf("%+v", answers)
	}
	a.Wake() // it is not lent
}

// A question whose answer may have gone to the shell is asked again, and half an answer is not
// taken for the beginning of keys.
func TestWhatAnotherHasGotIsAskedAgain(t *testing.T) {
	now := time.Unix(1, 0)
	a, questions, got := asking(t, func() time.Time { return now })
	<-questions
	a.Keys([]byte("\x1bP>|fo"))
	a.mu.Lock()
	now = now.Add(time.Hour)
	a.mu.Unlock()
	a.Rest() // it has been silent for so long that the wait is over
	a.Wake()
	if q := <-questions; q != xtversion {
		t.Errorf("asked %q", q)
	}
	keys := []byte("jkl")
	if n := a.Keys(keys); string(keys[:n]) != "jkl" {
		t.Errorf("keys %q", keys[:n])
	}
	a.Keys([]byte(footIs))
	<-questions
	a.Keys([]byte(footCan))
	if answers := <-got; answers.Name != "foot(1.21.0)" {
		t.Errorf("%+v", answers)
	}
	var none *Asker
	if !none.Rest() {
		t.Error("one that asks nothing waits for something")
	}
	none.Wake()
}

// resting returns a channel that is closed when the terminal is being lent.
func resting(a *Asker) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			a.mu.Lock()
			is := a.resting
			a.mu.Unlock()
			if is {
				return
			}
		}
	}()
	return done
}

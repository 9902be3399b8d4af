package tui

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/testing/pace"
	"pgrlab/tui/pane"
)

// longEnough is how long a screen may take to show something on a machine that is busy with other
// things.
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

// talk is a run shown as lines, and a person who types.
type talk struct {
	t      *testing.T
	out    *shared
	person *io.PipeWriter
	ended  chan Outcome
	seen   int // how much of the output has been waited for
}

func newTalk(t *testing.T, f *fakeLab) *talk {
	t.Helper()
	return newTalkAbout(t, f, pane.About{Config: fakeConfig()})
}

func newTalkAbout(t *testing.T, f *fakeLab, about pane.About) *talk {
	t.Helper()
	clock := time.Date(2026, 11, 21, 12, 10, 0, 0, time.UTC)
	in, person := io.Pipe()
	k := &talk{t: t, out: &shared{new: make(chan struct{}, 1)}, person: person, ended: make(chan Outcome, 1)}
	go func() {
		o, err := runPlain(context.Background(), Options{About: about, Clock: func() time.Time { return clock },
			Start: func() (pane.Lab, error) { return f, nil }}, in, k.out)
		if err != nil {
			t.Error(err)
		}
		k.ended <- o
	}()
	return k
}

// say types a line and waits until something new is written.
func (k *talk) say(line, want string) {
	k.t.Helper()
	if line != "" {
		io.WriteString(k.person, line+"\n")
	}
	limit := time.After(longEnough)
	for {
		if i := strings.Index(k.out.text()[k.seen:], want); i >= 0 {
			k.seen += i + len(want)
			return
		}
		select {
		case <-k.out.new:
			pace.Look()
		case <-limit:
			k.t.Fatalf("no %q after %q:\n%s", want, line, k.out.text())
		}
	}
}

func (k *talk) leave() {
	k.t.Helper()
	io.WriteString(k.person, "d\n")
	select {
	case o := <-k.ended:
		if o != Detached {
			k.t.Errorf("%v", o)
		}
	case <-time.After(longEnough):
		k.t.Fatal("d does not leave")
	}
}

// An open question takes only answers for an answer: it gives help, reports what it does not
// understand, and is asked again.
func TestPlainQuestionStaysOpen(t *testing.T) {
	f := newFake()
	f.advance(24_000)
	k := newTalk(t, f)
	k.say("", "running: After 24,000 steps")
	k.say("F td", "type now or !: now")
	k.say("", "type no or esc: do not apply")
	k.say("help", "COMMANDS")
	k.say("", "type now or !: now")
	k.say("status", "running: After 24,000")
	k.say("", "type yes or enter: at the next refit")
	k.say("guidance 3", `"guidance 3" is no answer to the question, which is still open: type yes or enter, type now or !, type no or esc`)
	k.say("no", "")
	k.say("generator_steps 1k", "type yes or enter: at the next")
	k.say("now", "generator_steps")
	k.say("", "waits for the next refit")
	k.say("quit", "leave it training")
	k.leave()
	if got := f.values["relevance"]; got.Text != "curiosity" {
		t.Errorf("relevance is %v: a question that was answered by no has applied it", got)
	}
}

// Each checkpoint has its line, though the events keep the newest one alone.
func TestPlainWritesEachCheckpoint(t *testing.T) {
	f := newFake()
	f.advance(24_000)
	k := newTalk(t, f)
	k.say("", "running: After 24,000 steps")
	for range 3 {
		k.say("checkpoint", "ckpt")
	}
	k.say("quit", "leave it training")
	k.leave()
}

// A what-if in lines shows its plan, its end and its table.
func TestPlainWhatIf(t *testing.T) {
	f := newFake()
	f.advance(24_000)
	w := &fakeWhatIf{at: &pane.WhatIfState{}}
	w.onBegin = w.finish
	k := newTalkAbout(t, f, pane.About{Config: fakeConfig(), WhatIf: w})
	k.say("", "running: After 24,000 steps")
	k.say("what-if", "about 25,000 critic updates of work")
	k.say("", "type what-if-begin, what-if-stop, what-if-hold")
	k.say("what-if-begin", "the what-if of step 24,000 is made")
	k.say("what-if", "prioritized rows help more than unprioritized ones")
	k.say("quit", "leave it training")
	k.leave()
}

// Every line that the program advises to type is accepted.
func TestPlainTakesWhatItAdvises(t *testing.T) {
	for _, d := range []*pane.Dialog{
		{Choices: []pane.Choice{{Key: "enter"}, {Key: "!"}, {Key: "esc"}}}, {Choices: []pane.Choice{{Key: "d"}, {Key: "s"}, {Key: "esc"}}},
	} {
		for _, c := range d.Choices {
			for _, word := range strings.Split(typed(c), " or ") {
				if key, is := meant(d, word); !is || key != c.Key {
					t.Errorf("%q is advised for %s and taken for %q", word, c.Key, key)
				}
			}
		}
		if key, is := meant(d, "help"); is {
			t.Errorf("help answers by %q", key)
		}
	}
}

// A change that would wait for a refit after the end of the run is announced as such.
func TestRefitThatNeverComes(t *testing.T) {
	f := newFake()
	f.advance(f.steps - 500)
	k := newTalk(t, f)
	k.say("", "running: After 99,500 steps")
	k.say("F td", "type yes or enter: at the next refit, but the run ends before there is one, in 500 steps")
	k.say("no", "")
	k.say("quit", "leave it training")
	k.leave()
}

// A run without input begins before its lines end, and a replay goes on to its end. A change made by
// hand has the step at which it was made.
func TestPlainWithoutInput(t *testing.T) {
	begun := false
	changed := event.KnobChanged{ID: 1, Knob: "guidance", From: knob.Number(1), To: knob.Number(3), Position: knob.After(1200)}
	for about, c := range map[string]struct {
		about pane.About
		start func() (pane.Lab, error)
		want  string
	}{
		"run": {pane.About{Config: fakeConfig()}, func() (pane.Lab, error) {
			time.Sleep(time.Minute)
			begun = true
			return newFake(), nil
		}, "pgrlab, one line per event"},
		"replay": {pane.About{Config: fakeConfig(), Replay: true}, func() (pane.Lab, error) {
			return NewReplay(fakeConfig(), "x", []event.Event{
				{Step: 1200, Wall: time.Now(), Body: changed}, {Step: 7000, Wall: time.Now().Add(time.Minute), Body: event.Noted{Text: "the end"}},
			}, 1, nil)
		}, "the end"},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var out bytes.Buffer
			outcome, err := runPlain(ctx, Options{About: c.about, Start: c.start}, strings.NewReader(""), &out)
			if outcome != HungUp || err != nil || !strings.Contains(out.String(), c.want) {
				t.Errorf("%s: %v, %v, and no %q:\n%s", about, outcome, err, c.want, out.String())
			}
			if about == "replay" && (strings.Contains(out.String(), "-1 ") || !strings.Contains(out.String(), "1,200")) {
				t.Error(out.String())
			}
		})
	}
	if !begun {
		t.Error("the run never began")
	}
}

// endless is input without an end.
type endless struct{ lines atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	p[0] = '\n'
	e.lines.Add(1)
	return 1, nil
}

// A line that is too long is refused, and the lines after it are taken: it is neither the end of the
// input nor a command without its end.
func TestPlainRefusesALongLine(t *testing.T) {
	note := func(n int) string { return "note " + strings.Repeat("x", n-len("note ")) }
	for _, c := range []struct {
		lines   string
		refused int
		noted   int
	}{
		{note(longestLine-1) + "\nnote after\n", 0, 2},
		{note(longestLine+1) + "\nnote after\n", 1, 1},
		{note(3*longestLine) + "\r\n" + note(2*longestLine) + "\nnote after\n", 2, 1},
		{"note before\n" + note(5*longestLine), 1, 1}, // without its end
	} {
		fake, out := newFake(), &bytes.Buffer{}
		fake.advance(24_000)
		in := strings.NewReader(c.lines)
		p := newPlain(Options{About: pane.About{Config: fakeConfig()}, Start: func() (pane.Lab, error) { return fake, nil }}, in, out)
		if _, err := p.talk(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		noted := 0
		for _, command := range fake.commands {
			if _, is := command.(event.Note); is {
				noted++
			}
		}
		if got := strings.Count(out.String(), "was left out"); got != c.refused || noted != c.noted {
			t.Errorf("%d bytes: %d refused, want %d; %d noted, want %d", len(c.lines), got, c.refused, noted, c.noted)
		}
	}
}

// Without a person the lines end with their run, though the input stays open; endless input is taken at the
// pace of the run's news. A person is told what is waited for.
func TestPlainEndsWithItsRun(t *testing.T) {
	for name, c := range map[string]struct {
		in     io.Reader
		person bool
		want   string
	}{"a pipe that stays open": {in: &unread{}}, "endless input": {in: &endless{}}, "a person": {in: &unread{}, person: true, want: "the run has ended; this waits for commands: quit leaves"}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if u, is := c.in.(*unread); is {
				u.ctx = t.Context() // the input outlives the command that ends the lines
			}
			fake, out := newFake(), &bytes.Buffer{}
			fake.advance(24_000)
			p := newPlain(Options{About: pane.About{Config: fakeConfig()}, Start: func() (pane.Lab, error) { return fake, nil }}, c.in, out)
			p.person = c.person
			go func() {
				time.Sleep(10 * time.Second)
				fake.advance(fake.steps)
				select {
				case <-time.After(10 * time.Second):
					cancel()
				case <-ctx.Done():
				}
			}()
			outcome, err := p.talk(ctx, c.in)
			if wants := map[bool]Outcome{true: Cancelled, false: Detached}[c.person]; outcome != wants || err != nil {
				t.Errorf("%s: %v, %v", name, outcome, err)
			}
			if !strings.Contains(out.String(), "done ") || strings.Count(out.String(), c.want) != 1 && c.want != "" || c.want == "" && strings.Contains(out.String(), "waits for commands") {
				t.Errorf("%s:\n%s", name, out.String())
			}
			if e, is := c.in.(*endless); is && e.lines.Load() > 2000 {
				t.Errorf("%d lines were read in ten seconds", e.lines.Load())
			}
		})
	}
}

// unread is a pipe into which nothing is written.
type unread struct{ ctx context.Context }

func (u *unread) Read([]byte) (int, error) {
	<-u.ctx.Done()
	return 0, io.EOF
}

// Commands of a pipe wait for the run, however long it takes to begin.
func TestPlainCommandsOfAPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFake()
		var out bytes.Buffer
		outcome, err := runPlain(t.Context(), Options{About: pane.About{Config: fakeConfig()}, Start: func() (pane.Lab, error) {
			time.Sleep(time.Minute)
			return fake, nil
		}}, strings.NewReader("note X\nguidance 4\nratio 0.75 @90000\n"), &out)
		var got []string
		for _, c := range fake.commands {
			switch c := c.(type) {
			case event.Note:
				got = append(got, c.Text)
			case event.SetKnob:
				got = append(got, c.Knob+" "+c.Value)
			}
		}
		if want := "[X guidance 4 ratio 0.75]"; outcome != HungUp || err != nil || fmt.Sprint(got) != want {
			t.Errorf("%v, %v: sent %v, want %s:\n%s", outcome, err, got, want, out.String())
		}
	})
}

// While a run starts, every command of a person has an answer or none; it does not end the program.
func TestPlainBeforeTheFirstSnapshot(t *testing.T) {
	names := []string{"esc"}
	m := New(Options{})
	for _, b := range m.palette.keys {
		names = append(names, b.Name)
	}
	for _, v := range m.palette.verbs {
		if v.Name != "detach" {
			names = append(names, v.Name)
		}
	}
	var typed strings.Builder
	for _, name := range names {
		for _, argument := range []string{"", " guidance 3", " 3", " ratio"} {
			typed.WriteString(name + argument + "\nesc\n")
		}
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var out bytes.Buffer
		in := strings.NewReader("runs\nstatus\nstage guidance 3\nstage relevance td\napply\nnow\n" + typed.String() + "runs\n")
		p := newPlain(Options{About: pane.About{Config: fakeConfig()}, Start: func() (pane.Lab, error) {
			time.Sleep(time.Hour)
			return newFake(), nil
		}}, in, &out)
		p.person = true
		outcome, err := p.talk(ctx, in)
		if err != nil || !strings.Contains(out.String(), "STARTING") || !strings.Contains(out.String(), "at the first refit") {
			t.Errorf("%v, %v:\n%s", outcome, err, out.String())
		}
	})
}

// brokenLab is a lab whose screen fails.
type brokenLab struct{ *fakeLab }

func (brokenLab) Snapshot() *event.Snapshot { panic("no snapshot") }

// A panic ends the lines with an error that says where the stack is, and the caller goes on with
// the run.
func TestPlainPanics(t *testing.T) {
	var out bytes.Buffer
	about := pane.About{Config: fakeConfig(), Folder: t.TempDir()}
	outcome, err := runPlain(t.Context(), Options{About: about, Start: func() (pane.Lab, error) { return brokenLab{newFake()}, nil }}, strings.NewReader(""), &out)
	if outcome != Failed || err == nil || !strings.Contains(err.Error(), "panic: no snapshot; the stack is in "+about.Folder) {
		t.Errorf("%v, %v", outcome, err)
	}
}

func TestGoldenPlain(t *testing.T) {
	f := newFake()
	f.advance(24_000)
	k := newTalk(t, f)
	say, person, out := k.say, k.person, k.out
	say("", "running: After 24,000 steps")
	say("ratio 0.75", "#1 r ratio 0.5 → 0.75")
	say("F td", "type now or !: now")
	say("esc", "do not apply")
	say("note the reward grows", "noted")
	say("guidance 99", "out of range")
	say("stage guidance 3", "128 rows")
	io.WriteString(person, "drop\n")
	say("lesson guidance", "step 1 of 7")
	io.WriteString(person, "\n")
	say("", "step 3 of 7")
	say("esc", "the lesson is over")
	say("runs", "TOUCHED ×1")
	say("pause", "pause   by screen")
	say("quit", "leave it training")
	k.leave()
	if strings.ContainsAny(out.text(), "\x1b\r") {
		t.Errorf("control characters in %q", out.text())
	}
	golden(t, "plain", out.text())
}

// Two screens that begin in the same second give their changes different names, as lines too: else each
// takes the other's for its own.
func TestServedScreensHaveNamesOfTheirOwn(t *testing.T) {
	f := newFake()
	f.advance(24_000)
	now := time.Date(2026, 11, 21, 12, 10, 0, 0, time.UTC)
	for _, line := range []string{"utd 3\n", "utd 4\n"} {
		o := Options{Plain: true, About: pane.About{Config: fakeConfig()}, Clock: func() time.Time { return now }, Start: func() (pane.Lab, error) { return f, nil }}
		if _, err := Serve(t.Context(), o, Viewer{Input: strings.NewReader(line), Output: io.Discard, Environ: environment{}}); err != nil {
			t.Fatal(err)
		}
	}
	var ids []string
	for _, c := range f.commands {
		if c, is := c.(event.SetKnob); is {
			ids = append(ids, c.ID)
		}
	}
	if len(ids) != 2 || ids[0] == ids[1] {
		t.Errorf("the changes are named %q", ids)
	}
}

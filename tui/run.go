package tui

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"golang.org/x/term"

	"pgrlab/core/run"
)

// Outcome says how the screen ended. The run goes on unless the person asked for a stop: the
// terminal is a view, never the owner.
type Outcome int

// The ways in which a screen ends.
const (
	Detached             Outcome = iota // the person left; the run goes on, or had ended
	StopRequested                       // the person asked to stop and save; lab.Stop was sent if the lab had room for it
	StopAllRequested                    // the same, including the children of the run's forks
	FirstScreenRequested                // the run is over, and the person wants to choose another one
	ReportRequested                     // the run is over, and the person wants its report
	HungUp                              // the terminal went away; the run goes on
	Cancelled                           // the context ended
	Failed                              // starting or drawing failed; the error says why
)

// String names the outcome.
func (o Outcome) String() string {
	switch o {
	case Detached:
		return "detached"
	case StopRequested:
		return "stop requested"
	case StopAllRequested:
		return "stop of all requested"
	case FirstScreenRequested:
		return "first screen requested"
	case ReportRequested:
		return "report requested"
	case HungUp:
		return "hung up"
	case Cancelled:
		return "cancelled"
	case Failed:
		return "failed"
	default:
		return fmt.Sprintf("Outcome(%d)", int(o))
	}
}

// framesPerSecond is how often changed lines may be written. Charts move at the
// poll's 5 Hz; keys must show within 100 ms.
const framesPerSecond = 20

// grace is how long a closing screen may take before the terminal is restored
// without it: a stalled terminal blocks its last write for ever.
const grace = 2 * time.Second

// Run shows the screen on the terminal until the person leaves, the terminal hangs up or ctx ends.
// It restores the terminal, also after a panic of the screen. After HungUp it ignores further
// hang-up signals, so that the process can go on training.
func Run(ctx context.Context, o Options) (Outcome, error) {
	in, out := o.terminal()
	if o.Plain || os.Getenv("TERM") == "dumb" {
		return runPlain(ctx, o, in, out)
	}
	before, err := term.GetState(int(in.Fd()))
	if err != nil {
		return Failed, errNoTerminal
	}
	defer term.Restore(int(in.Fd()), before)

	hangup := newOnce()
	stop := onHangup(hangup)
	defer stop()

	m := New(o)
	m.setLink(&link{})
	m.applySettings()
	frames := &frames{to: out, lost: hangup.do, link: m.headline.link}
	m.showPictures(ctx, frames, os.Getenv("TERM"), func() image.Point { return cellOf(out) })
	if c, err := startCapture(o); err == nil { // on an error stderr stays on the terminal
		m.stderr = c
		defer c.stop()
	}
	program := newProgram(m, &screenInput{File: in, lost: hangup.do, asker: m.pictures.asker}, &screenOutput{out, frames})
	defer leaveOn(program, o.Leave)()
	outcome, err := m.outcome(hangup.happened, ctx, runUntil(ctx, program, hangup), out)
	if outcome == HungUp {
		signal.Ignore(syscall.SIGHUP)
	} else {
		m.pictures.Settle(in)
	}
	return outcome, err
}

// newProgram is the Bubble Tea program of a screen on any terminal.
func newProgram(m *Model, in io.Reader, out io.Writer, more ...tea.ProgramOption) *tea.Program {
	return tea.NewProgram(m, append([]tea.ProgramOption{
		tea.WithAltScreen(), tea.WithFPS(framesPerSecond),
		tea.WithoutSignalHandler(), tea.WithoutCatchPanics(),
		tea.WithInput(in), tea.WithOutput(out)}, more...)...)
}

// leaveOn makes a program leave whenever asked delivers, until stop is called.
func leaveOn(program *tea.Program, asked <-chan struct{}) (stop func()) {
	quit := make(chan struct{})
	go func() {
		for {
			select {
			case <-asked:
				program.Send(leaveNow{}) // returns at once when the program has ended
			case <-quit:
				return
			}
		}
	}()
	return func() { close(quit) }
}

// runUntil runs a program until it ends by itself, its terminal hangs up or ctx ends.
func runUntil(ctx context.Context, program *tea.Program, hangup *once) error {
	ended := make(chan error, 1)
	go func() { ended <- runProgram(program) }()
	select {
	case err := <-ended:
		return err
	case <-hangup.done:
	case <-ctx.Done():
	}
	return quit(program, ended)
}

// runProgram turns a panic inside the event loop into an error; the commands of this screen catch
// their own panics.
func runProgram(p *tea.Program) (err error) {
	defer func() {
		if r := recover(); r != nil {
			p.Kill()
			err = &panicError{value: r, stack: debug.Stack()}
		}
	}()
	_, err = p.Run()
	return err
}

// panicError is a panic of the screen with the place where it happened.
type panicError struct {
	value any
	stack []byte
	saved string // where the run was last saved; "": nowhere yet
	trace string // the file that the stack was written to; "": none
}

func (e *panicError) Error() string {
	text := fmt.Sprintf("draw the screen: panic: %v", e.value)
	if e.saved != "" {
		text += "; the run was saved last in " + e.saved
	}
	if e.trace == "" {
		return text + "\n" + string(e.stack)
	}
	return text + "; the stack is in " + e.trace
}

// keep writes the stack into the run folder, for the person who will fix the bug.
func (e *panicError) keep(folder string) {
	if folder == "" {
		return
	}
	const name = "screen-panic.txt"
	if err := run.ReplaceFile(folder, name, fmt.Appendf(nil, "panic: %v\n%s", e.value, e.stack)); err == nil {
		e.trace = filepath.Join(folder, name)
	}
}

// RestoreSequence undoes what the screen did to a terminal whose program can no longer do so:
// synchronized output, alternate screen, hidden cursor, bracketed paste.
const RestoreSequence = endUpdate + "\x1b[?1002l\x1b[?1006l\x1b[?1049l\x1b[?25h\x1b[?2004l\x1b[0m"

// EnterSequence sets up a terminal for a screen again after RestoreSequence: alternate screen, no
// cursor, bracketed paste.
const EnterSequence = "\x1b[?1049h\x1b[?25l\x1b[?2004h"

// outcome derives the Outcome from the end of the program. After a hang-up or the end of ctx the
// program may still use the model, so outcome does not read it then.
func (m *Model) outcome(hungUp func() bool, ctx context.Context, err error, out io.Writer) (Outcome, error) {
	var p *panicError
	switch {
	case errors.As(err, &p):
		fmt.Fprint(out, RestoreSequence)
		return Failed, m.fell(p)
	case hungUp():
		return HungUp, nil
	case ctx.Err() != nil:
		return Cancelled, nil
	case m.startErr != nil:
		return Failed, m.startErr
	case err != nil:
		return Failed, fmt.Errorf("draw the screen: %w", err)
	case m.leaving.next != Detached:
		return m.leaving.next, nil
	case m.leaving.stopAll:
		return StopAllRequested, nil
	case m.leaving.stopRequested:
		return StopRequested, nil
	default:
		return Detached, nil
	}
}

// fell completes the error of a screen that a panic has ended: nothing else reads the model then.
func (m *Model) fell(e *panicError) error {
	e.keep(m.About.Folder)
	e.saved = m.savedLast()
	return e
}

// savedLast is where the run was last saved, as far as the screen knows.
func (m *Model) savedLast() string {
	if m.History.Saved == "" {
		return ""
	}
	return filepath.Join(m.About.Folder, m.History.Saved)
}

// quit ends the program in order, but does not wait for ever: a stalled terminal blocks the last
// write.
func quit(program *tea.Program, ended <-chan error) error {
	go program.Quit() // blocks as long as the event loop does
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case err := <-ended:
		return err
	case <-t.C:
		program.Kill()
		return nil
	}
}

// onHangup calls o.do on SIGHUP until stop is called.
func onHangup(o *once) (stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	quit := make(chan struct{})
	go func() {
		select {
		case <-c:
			o.do(errors.New("hang-up signal"))
		case <-quit:
		}
	}()
	return func() {
		signal.Stop(c)
		close(quit)
	}
}

// once remembers the first hang-up, whichever part sees it.
type once struct {
	first sync.Once
	done  chan struct{}
}

func newOnce() *once { return &once{done: make(chan struct{})} }

func (o *once) do(error) { o.first.Do(func() { close(o.done) }) }

func (o *once) happened() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sort"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
	"golang.org/x/term"

	"pgrlab/core/printable"
	"pgrlab/tui/format"
	"pgrlab/tui/history"
	"pgrlab/tui/lesson"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// plainEvery is the time between two unrequested status lines.
const plainEvery = time.Minute

// plain is the screen as lines, for screen readers, for logs and for terminals without a cursor. It
// writes each thing that happens once, below what was written before. Its commands are those of the
// palette, one a line.
type plain struct {
	*Model
	out     io.Writer
	printed int                                     // number of the last event line written
	states  map[*history.Change]history.ChangeState // states of changes, as written
	said    time.Time                               // when the last status was written
	asked   *pane.Dialog                            // the open dialog, as written
	entered *pane.Entry                             // the open text entry, as written
	taught  teaching                                // the lesson's state, as written
	seen    string                                  // the question whose answer was written last
	staging string                                  // the staged values, as written
	quit    bool
	person  bool     // types at a terminal
	waits   bool     // the run has ended, and a person has been asked what next
	alone   bool     // the input has ended
	drawn   []string // commands that only change what a screen draws
}

// teaching is where a lesson is.
type teaching struct {
	lesson *lesson.Lesson
	at     int
	part   lesson.LessonPart
}

// runPlain shows a run as lines until the input ends, a command leaves or ctx ends. A run has begun
// before the end of its input leaves it, and a replay from a pipe or file goes on to its own end.
// A panic ends the lines with an error, not the run.
func runPlain(ctx context.Context, o Options, in io.Reader, out io.Writer) (outcome Outcome, err error) {
	p := newPlain(o, in, out)
	defer func() {
		if r := recover(); r != nil {
			outcome, err = Failed, p.fell(&panicError{value: r, stack: debug.Stack()})
		}
	}()
	return p.talk(ctx, in)
}

func newPlain(o Options, in io.Reader, out io.Writer) *plain {
	out = printable.NewWriter(out)
	r := lipgloss.NewRenderer(out)
	r.SetColorProfile(termenv.Ascii)
	o.Renderer, o.Picker = r, nil
	p := &plain{Model: New(o), out: out, states: map[*history.Change]history.ChangeState{}}
	if f, is := in.(*os.File); is {
		p.person = term.IsTerminal(int(f.Fd()))
	}
	p.onlyLines()
	p.w, p.h = 200, 50
	p.Relayout()
	return p
}

// talk takes lines and writes what happens.
func (p *plain) talk(ctx context.Context, in io.Reader) (Outcome, error) {
	messages := make(chan tea.Msg, 16)
	p.do(ctx, p.start(), messages)
	lines := readLines(ctx, in)
	room := linesAtOnce
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	fmt.Fprintln(p.out, "pgrlab, one line per event. Type help, status, guidance 3, runs, lesson guidance, note TEXT, quit.")
	for !p.quit {
		if p.alone && p.leavable() && ctx.Err() == nil { // what ends the program may end its input too
			return HungUp, nil
		}
		if p.overWithRun() {
			p.poll() // its last lines may have come after those that were read, before its end was
			p.write()
			return Detached, nil
		}
		input := lines
		if room == 0 || !p.person && p.Lab == nil {
			input = nil // the commands of a file are for the run, which has not begun
		}
		select {
		case <-ctx.Done():
			p.poll() // the last lines, of the run's end for instance
			p.write()
			return Cancelled, nil
		case <-p.options.Leave:
			p.do(ctx, p.leaving.suspend(), messages)
		case line, open := <-input:
			if !open {
				lines, p.alone = nil, true
				break
			}
			room--
			if line.err != nil {
				fmt.Fprintln(p.out, line.err)
				break
			}
			p.do(ctx, p.typed(line.text), messages)
			p.poll() // what the lab answers at once stands below the command
		case msg := <-messages:
			if _, ok := msg.(tea.QuitMsg); ok {
				p.quit = true
				break
			}
			_, cmd := p.Update(msg)
			p.do(ctx, cmd, messages)
		case <-tick.C:
			room = linesAtOnce
			p.poll()
			p.do(ctx, p.takeLater(), messages) // starts the children that a checkpoint was made for
			p.do(ctx, p.fans.ReadJournals(), messages)
		}
		p.write()
	}
	switch {
	case p.startErr != nil:
		return Failed, p.startErr
	case p.leaving.stopAll:
		return StopAllRequested, nil
	case p.leaving.stopRequested:
		return StopRequested, nil
	default:
		return Detached, nil
	}
}

// do runs a command of the model outside the loop.
func (p *plain) do(ctx context.Context, cmd tea.Cmd, messages chan<- tea.Msg) {
	if cmd == nil {
		return
	}
	go func() {
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				p.do(ctx, c, messages)
			}
		default:
			select {
			case messages <- msg:
			case <-ctx.Done():
			}
		}
	}()
}

// typed takes a line of input: the answer to an open question, or a command.
func (p *plain) typed(line string) tea.Cmd {
	line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), ":"))
	if p.dialog != nil {
		if key, is := meant(p.dialog, line); is {
			p.asked = nil
			return p.answer(key)
		}
	}
	if p.inform(line) {
		p.asked, p.entered = nil, nil // a question still open is asked again below
		return nil
	}
	if p.dialog != nil {
		fmt.Fprintf(p.out, "%q is no answer to the question, which is still open: %s\n", line, spelled(p.dialog))
		return nil
	}
	if p.entry != nil {
		return tea.Batch(p.fill(line), p.takeLater())
	}
	if pane.Escapes(line) && p.lessons.Given() && p.Snap != nil && p.Snap.Ground == nil {
		p.ground.Dismiss() // its answer is written, and there is no box to close before the lesson is left
	}
	if key := line; p.lessons.Lesson != nil {
		if key == "" {
			key = "enter"
		}
		if cmd, taken := p.lessons.Key(key); taken {
			return cmd
		}
	}
	cmd := p.run(line)
	return tea.Batch(cmd, p.takeLater())
}

// fill takes a line for the open text entry; an empty one takes the text that it proposes.
func (p *plain) fill(line string) tea.Cmd {
	e := p.entry
	switch {
	case pane.Escapes(line):
		p.entry = nil
		return nil
	case line == "":
		line = e.Text()
	}
	if e.Refuses(line) {
		fmt.Fprintln(p.out, e.Wrong())
		p.entered = nil // it is asked again
		return nil
	}
	p.entry = nil
	return e.Submit(line)
}

// lines writes lines without the spaces at their ends.
func (p *plain) lines(lines []string) {
	for _, l := range lines {
		fmt.Fprintln(p.out, strings.TrimRight(l, " "))
	}
}

// writeLesson writes what a lesson says now, unless it was written already.
func (p *plain) writeLesson() {
	now := teaching{}
	if p.lessons.Lesson != nil {
		now = teaching{p.lessons.Lesson, p.lessons.Lesson.At, p.lessons.Lesson.Part}
	}
	if now == p.taught {
		return
	}
	before := p.taught
	p.taught = now
	if p.lessons.Lesson == nil {
		fmt.Fprintln(p.out, "the lesson is over")
		return
	}
	text := p.lessons.Text(98)
	if now.lesson != before.lesson || now.at != before.at {
		fmt.Fprintf(p.out, "lesson %s, step %d of %d\n", p.Spelled(p.lessons.Lesson.Title), p.lessons.Lesson.At+1, len(p.lessons.Lesson.Steps))
	} else if said := p.lessons.Lesson.Step().Say; said != "" { // it was written a moment ago
		text = text[len(theme.Wrap(p.Spelled(said), 98)):]
	}
	for _, l := range text {
		fmt.Fprintln(p.out, "  "+strings.TrimRight(l, " "))
	}
	fmt.Fprintln(p.out, "  type "+p.lessons.KeyHints(90))
}

// writePreview writes the effect of a staged value once it is known.
func (p *plain) writePreview() {
	if a := p.steering.Preview.Answer; a == nil || a.More { // a new question; the answer to the old one may come again
		p.seen = ""
		return
	}
	if text := p.steering.PreviewText(); text != "" && p.seen != p.steering.StagedText() {
		p.seen = p.steering.StagedText()
		fmt.Fprintln(p.out, p.seen+": "+p.Spelled(text))
	}
}

// skip counts what happened up to a step as written.
func (p *plain) skip(step int) {
	for _, l := range p.History.Lines {
		if l.Step > step {
			break
		}
		p.printed = l.Number
		if l.Change != nil {
			p.states[l.Change] = l.Change.State
		}
	}
}

// unwritten are the lines that are not written yet.
func (p *plain) unwritten() []history.EventLine {
	all := p.History.Lines
	return all[sort.Search(len(all), func(i int) bool { return all[i].Number > p.printed }):]
}

// write brings the output up to date with what happened.
func (p *plain) write() {
	if p.printed == 0 && p.options.Seen > 0 {
		p.skip(p.options.Seen)
	}
	for _, l := range p.unwritten() {
		p.printed = l.Number
		if l.Change == nil {
			fmt.Fprintln(p.out, strings.TrimRight(p.events.EventText(l, 1000, 1)[0], " "))
		}
	}
	for _, l := range p.History.Lines {
		c := l.Change
		if c == nil {
			continue
		}
		if state, ok := p.states[c]; !ok || state != c.State {
			p.states[c], l.Wall = c.State, c.Wall
			fmt.Fprintln(p.out, strings.TrimRight(p.events.EventText(l, 1000, 1)[0], " "))
		}
	}
	if text := p.steering.StagedText(); text != p.staging {
		if p.staging = text; text != "" && p.lessons.Lesson == nil {
			fmt.Fprintln(p.out, "staged "+p.steering.StagedEffect()+"; type apply, now, fork or drop")
		}
	}
	p.writePreview()
	p.writeLesson()
	if p.steering.Message != "" {
		fmt.Fprintln(p.out, p.steering.Message)
		p.steering.Message = ""
	}
	if p.message != "" {
		fmt.Fprintln(p.out, p.message)
		p.message = ""
	}
	p.writeQuestion()
	if p.Snap != nil && p.Now().Sub(p.said) >= plainEvery && !p.Paused() {
		p.status()
	}
}

// writeQuestion writes an open dialog or text entry, unless it was written already.
func (p *plain) writeQuestion() {
	if d := p.dialog; d != nil && d != p.asked {
		p.asked = d
		fmt.Fprintln(p.out, d.Title)
		for _, l := range d.Lines {
			fmt.Fprintln(p.out, "  "+l)
		}
		for _, c := range d.Choices {
			fmt.Fprintf(p.out, "  type %s: %s\n", typed(c), c.Text())
		}
		for _, l := range d.Below {
			fmt.Fprintln(p.out, "  "+l)
		}
	}
	if e := p.entry; e != nil && e != p.entered {
		p.entered = e
		proposed := ""
		if e.Text() != "" {
			proposed = ", an empty line for " + e.Text()
		}
		fmt.Fprintf(p.out, "%s(type it%s, or esc)\n", e.Prompt(), proposed)
	}
}

// status writes in one line where the run stands.
func (p *plain) status() {
	p.said = p.Now()
	if p.Snap == nil {
		fmt.Fprintln(p.out, "starting")
		return
	}
	text := p.Snap.State.String() + ": " + p.Spelled(p.sentence.Text())
	if p.Snap.Phase != 0 && p.Snap.PhaseTotal > 1 {
		text += fmt.Sprintf(" Now %s, %s of %s.", p.Snap.Doing(), format.Count(p.Snap.PhaseDone), format.Count(p.Snap.PhaseTotal))
	}
	if c := p.About.Config; c.Sees() {
		text += fmt.Sprintf(" Step %s is frame %s of the task.", format.Count(p.Snap.Step), format.Count(c.Frames(p.Snap.Step)))
	}
	if n := len(p.History.Evaluations); n > 0 {
		if said := p.charts.GhostSaid(p.History.Evaluations[n-1]); said != "" {
			text += " The last return is " + said + "."
		}
	}
	if p.Snap.ETA > 0 {
		text += " " + format.Duration(p.Snap.ETA) + " to go"
		if p.Snap.ETALeast {
			text += ", and refits"
		}
		text += "."
	}
	fmt.Fprintln(p.out, text)
}

// errNoTerminal says that there is no terminal to show a screen on.
var errNoTerminal = errors.New("open the screen: standard input is no terminal; use pgrlab train, or --plain")

package terminal

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"pgrlab/core/event"
	"pgrlab/core/printable"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/format"
)

// A Progress writes what a headless run does to stderr: one line per evaluation and other event. On
// a terminal there is also one line that is rewritten; elsewhere a plain status line is written
// every half minute.
type Progress struct {
	w      io.Writer
	screen io.Writer                  // the raw w if it is a terminal; else nil
	size   func() (columns, rows int) // of the terminal now; 0: unknown
	last   time.Time                  // time of the last plain line
	open   bool                       // a rewritten line is shown
	block  int                        // number of rewritten lines shown
	events int                        // number of events written so far
	step   int                        // of the last of them
}

const plainEvery = 30 * time.Second

// watched is what progress needs of a lab.
type watched interface {
	Snapshot() *event.Snapshot
	Events(from int) []event.Event
}

// Tick shows the present state; it is called a few times a second at most.
func (p *Progress) Tick(l watched, now time.Time) {
	p.Drain(l)
	s := l.Snapshot()
	if s.Step >= p.step && p.Due(now) { // an older state, after a later event, would look like a step back
		p.Rewrite(statusLine(s))
	}
}

// Due says whether it is time to show the progress of work: on a terminal always, elsewhere when
// the last plain line is old enough.
func (p *Progress) Due(now time.Time) bool {
	if p.screen == nil && now.Sub(p.last) < plainEvery {
		return false
	}
	p.last = now
	return true
}

// screenEvery is the shortest time between two rewritten lines of fast work.
const screenEvery = 200 * time.Millisecond

// Every is the shortest time between two lines of such work.
func (p *Progress) Every() time.Duration {
	if p.screen != nil {
		return screenEvery
	}
	return plainEvery
}

// Bytes returns a function that shows how much of so many bytes some work has done, once it takes longer than a second.
func (p *Progress) Bytes(does string) func(done, total int64) {
	last, wait := time.Now(), time.Second
	return func(done, total int64) {
		if now := time.Now(); now.Sub(last) >= wait {
			p.Rewrite(fmt.Sprintf("%s %s of %s", does, cli.Size(done), cli.Size(total)))
			last, wait = now, p.Every()
		}
	}
}

// Rewrite shows the progress of work: in place on a terminal, as a line of its own elsewhere.
func (p *Progress) Rewrite(text string) {
	if p.screen == nil {
		fmt.Fprintln(p.w, printable.Line(text))
		return
	}
	columns, _ := p.size()
	fmt.Fprintf(p.screen, "\r\x1b[K%s", printable.Line(cut(text, columns)))
	p.open = true
}

// RewriteAll shows a block of lines in place on a terminal; elsewhere it writes only the last of
// them, as a line of its own.
func (p *Progress) RewriteAll(lines []string) {
	if p.screen == nil {
		fmt.Fprintln(p.w, printable.Line(lines[len(lines)-1]))
		return
	}
	p.Clear()
	columns, rows := p.size()
	lines = fit(lines, rows)
	for _, text := range lines {
		fmt.Fprintln(p.w, printable.Line(cut(text, columns)))
	}
	p.block = len(lines)
}

// cut leaves a line's last column free, so that the terminal does not wrap it.
func cut(text string, columns int) string {
	if all := []rune(text); columns > 0 && len(all) >= columns {
		return string(all[:columns-1])
	}
	return text
}

// fit leaves out lines of a block that is too high: the cursor cannot return to lines that have left
// the screen. The last line, which is the summary, stays.
func fit(lines []string, rows int) []string {
	room := max(2, rows-2)
	if rows == 0 || len(lines) <= room {
		return lines
	}
	shown := room - 2
	more := fmt.Sprintf("and %d more", len(lines)-1-shown)
	return append(slices.Clone(lines[:shown]), more, lines[len(lines)-1])
}

// Clear removes the rewritten lines.
func (p *Progress) Clear() {
	if p.block > 0 {
		fmt.Fprintf(p.screen, "\r\x1b[%dA\x1b[J", p.block)
		p.block = 0
	}
	if p.open {
		fmt.Fprint(p.screen, "\r\x1b[K")
		p.open = false
	}
}

// Say writes a line of its own, after removing the rewritten one.
func (p *Progress) Say(text string) {
	p.Clear()
	fmt.Fprintln(p.w, printable.Line(text))
}

// Skip leaves out the events before n, which were shown already.
func (p *Progress) Skip(n int) { p.events = n }

// Drain writes the events that have come since the last call.
func (p *Progress) Drain(l watched) {
	members := l.Snapshot().Members
	for _, e := range l.Events(p.events) {
		p.events = e.Index + 1
		if text := eventLine(e, members); text != "" {
			p.Say(text)
			p.step = e.Step
		}
	}
}

// statusLine is the state of a run, the most important part first: it may be cut.
func statusLine(s *event.Snapshot) string {
	var b strings.Builder
	if s.Dreams {
		fmt.Fprintf(&b, "generation %d", max(1, s.Step))
	} else {
		fmt.Fprintf(&b, "step %d/%d", s.Step, s.Steps)
	}
	if s.Steps > 0 && !s.Dreams {
		fmt.Fprintf(&b, " %d%%", 100*s.Step/s.Steps)
	}
	fmt.Fprintf(&b, "  %s", s.Doing())
	if s.PhaseTotal > 0 {
		fmt.Fprintf(&b, " %d/%d", s.PhaseDone, s.PhaseTotal)
		if s.Dreams && s.PhaseETA > 0 {
			fmt.Fprintf(&b, "  %s to go", Clock(s.PhaseETA))
		}
	}
	if s.StepsPerSec > 0 {
		fmt.Fprintf(&b, "  %s steps/s", format.Rate(s.StepsPerSec))
	}
	if s.UpdatesPerSec > 0 {
		fmt.Fprintf(&b, "  %s updates/s", format.Rate(s.UpdatesPerSec))
	}
	if s.ETA > 0 {
		fmt.Fprintf(&b, "  eta %s", Clock(s.ETA))
		if s.ETALeast {
			b.WriteString(" and refits")
		}
	}
	return b.String()
}

// Clock writes a duration as 1:02:03, 2:03 or 3s.
func Clock(d time.Duration) string {
	d = d.Round(time.Second)
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	switch {
	case h > 0:
		return fmt.Sprintf("%d:%02d:%02d", h, m, s)
	case m > 0:
		return fmt.Sprintf("%d:%02d", m, s)
	}
	return fmt.Sprintf("%ds", s)
}

// Offer hands a line to the reader if there is room: it never waits for a terminal.
func Offer(c chan<- string, text string) {
	select {
	case c <- text:
	default:
	}
}

// NewProgress writes to w, in place if w is a terminal.
func NewProgress(w io.Writer) *Progress {
	p := &Progress{w: w}
	if f, ok := cli.Raw(w).(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.screen = f
		p.size = func() (columns, rows int) {
			columns, rows, _ = term.GetSize(int(f.Fd()))
			return columns, rows
		}
	}
	return p
}

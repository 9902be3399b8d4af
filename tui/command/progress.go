package command

import (
	"fmt"
	"io"
	"strings"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/printable"
)

// A progress writes what a headless run does to stderr: one line per
// evaluation and other event, and between them, on a terminal, one line that is
// rewritten. Without a terminal that line is a plain one every half minute.
type progress struct {
	w      io.Writer
	screen io.Writer // w where it is a terminal, as it is; else nil
	width  int       // of the terminal; 0 unknown
	last   time.Time // of the plain line
	open   bool      // a rewritten line stands
	events int       // events already written
}

const plainEvery = 30 * time.Second

// watched is what progress needs of a lab.
type watched interface {
	Snapshot() *event.Snapshot
	Events(from int) []event.Event
}

// tick shows the present state; called a few times a second at most.
func (p *progress) tick(l watched, now time.Time) {
	p.drain(l)
	s := l.Snapshot()
	if p.screen != nil || now.Sub(p.last) >= plainEvery {
		p.last = now
		p.rewrite(statusLine(s))
	}
}

// screenEvery is the least time between two rewritten lines of work that is faster.
const screenEvery = 200 * time.Millisecond

// every is the least time between two lines of such work.
func (p *progress) every() time.Duration {
	if p.screen != nil {
		return screenEvery
	}
	return plainEvery
}

// rewrite shows where work stands: in place on a terminal, as a line of its own
// elsewhere.
func (p *progress) rewrite(text string) {
	if p.screen == nil {
		fmt.Fprintln(p.w, printable.Line(text))
		return
	}
	if p.width > 0 && len([]rune(text)) >= p.width {
		text = string([]rune(text)[:p.width-1])
	}
	fmt.Fprintf(p.screen, "\r\x1b[K%s", printable.Line(text))
	p.open = true
}

// clear takes the rewritten line away.
func (p *progress) clear() {
	if p.open {
		fmt.Fprint(p.screen, "\r\x1b[K")
		p.open = false
	}
}

// say writes a line of its own, clear of the rewritten one.
func (p *progress) say(text string) {
	p.clear()
	fmt.Fprintln(p.w, printable.Line(text))
}

// drain writes the events that have come since the last call.
func (p *progress) drain(l watched) {
	members := l.Snapshot().Members
	for _, e := range l.Events(p.events) {
		p.events = e.Index + 1
		if text := eventLine(e, members); text != "" {
			p.say(text)
		}
	}
}

// statusLine is where a run stands, most important first: it may be cut.
func statusLine(s *event.Snapshot) string {
	var b strings.Builder
	fmt.Fprintf(&b, "step %d/%d", s.Step, s.Steps)
	if s.Steps > 0 {
		fmt.Fprintf(&b, " %d%%", 100*s.Step/s.Steps)
	}
	fmt.Fprintf(&b, "  %s", s.Phase)
	if s.PhaseTotal > 0 {
		fmt.Fprintf(&b, " %d/%d", s.PhaseDone, s.PhaseTotal)
	}
	if s.StepsPerSec > 0 {
		fmt.Fprintf(&b, "  %.0f steps/s", s.StepsPerSec)
	}
	if s.UpdatesPerSec > 0 {
		fmt.Fprintf(&b, "  %.0f updates/s", s.UpdatesPerSec)
	}
	if s.ETA > 0 {
		fmt.Fprintf(&b, "  eta %s", clock(s.ETA))
	}
	return b.String()
}

// clock writes a duration as 1:02:03, 2:03 or 3s.
func clock(d time.Duration) string {
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

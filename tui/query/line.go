package query

import (
	"bytes"
	"regexp"
	"sync"
	"time"
)

// Line watches the bytes between a program elsewhere and a terminal, in both directions, and knows
// from them whether the program still waits for an answer.
type Line struct {
	mu       sync.Mutex
	now      func() time.Time
	asked    time.Time // the last question
	due      int       // questions that have no answer yet
	sent     ending
	received ending
}

// NewLine is a Line on which nothing has passed yet; now is the clock.
func NewLine(now func() time.Time) *Line { return &Line{now: now} }

var (
	question   = regexp.MustCompile(`\x1b\[c`)
	attributes = regexp.MustCompile(`\x1b\[\?[0-9;]*c`)
)

// Sent notes bytes that go to the terminal.
func (l *Line) Sent(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := l.sent.count(p, question); n > 0 {
		l.due += n
		l.asked = l.now()
	}
}

// Received notes bytes that come from the terminal.
func (l *Line) Received(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.due = max(0, l.due-l.received.count(p, attributes))
}

// Open is how much longer to wait for an answer; 0: none is due.
func (l *Line) Open() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.due == 0 {
		return 0
	}
	return max(0, Patience-l.now().Sub(l.asked))
}

// OnlyAnswers returns the answers among the bytes that a terminal has sent.
func OnlyAnswers(p []byte) []byte { return bytes.Join(answer.FindAll(p, -1), nil) }

// ending is the end of what has passed, from an escape on that may begin a sequence.
type ending []byte

// count returns how many times a sequence has been completed by p.
func (e *ending) count(p []byte, sequence *regexp.Regexp) int {
	all := append(*e, p...)
	found := sequence.FindAllIndex(all, -1)
	*e = nil
	at := bytes.LastIndexByte(all, 0x1b)
	if at >= 0 && len(all)-at <= longest && (len(found) == 0 || found[len(found)-1][0] < at) {
		*e = bytes.Clone(all[at:])
	}
	return len(found)
}

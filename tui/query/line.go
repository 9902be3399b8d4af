package query

import (
	"bytes"
	"regexp"
	"sync"
	"time"
)

// Line knows of a terminal that a program somewhere else asks whether an answer is due, from
// what passes in both directions.
type Line struct {
	mu    sync.Mutex
	now   func() time.Time
	asked time.Time // the last question
	due   int       // questions that are not answered
	sent  ending
	heard ending
}

// NewLine has passed nothing on yet; now is the clock.
func NewLine(now func() time.Time) *Line { return &Line{now: now} }

var (
	question   = regexp.MustCompile(`\x1b\[c`)
	attributes = regexp.MustCompile(`\x1b\[\?[0-9;]*c`)
)

// Sent takes what is sent to the terminal.
func (l *Line) Sent(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := l.sent.count(p, question); n > 0 {
		l.due += n
		l.asked = l.now()
	}
}

// Heard takes what the terminal has sent.
func (l *Line) Heard(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.due = max(0, l.due-l.heard.count(p, attributes))
}

// Open is how much longer an answer is to be waited for; 0: none is due.
func (l *Line) Open() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.due == 0 {
		return 0
	}
	return max(0, Patience-l.now().Sub(l.asked))
}

// OnlyAnswers are the answers among what a terminal has sent.
func OnlyAnswers(p []byte) []byte { return bytes.Join(answer.FindAll(p, -1), nil) }

// ending is what passed last, from an escape on that begins something.
type ending []byte

// count is how often a sequence has passed with p.
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

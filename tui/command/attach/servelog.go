package attach

import (
	"fmt"
	"io"
	"sync"
	"time"

	"pgrlab/core/printable"
)

// serverLog writes lines to a terminal that may take none for a while, as after ctrl-s: visitors do not
// wait for it.
type serverLog struct {
	mu      sync.Mutex
	lines   chan string
	over    bool
	left    int           // lines that are left out
	written chan struct{} // closed after the last line
}

const (
	// mostUnwritten is how many lines wait for the terminal.
	mostUnwritten = 1000
	// lastLines is how long the last lines may take.
	lastLines = time.Second
)

func newServerLog(w io.Writer) *serverLog {
	l := &serverLog{lines: make(chan string, mostUnwritten), written: make(chan struct{})}
	go func() {
		defer close(l.written)
		for line := range l.lines {
			fmt.Fprintln(w, line)
		}
	}()
	return l
}

// say adds a line, or leaves it out if too many wait.
func (l *serverLog) say(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return
	}
	if l.left > 0 && l.add(fmt.Sprintf("%d lines are left out here: this terminal took none", l.left)) {
		l.left = 0
	}
	if !l.add(line) {
		l.left++
	}
}

func (l *serverLog) add(line string) bool {
	select {
	case l.lines <- time.Now().Format(time.TimeOnly) + " " + printable.Line(line):
		return true
	default:
		return false
	}
}

// end writes the lines that wait, if the terminal takes them.
func (l *serverLog) end() {
	l.mu.Lock()
	l.over = true
	close(l.lines)
	l.mu.Unlock()
	select {
	case <-l.written:
	case <-time.After(lastLines):
	}
}

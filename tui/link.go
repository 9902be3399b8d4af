package tui

import (
	"sync"
	"time"
)

// slow is how long writing one frame may take on average before the screen polls the run less
// often.
const slow = 60 * time.Millisecond

// link is what is known of the line to the terminal: how long writing to it takes. A terminal or a
// connection whose buffers are full makes writes wait.
type link struct {
	mu    sync.Mutex
	took  time.Duration // average time of a write
	bytes int64
	shown time.Duration // pace at the last call of changedPace
}

// wrote notes one write.
func (l *link) wrote(n int, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bytes += int64(n)
	l.took += (took - l.took) / 4
}

// longestPace is the longest time between two frames, however slow the line is.
const longestPace = 3 * time.Second

// pace is the shortest time between two polls that the line can carry: three times what a frame
// takes to write, so that keys find the line free.
func (l *link) pace() time.Duration {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.took < slow {
		return 0
	}
	return min(longestPace, 3*l.took)
}

// changedPace says whether the pace has changed since the last call.
func (l *link) changedPace() bool {
	if l == nil {
		return false
	}
	pace := l.pace().Round(100 * time.Millisecond)
	l.mu.Lock()
	defer l.mu.Unlock()
	changed := pace != l.shown
	l.shown = pace
	return changed
}

// used returns how many bytes were written and how long a write takes.
func (l *link) used() (bytes int64, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bytes, l.took
}

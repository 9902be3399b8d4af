package outside

import (
	"bytes"
	"os"
	"strings"
	"sync"

	"pgrlab/core/printable"
)

const (
	maxLog  = 1 << 20  // bytes of the file
	logTail = 64 << 10 // bytes that are kept in memory
)

// logbook keeps what programs write to standard error: the end of it in memory, and up to maxLog bytes in a file.
type logbook struct {
	mu   sync.Mutex
	tail []byte
	path string
	file *os.File
	size int
}

// Write never fails: that a log cannot be written ends no run.
func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail = append(l.tail, p...)
	if extra := len(l.tail) - logTail; extra > 0 {
		l.tail = append(l.tail[:0], l.tail[extra:]...)
	}
	l.toFile(p)
	return len(p), nil
}

// toFile appends to the file. A file that has become too long begins again with the end of it.
func (l *logbook) toFile(p []byte) {
	if l.file == nil {
		return
	}
	if l.size+len(p) > maxLog {
		l.file.Truncate(0)
		p, l.size = l.tail, 0
	}
	n, _ := l.file.Write(p)
	l.size += n
}

// keepIn makes a file the log from now on; what is in memory comes first.
func (l *logbook) keepIn(path string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if path == l.path {
		return nil
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	if info, err := file.Stat(); err == nil {
		l.size = int(info.Size())
	}
	if l.file != nil {
		l.file.Close()
	}
	l.path, l.file = path, file
	l.toFile(l.tail)
	return nil
}

// last are the last n lines.
func (l *logbook) last(n int) (lines []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range bytes.Lines(l.tail) {
		if text := strings.TrimSpace(printable.Line(string(line))); text != "" {
			lines = append(lines, text)
		}
	}
	return lines[max(0, len(lines)-n):]
}

func (l *logbook) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.file.Close()
		l.file, l.path = nil, ""
	}
}

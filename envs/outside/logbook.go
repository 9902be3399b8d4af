package outside

import (
	"bytes"
	"errors"
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

// keepIn makes a file, opened for appending, the log from now on, and closes it at the end; what is in memory comes
// first.
func (l *logbook) keepIn(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		if is, err := l.file.Stat(); err == nil && os.SameFile(is, info) {
			return file.Close()
		}
		l.file.Close()
	}
	l.file, l.size = file, int(info.Size())
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
		l.file = nil
	}
}

//go:build unix

package tui

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// canWait says whether HasInput can wait.
const canWait = true

// HasInput says whether there is something to read from a file, now or within a time.
func HasInput(f *os.File, within time.Duration) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, int(within.Milliseconds()))
	return err == nil && n > 0 && fds[0].Revents&unix.POLLIN != 0
}

// windowSize is the size of a terminal, in cells and in pixels; 0: unknown.
func windowSize(f *os.File) (columns, rows, w, h int) {
	s, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0, 0, 0
	}
	return int(s.Col), int(s.Row), int(s.Xpixel), int(s.Ypixel)
}

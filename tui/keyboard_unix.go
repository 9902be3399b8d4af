//go:build unix

package tui

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// hasInput says whether there is something to read from a file, now or within a time.
func hasInput(f *os.File, within time.Duration) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, int(within.Milliseconds()))
	return err == nil && n > 0 && fds[0].Revents&unix.POLLIN != 0
}

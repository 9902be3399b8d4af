//go:build unix

package tui

import (
	"bytes"
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// capture keeps everything that the process writes to stderr away from the screen: it goes into a
// file whose new lines the events show. A crash of the runtime is also written to the terminal.
type capture struct {
	file  *os.File
	read  int64
	rest  []byte
	saved *os.File // the terminal's stderr; kept referenced, or its finalizer would close a number that another file has by then
}

// startCapture redirects stderr to a file; after an error stderr stays as it was.
func startCapture(o Options) (*capture, error) {
	f, err := captureFile(o)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	saved, err := unix.Dup(unix.Stderr)
	if err != nil {
		f.Close()
		return nil, err
	}
	unix.CloseOnExec(saved)
	terminal := os.NewFile(uintptr(saved), "stderr")
	_ = debug.SetCrashOutput(terminal, debug.CrashOptions{}) // if it fails, a crash is written to the file alone
	if err := unix.Dup2(int(f.Fd()), unix.Stderr); err != nil {
		f.Close()
		terminal.Close()
		return nil, err
	}
	return &capture{file: f, read: info.Size(), saved: terminal}, nil
}

// lines returns the lines written since the last call.
func (c *capture) lines() []string {
	var out []string
	buf := make([]byte, 4096)
	for {
		n, err := c.file.ReadAt(buf, c.read)
		c.read += int64(n)
		c.rest = append(c.rest, buf[:n]...)
		if err != nil || n == 0 {
			break
		}
	}
	for {
		line, rest, found := bytes.Cut(c.rest, []byte("\n"))
		if !found {
			return out
		}
		out = append(out, string(bytes.TrimRight(line, "\r")))
		c.rest = rest
	}
}

// stop gives stderr back to the terminal; it removes the file if that is still empty.
func (c *capture) stop() {
	_ = debug.SetCrashOutput(nil, debug.CrashOptions{})
	_ = unix.Dup2(int(c.saved.Fd()), unix.Stderr)
	c.saved.Close()
	if info, err := c.file.Stat(); err == nil && info.Size() == 0 {
		os.Remove(c.file.Name())
	}
	c.file.Close()
}
